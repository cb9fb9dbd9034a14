"""The service for a long time: does its memory stay flat, and does any of many requests go wrong?"""

from __future__ import annotations

import asyncio
import shutil
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from benchmarks.plain import Asked, answer, head, post
from benchmarks.service import DEMO, cpu_of, serving, workers_of
from toolsearch import ToolIndex
from toolsearch.evaluation.judged import read_queries
from toolsearch.server.callers import Role
from toolsearch.server.keys import Keys
from toolsearch.server.state import StateFile

CLIENTS: Final = 8
LOOKS: Final = 25
"""Looks at the memory, evenly over the requests."""
KNOWN: Final = "payments/refund_payment"
PROTOCOL: Final = "2026-07-28"
META: Final = {
    "io.modelcontextprotocol/protocolVersion": PROTOCOL,
    "io.modelcontextprotocol/clientCapabilities": {},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Traffic:
    """What is asked: the demo's requests again and again, or each time a `fresh` text; by turns under some keys."""

    queries: Sequence[str]
    fresh: bool = False
    keys: Sequence[str] = ()

    def query(self, number: int) -> str:
        """The text of a number; a fresh one has two words that no other has."""
        query = self.queries[number % len(self.queries)]
        return f"{query} {_word(number)} {number}" if self.fresh else query

    def key(self, number: int) -> str:
        """The header with the key of a number."""
        return f"X-API-Key: {self.keys[number // 20 % len(self.keys)]}\r\n" if self.keys else ""


def endure(requests: int, workers: int = 1, keys: int = 0, *, fresh: bool = False, fill: int = 0) -> str:
    """Send so many mixed requests to a service over a copy of the demo; gives a table of its memory.

    `fill` searches for texts that never come again go before: they fill what a service keeps of words and texts.
    """
    with tempfile.TemporaryDirectory() as folder:
        index = Path(folder) / "demo"
        shutil.copytree(DEMO, index, ignore=shutil.ignore_patterns("service*", "leases", "data"))
        ToolIndex.build(index).close()
        queries = [one.query for one in read_queries(DEMO / "requests.jsonl")]
        traffic = Traffic(queries=queries, fresh=fresh, keys=_keys(index, keys))
        with serving(index, workers) as (url, process):
            port = int(url.rpartition(":")[2])
            if fill:
                asyncio.run(_fill(port, fill, traffic))
                print(f"filled by {fill:,} texts: {memory_of(process):.1f} MB", flush=True)
            return asyncio.run(_all(port, process, requests, traffic))


def _keys(index: Path, count: int) -> list[str]:
    """Keys of a service that is not started yet, each with a group of its own."""
    state = StateFile(index / "data" / "service.sqlite")
    made = [Keys(state).create(f"key {number}", Role.SEARCH, [f"group {number}"])[1] for number in range(count)]
    state.close()
    return made


async def _all(port: int, process: int, requests: int, traffic: Traffic) -> str:
    rows = ["| requests | minutes | server CPU s | memory MB |", "|---:|---:|---:|---:|"]
    wrong: list[str] = []
    seen: list[float] = []
    start, step = time.perf_counter(), max(requests // LOOKS, 1)
    for done in range(0, requests, step):
        waiting = iter(range(done, min(done + step, requests)))
        await asyncio.gather(*(_client(port, waiting, traffic, wrong) for _ in range(CLIENTS)))
        seen.append(memory_of(process))
        minutes = (time.perf_counter() - start) / 60
        rows.append(f"| {min(done + step, requests):,} | {minutes:.1f} | {cpu_of(process):.0f} | {seen[-1]:.1f} |")
        print(rows[-1], flush=True)
    grown = _slope(seen[len(seen) // 2 :]) * 10_000 / step
    told = f"Failed or wrong: {len(wrong)}. Growth over the second half: {grown:+.2f} MB for 10,000 requests."
    return "\n".join([*rows, "", told, *wrong[:5]])


async def _fill(port: int, searches: int, traffic: Traffic) -> None:
    """Only new searches, each of a text with words that no other has."""
    every = replace(traffic, fresh=True)
    waiting, wrong = iter(range(10, 20 * searches, 20)), list[str]()
    await asyncio.gather(*(_client(port, waiting, every, wrong) for _ in range(CLIENTS)))
    if wrong:
        raise SystemExit(f"{len(wrong)} searches went wrong while filling: {wrong[0]}")


async def _client(port: int, waiting: Any, traffic: Traffic, wrong: list[str]) -> None:
    reading, writing = await asyncio.open_connection("127.0.0.1", port)
    try:
        for number in waiting:
            asked = request(number, traffic)
            writing.write(asked.raw)
            status, body = await answer(reading)
            if status != asked.status or (b'"hits":[' in body and b'"version":' not in body):
                wrong.append(f"request {number}: {status}, not {asked.status}: {body[:200]!r}")
    finally:
        writing.close()


def request(number: int, traffic: Traffic) -> Asked:
    """The request of a number: repeated and new searches, tools, lists, mistakes, sessions, and the gateway's tools."""
    asked, key = _request(number, traffic.query(number)), traffic.key(number).encode()
    return Asked(asked.raw.replace(b"\r\n", b"\r\n" + key, 1), asked.status)


def _request(number: int, query: str) -> Asked:
    match number % 20:
        case 0:
            return post("/v1/search", {"query": f"{query} {number}", "explain": True})
        case 1:
            return post("/v1/explain", {"query": query, "tool": KNOWN})
        case 2:
            return Asked(head("GET", f"/v1/tools/{KNOWN}"), 200)
        case 3:
            return Asked(head("GET", f"/v1/tools/no/such_{number}"), 404)
        case 4:
            return Asked(head("GET", "/v1/tools?limit=20"), 200)
        case 5:
            return post("/v1/search", {"query": ""}, 422)
        case 6:
            return post("/v1/sessions", {}, 201)
        case 7:
            return _gateway("tools/list", number, {})
        case 8 | 9:
            arguments = {"name": "search_tools", "arguments": {"query": query}}
            return _gateway("tools/call", number, arguments, "search_tools")
        case _:
            return post("/v1/search", {"query": query, "schemas": "full" if number % 2 else "short"})


def _gateway(method: str, number: int, parameters: dict[str, Any], name: str = "") -> Asked:
    body = {"jsonrpc": "2.0", "id": number, "method": method, "params": {**parameters, "_meta": META}}
    more = f"MCP-Protocol-Version: {PROTOCOL}\r\nMcp-Method: {method}\r\n" + (f"Mcp-Name: {name}\r\n" if name else "")
    return post("/mcp", body, more=more)


def memory_of(process: int) -> float:
    """Megabytes of a process and its workers that lie in memory and are no file's."""
    total = 0
    for known in (process, *workers_of(process)):
        lines = Path(f"/proc/{known}/status").read_text("ascii").splitlines()
        total += next(int(line.split()[1]) for line in lines if line.startswith("RssAnon:"))
    return total / 1024


def _word(number: int) -> str:
    """A word that no other number has."""
    return "".join(chr(ord("a") + int(digit)) for digit in f"{number * 7919:09}")


def _slope(values: Sequence[float]) -> float:
    """Growth from one value to the next, by least squares."""
    middle = (len(values) - 1) / 2
    spread = sum((place - middle) ** 2 for place in range(len(values)))
    return sum((place - middle) * value for place, value in enumerate(values)) / spread if spread else 0.0
