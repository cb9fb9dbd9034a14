"""The gateway under broken messages of both eras, over HTTP and standard input: does it fail, hang or tell too much?"""

from __future__ import annotations

import json
import os
import selectors
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack, closing
from pathlib import Path
from random import Random
from typing import Annotated, Any, Final

import httpx2
import typer

from benchmarks.mangled import META, MODERN, OLD, Message, message, value
from benchmarks.service import DEMO, cpu_of, serving
from toolsearch import ToolIndex, ToolSpec
from toolsearch.evaluation.tables import table
from toolsearch.server.callers import Role
from toolsearch.server.keys import Keys
from toolsearch.server.state import StateFile

Note = Callable[[str, str, str], None]
"""Takes in an answer: its kind, its text, and what was sent."""
HIDDEN: Final = "quillfeather"
"""A word that only a tool has which the caller may not see, and that is never sent."""
SECONDS: Final = 120.0
EACH: Final = 100
"""Messages between two good ones that must be answered."""
HELLO: Final = {"protocolVersion": OLD, "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}
GOOD: Final = {"name": "search_tools", "arguments": {"query": "refund a payment"}}
RIGHT: Final = "payments__refund_payment"


def fuzz(
    messages: Annotated[int, typer.Option(help="Messages of each era and way.")] = 1_000,
    seed: Annotated[int, typer.Option(help="The same seed sends the same messages.")] = 1,
) -> None:
    """Send broken MCP messages to the gateway, under a key with groups; ends with 1 when anything goes wrong."""
    told, wrong = fuzzed(messages, seed)
    print(told)
    raise typer.Exit(1 if wrong else 0)


def fuzzed(messages: int, seed: int) -> tuple[str, list[str]]:
    """A table of what became of the messages, and what went wrong."""
    rows: list[list[object]] = []
    wrong: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        index, key = _prepared(Path(folder) / "demo")
        known = {"X-API-Key": key}
        with serving(index, 1) as (url, process), httpx2.Client(base_url=url, timeout=SECONDS, headers=known) as web:
            for era in (MODERN, OLD):
                start, found = cpu_of(process), Counter[str]()
                _over_http(web, Random(f"{seed} {era}"), (era, messages), _noting(found, wrong))
                rows.append(["HTTP", era, messages, f"{cpu_of(process) - start:.1f}", _counted(found)])
        for era in (OLD, MODERN):
            found = Counter[str]()
            _over_stdio(index, Random(f"{seed} stdio {era}"), (era, messages), _noting(found, wrong))
            rows.append(["stdio", era, messages, "", _counted(found)])
    head = ["way", "era", "messages", "server CPU s", "answers"]
    return f"{table(head, rows)}\n\nWrong: {len(wrong)}. " + "\n".join(wrong[:10]), wrong


def _prepared(index: Path) -> tuple[Path, str]:
    """A copy of the demo with a hidden tool, and a key that may not see it."""
    shutil.copytree(DEMO, index, ignore=shutil.ignore_patterns("service*", "leases", "data"))
    with ToolIndex.build(index) as built:
        text = f"Refund a payment {HIDDEN}"
        built.upsert([ToolSpec(name="refund_all", namespace="vault", description=text, groups=("vault",))])
    state = StateFile(index / "data" / "service.sqlite")
    key = Keys(state).create("fuzz", Role.SEARCH, ["others"])[1]
    state.close()
    return index, key


def _noting(found: Counter[str], wrong: list[str]) -> Note:
    def note(kind: str, text: str, sent: str) -> None:
        found[kind] += 1
        bad = kind.startswith("5") or "Traceback" in text or HIDDEN in text or kind in ("silent", "not JSON", "ended")
        if bad:
            wrong.append(f"{kind}: {text[:200]!r} for {sent[:300]!r}")

    return note


def _counted(found: Counter[str]) -> str:
    return ", ".join(f"{kind}: {count}" for kind, count in found.most_common())


def _over_http(web: httpx2.Client, random: Random, much: tuple[str, int], note: Note) -> None:
    era, messages = much
    session: dict[str, str] = {}
    for number in range(messages):
        if era == OLD and number % EACH == 0:
            session = _session(web)
        one = message(random, era)
        more = session if random.random() < 0.95 else {"mcp-session-id": ascii(value(random, 0))[:50]}
        method = random.choice(["GET", "DELETE", "PUT", "PATCH"]) if random.random() < 0.01 and not session else "POST"
        note(*_sent(web, method, one, more))
        if number % EACH == EACH - 1 and RIGHT not in _good(web):
            note("silent", "a good search is not answered any more", f"message {number}")


def _sent(web: httpx2.Client, method: str, one: Message, more: dict[str, str]) -> tuple[str, str, str]:
    sent = one.body.decode("latin-1")
    try:
        with web.stream(method, "/mcp", content=one.body, headers={**one.headers, **more}) as answer:
            if answer.headers.get("content-type", "").startswith("text/event-stream"):
                text = next((line for line in answer.iter_lines() if line.startswith("data:") and len(line) > 6), "")
            else:
                text = answer.read().decode("utf-8", "replace")
            return str(answer.status_code), text, sent
    except httpx2.HTTPError as error:
        return "silent", repr(error), sent


def _session(web: httpx2.Client) -> dict[str, str]:
    body = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": HELLO}
    accept = {"Accept": "application/json, text/event-stream"}
    return {"mcp-session-id": web.post("/mcp", json=body, headers=accept).headers["mcp-session-id"]}


def _good(web: httpx2.Client) -> str:
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {**GOOD, "_meta": META}}
    names = {"MCP-Protocol-Version": MODERN, "Mcp-Method": "tools/call", "Mcp-Name": "search_tools"}
    return web.post("/mcp", json=body, headers={"Accept": "application/json, text/event-stream", **names}).text


