"""Code that does not await, and what stays open between its runs."""

from __future__ import annotations

import asyncio
import contextvars
import subprocess
import sys
import threading
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from tests.agent.tools import agent, getTime
from toolsearch.agent.edge import finished
from toolsearch.agent.sessions import Session
from toolsearch.testing.models import ScriptedModel

WHO: contextvars.ContextVar[str] = contextvars.ContextVar("who", default="nobody")


async def here() -> tuple[str, asyncio.AbstractEventLoop]:
    return WHO.get(), asyncio.get_running_loop()


def test_one_loop_for_all_threads() -> None:
    """Every caller gets the same loop, with its own context variables."""
    seen: list[Any] = []

    def work(name: str) -> None:
        WHO.set(name)
        seen.append(finished(here))

    threads = [threading.Thread(target=work, args=(name,)) for name in ("ann", "bob")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {name for name, _ in seen} == {"ann", "bob"}
    assert len({id(loop) for _, loop in seen}) == 1


@pytest.mark.parametrize("error", [SystemExit(3), KeyboardInterrupt(), ValueError("x")])
def test_what_is_raised_comes_out(error: BaseException) -> None:
    """Whatever it is; the loop goes on for others."""

    async def fails() -> None:
        raise error

    with pytest.raises(type(error)):
        finished(fails)
    assert finished(here)[0] == "nobody"


def test_a_tool_may_run_an_agent() -> None:
    """A plain function that calls run_sync itself does not wait for ever."""

    def ask() -> str:
        return agent(ScriptedModel("inner"), [getTime]).run_sync("?").content or ""

    from toolsearch.testing.models import call

    done = agent(ScriptedModel(call("ask"), "outer"), [ask], hidden_calls="execute").run_sync("?")
    assert [one.result.text for one in done.tool_executions] == ["inner"]


INTERRUPTED = """
import asyncio, os, signal, threading
from toolsearch.agent.edge import finished

async def work():
    try:
        threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
        await asyncio.sleep(60)
    except asyncio.CancelledError:
        print("cancelled", flush=True)
        raise

try:
    finished(work)
except KeyboardInterrupt:
    print("interrupted")
"""

LEFT_RUNNING = """
import asyncio
from toolsearch.agent.edge import finished

async def for_ever():
    try:
        await asyncio.sleep(60)
    finally:
        print("ended")

async def work():
    work.task = asyncio.ensure_future(for_ever())
    await asyncio.sleep(0)

finished(work)
"""

FORKED = """
import os
from toolsearch.agent.edge import finished

async def pid():
    return os.getpid()

finished(pid)
child = os.fork()
if not child:
    os._exit(0 if finished(pid) == os.getpid() else 1)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.parametrize(
    ("code", "said"), [(INTERRUPTED, "cancelled\ninterrupted\n"), (LEFT_RUNNING, "ended\n"), (FORKED, "0\n")]
)
def test_in_a_process_of_its_own(code: str, said: str) -> None:
    """Ctrl-C cancels the work, the end of the process ends what was left running, a fork has a loop of its own."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.stderr, done.returncode) == (said, "", 0)


class Connections:
    """Counts connections, and those that are open; tells when one was closed."""

    def __init__(self) -> None:
        self.made, self.open, self.closed = 0, 0, asyncio.Event()

    @asynccontextmanager
    async def connect(self) -> AsyncGenerator[str]:
        self.made += 1
        self.open += 1
        yield "client"
        self.open -= 1
        self.closed.set()


def test_an_idle_session_ends_and_comes_back() -> None:
    """One that is used stays, one that nobody uses is closed, and the next use opens a new one."""

    async def run() -> None:
        counted = Connections()
        session = Session("s", counted.connect, 5, idle=0.0)
        async with session.use():
            await asyncio.sleep(0.01)
            assert counted.open == 1
        await counted.closed.wait()
        assert counted.open == 0
        async with session.use() as client:
            assert (client, counted.made, session.generation) == ("client", 2, 2)
        await session.close()
        assert counted.open == 0

    asyncio.run(run())
