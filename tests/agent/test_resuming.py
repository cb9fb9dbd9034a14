"""Paused runs that go on: streaming, in another process, and what is no paused run."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.agent.tools import agent, getTime, search
from toolsearch.agent.events import Event, ModelAsked, RunFinished, ToolFinished
from toolsearch.agent.host import Agent
from toolsearch.agent.limits import Limits
from toolsearch.agent.memory import ChatMemory
from toolsearch.chat import TextDelta
from toolsearch.errors import InvalidInput
from toolsearch.testing.models import ScriptedModel, call
from toolsearch.tool import Tool, ToolSpec

WIPE = ToolSpec(name="wipe", annotations={"destructiveHint": True})


def wipe() -> Tool:
    return Tool(WIPE, lambda arguments, context: "wiped")


def paused(host: Agent) -> tuple[str, dict[str, Any]]:
    """A run that waits, and the approval of its calls."""
    done = host.run_sync("?")
    return done.paused, {one.call.id: True for one in done.pending}


def test_a_resumed_run_streams() -> None:
    """The approved call, the text in pieces and the result come as events; hooks see them too."""
    text, decisions = paused(agent(ScriptedModel(call("wipe")), [wipe()], search=None))
    hooked: list[Event] = []
    host = agent(ScriptedModel("All of it is gone."), [wipe()], search=None, hooks=[hooked.append])

    async def read() -> list[Event]:
        return [event async for event in host.stream_resumed(text, decisions)]

    events = asyncio.run(read())
    assert [one.execution.result.text for one in events if isinstance(one, ToolFinished)] == ["wiped"]
    assert "".join(one.text for one in events if isinstance(one, TextDelta)) == "All of it is gone."
    assert sum(isinstance(one, TextDelta) for one in events) > 1
    assert isinstance(events[-1], RunFinished)
    assert events[-1].result.content == "All of it is gone."
    assert hooked == events


def test_a_stream_that_nobody_reads_on_stops_the_resumed_run() -> None:
    """Closing it ends the run; the conversation stays whole."""
    text, decisions = paused(agent(ScriptedModel(call("wipe")), [wipe()], search=None))
    model = ScriptedModel("never asked")
    host = agent(model, [wipe()], search=None)

    async def first() -> Event:
        events = host.stream_resumed(text, decisions)
        event = await anext(events)
        await events.aclose()
        return event

    assert not isinstance(asyncio.run(first()), ModelAsked)
    assert model.left == 1


def test_a_resumed_run_may_pause_again() -> None:
    """A second destructive call waits as the first one did, and both are in the result at the end."""
    text, decisions = paused(agent(ScriptedModel(call("wipe", which=1)), [wipe()], search=None))
    again = asyncio.run(agent(ScriptedModel(call("wipe", which=2)), [wipe()], search=None).resume(text, decisions))
    assert again.finish == "approval"
    given = {one.call.id: True for one in again.pending}
    done = asyncio.run(agent(ScriptedModel("done"), [wipe()], search=None).resume(again.paused, given))
    assert [one.result.text for one in done.tool_executions] == ["wiped", "wiped"]


ELSEWHERE = """
import asyncio, json, sys
from toolsearch.agent.host import Agent
from toolsearch.agent.memory import ChatMemory
from toolsearch.agent.stores import SQLiteStore
from toolsearch.testing.models import ScriptedModel
from toolsearch.tool import Tool, ToolSpec

spec = ToolSpec(name="wipe", annotations={"destructiveHint": True})
text, decisions = json.load(sys.stdin)
memory = ChatMemory(max_messages=9, store=SQLiteStore(sys.argv[1]))
host = Agent(ScriptedModel("done"), tools=[Tool(spec, lambda arguments, context: "wiped")], search=None, memory=memory)
result = asyncio.run(host.resume(text, decisions))
print(result.content, [one.result.text for one in result.tool_executions], len(memory.messages()))
"""


def test_in_another_process(tmp_path: Path) -> None:
    """The text and the store are all that the other process needs."""
    from toolsearch.agent.stores import SQLiteStore

    memory = ChatMemory(max_messages=9, store=SQLiteStore(tmp_path / "talk.db"))
    given = paused(agent(ScriptedModel(call("wipe")), [wipe()], search=None, memory=memory))
    command = [sys.executable, "-c", ELSEWHERE, str(tmp_path / "talk.db")]
    done = subprocess.run(command, input=json.dumps(given), capture_output=True, text=True, timeout=300, check=True)
    assert done.stdout.strip() == "done ['wiped'] 4"


@pytest.mark.parametrize(
    "change", ["", "[]", '{"v": 9}', "[" * 100_000, "window", "used", "executions", "question_key"]
)
def test_what_is_no_paused_run(change: str) -> None:
    """A text that is none, of another version, or with a part missing is refused before anything happens."""
    host = agent(ScriptedModel(search("wipe"), call("wipe")), [wipe(), getTime], memory=None)
    text, decisions = paused(host)
    if change.isidentifier():
        change = json.dumps({key: value for key, value in json.loads(text).items() if key != change})
    with pytest.raises(InvalidInput, match="paused run"):
        asyncio.run(host.resume(change, decisions))


def test_a_resumed_run_has_its_parameters_and_its_time() -> None:
    """What it shares with its tools is given anew, and the clock starts again."""
    seen: list[Any] = []

    def run(arguments: Any, context: Any) -> str:
        seen.append((context.parameters.get("user"), context.seconds_left is not None))
        return "wiped"

    tool = Tool(WIPE, run)
    text, decisions = paused(agent(ScriptedModel(call("wipe")), [tool], search=None))
    host = agent(ScriptedModel("done"), [tool], search=None, limits=Limits(run_seconds=60))
    assert host.resume_sync(text, decisions, parameters={"user": "ann"}).content == "done"
    assert seen == [("ann", True)]