def _over_stdio(index: Path, random: Random, much: tuple[str, int], note: Note) -> None:
    """Answers are not counted one by one, for some messages have none: a good request after every few must be."""
    era, messages = much
    command = [sys.executable, "-m", "toolsearch", "mcp", "-i", str(index), "--caller", "others"]
    with ExitStack() as stack:
        piped, dropped = subprocess.PIPE, subprocess.DEVNULL
        process = stack.enter_context(subprocess.Popen(command, stdin=piped, stdout=piped, stderr=dropped))
        stack.callback(process.kill)
        lines = stack.enter_context(closing(_Lines(process)))
        good: dict[str, Any] = {**GOOD, **({"_meta": META} if era == MODERN else {})}
        if era == OLD:
            _asked(lines, "hello", "initialize", HELLO, note)
            lines.send(b'{"jsonrpc":"2.0","method":"notifications/initialized"}')
        else:
            _asked(lines, "hello", "tools/call", good, note)
        for number in range(messages):
            one = message(random, era).body.replace(b"\n", b" ").replace(b"\r", b" ")
            lines.send(one)
            if number % 10 == 9:
                _asked(lines, f"good {number}", "tools/call", good, note)
            if process.poll() is not None:
                note("ended", f"the process ended with {process.returncode}", one.decode("latin-1"))
                break


def _asked(lines: _Lines, name: str, method: str, params: dict[str, Any], note: Note) -> None:
    """Send a good request, and take in what comes until it is answered."""
    lines.send(json.dumps({"jsonrpc": "2.0", "id": name, "method": method, "params": params}).encode())
    while True:
        line = lines.read()
        if line is None:
            note("silent", "a good request is not answered any more", name)
            return
        try:
            told: Any = json.loads(line)
        except ValueError:
            note("not JSON", line.decode("utf-8", "replace"), name)
            continue
        if told.get("id") == name:
            right = method == "initialize" or RIGHT in line.decode()
            note("good" if right else "silent", line.decode(), name)
            return
        note("error" if "error" in told else "result" if "result" in told else "other", line.decode(), name)


class _Lines:
    """Lines to and from a process; reading gives up after a time."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process, self._rest = process, b""
        self._ready = selectors.DefaultSelector()
        self._ready.register(process.stdout, selectors.EVENT_READ)  # pyright: ignore[reportArgumentType]

    def close(self) -> None:
        """Wait for no more lines."""
        self._ready.close()

    def send(self, line: bytes) -> None:
        """Write a line, as far as somebody reads it."""
        stream = self._process.stdin
        if stream is None:
            return
        try:
            stream.write(line + b"\n")
            stream.flush()
        except BrokenPipeError:
            return

    def read(self) -> bytes | None:
        """The next line; None when none comes in time."""
        until = time.monotonic() + SECONDS
        while b"\n" not in self._rest:
            stream = self._process.stdout
            if stream is None or not self._ready.select(max(0.0, until - time.monotonic())):
                return None
            piece = os.read(stream.fileno(), 1 << 20)
            if not piece:
                return None
            self._rest += piece
        line, _, self._rest = self._rest.partition(b"\n")
        return line
