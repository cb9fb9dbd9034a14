"""The service under load, on loopback: how many requests, how fast, at what price, and whether any goes wrong."""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import quantiles

import httpx2

from benchmarks.plain import Asked, answer, post
from toolsearch import ToolIndex
from toolsearch.evaluation.judged import read_queries

HERE = Path(__file__).parent
DEMO = HERE.parent / "indexes" / "demo"
START = 120.0
PAUSE = 0.005
TICKS = os.sysconf("SC_CLK_TCK")
KNOWN = "payments/refund_payment"


@dataclass(kw_only=True)
class Load:
    """What one number of clients saw. Times in milliseconds; `failed` counts answers that were no hits, or wrong."""

    name: str
    clients: int
    seconds: float = 0.0
    cpu: float = 0.0
    times: list[float] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)

    def row(self) -> str:
        """A row of the table."""
        cuts = quantiles(self.times, n=100) if len(self.times) > 1 else [0.0] * 99
        done = len(self.times)
        numbers = [done / self.seconds, cuts[49], cuts[94], cuts[98], 1_000 * self.cpu / done]
        return f"| {self.name} | {self.clients} | {' | '.join(f'{one:.1f}' for one in numbers)} | {len(self.failed)} |"


def measure(requests: int, clients: Sequence[int], workers: int) -> str:
    """Run the benchmark on a copy of the demo; gives the table."""
    with tempfile.TemporaryDirectory() as folder:
        index = Path(folder) / "demo"
        shutil.copytree(DEMO, index, ignore=shutil.ignore_patterns("service*", "leases"))
        ToolIndex.build(index).close()
        answerable = [one.query for one in read_queries(DEMO / "requests.jsonl") if one.answerable]
        queries, warming = _named(answerable[:requests]), answerable[requests : requests + 20]
        with multiprocessing.get_context("spawn").Pool(1) as fresh:
            inside = fresh.apply(_in_process, (index, queries, warming))
        with serving(index, workers) as (url, process):
            loads = asyncio.run(_loads(url, process, (queries, warming), clients))
    head = "| load | clients | requests/s | p50 ms | p95 ms | p99 ms | server CPU ms/request | failed |"
    rows = [head, "|---|---:|---:|---:|---:|---:|---:|---:|", *(load.row() for load in loads)]
    told = [*rows, *(f"failed: {text}" for load in loads for text in load.failed[:3])]
    paced = f"{inside[2]:.1f} when {PAUSE * 1_000:.0f} ms pass before each, as where clients are waited for"
    first = f"In process: {inside[0]:.1f} ms of CPU a new request, {inside[1]:.1f} repeated, {paced}."
    return "\n".join([first, "", *told])


def _named(queries: Sequence[str]) -> list[str]:
    """The queries, every tenth in place of another one the id of a tool, whose right answer is known."""
    return [KNOWN if number % 10 == 0 else query for number, query in enumerate(queries)]


def _in_process(index: Path, queries: Sequence[str], warming: Sequence[str]) -> list[float]:
    """Milliseconds of CPU that a search takes without a service: new requests, the same again, and with pauses.

    Asked in a process of its own, as fresh as the service's: one that has built an index has all its ways worn in.
    """
    found: list[float] = []
    with ToolIndex.open(index, read_only=True) as opened:
        for query in warming:
            opened.search(query)
        for pause in (0.0, 0.0, PAUSE):
            spent = 0.0
            for query in queries:
                time.sleep(pause)
                start = time.process_time()
                opened.search(query)
                spent += time.process_time() - start
            found.append(1_000 * spent / len(queries))
    return found


@contextmanager
def serving(index: Path, workers: int) -> Iterator[tuple[str, int]]:
    """A service in a process of its own; its address and process."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "toolsearch", "serve", "-i", str(index), "--port", str(port)]
    environment = {**os.environ, "TOOLSEARCH_LOG": "off", "TOOLSEARCH_CONCURRENT": "1000"}
    process = subprocess.Popen([*command, "--workers", str(workers)], env=environment)
    url = f"http://127.0.0.1:{port}"
    try:
        _wait(url, process)
        yield url, process.pid
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(60)


def _wait(url: str, process: subprocess.Popen[bytes]) -> None:
    for _ in range(int(START / 0.2)):
        if process.poll() is not None:
            raise SystemExit("the service did not start")
        try:
            if httpx2.get(f"{url}/readyz", trust_env=False).status_code == 200:
                return
        except httpx2.TransportError:
            pass
        time.sleep(0.2)
    raise SystemExit(f"the service was not ready in {START:g} seconds")


async def _loads(
    url: str, process: int, asked: tuple[Sequence[str], Sequence[str]], clients: Sequence[int]
) -> list[Load]:
    queries, warming = asked
    await _drive(url, process, warming, Load(name="warm up", clients=1))
    found = [await _drive(url, process, queries, Load(name="new requests", clients=1))]
    found += [await _drive(url, process, queries, Load(name="repeated", clients=count)) for count in clients]
    async with _changing(url):
        found.append(await _drive(url, process, queries, Load(name="changes and a rebuild", clients=max(clients))))
    return found


async def _drive(url: str, process: int, queries: Sequence[str], load: Load) -> Load:
    """Let clients ask all queries."""
    waiting = [(query, post("/v1/search", {"query": query})) for query in reversed(queries)]
    port = int(url.rpartition(":")[2])
    start, cpu = time.perf_counter(), cpu_of(process)
    await asyncio.gather(*(_client(port, waiting, load) for _ in range(load.clients)))
    load.seconds, load.cpu = time.perf_counter() - start, cpu_of(process) - cpu
    return load


async def _client(port: int, waiting: list[tuple[str, Asked]], load: Load) -> None:
    while waiting:
        reading, writing = await asyncio.open_connection("127.0.0.1", port)
        try:
            while waiting:
                query, asked = waiting.pop()
                start = time.perf_counter()
                writing.write(asked.raw)
                status, body = await answer(reading)
                load.times.append(1_000 * (time.perf_counter() - start))
                if status != asked.status or not _right(query, body):
                    load.failed.append(f"{status}: {body[:200]!r}")
        except (OSError, EOFError, ValueError) as error:
            load.failed.append(repr(error)[:200])
        finally:
            writing.close()


def _right(query: str, body: bytes) -> bool:
    """Whether an answer is one to a search, with the right hit first where that is known."""
    hits = json.loads(body).get("hits")
    return hits is not None and (query != KNOWN or (bool(hits) and hits[0]["id"] == KNOWN))


@asynccontextmanager
async def _changing(url: str) -> AsyncIterator[None]:
    """A rebuild, and tools that are added and taken out again, for as long as this lasts."""
    async with httpx2.AsyncClient(base_url=url, timeout=60, trust_env=False) as client:
        (await client.post("/v1/indexes/demo/rebuild")).raise_for_status()
        task = asyncio.create_task(_change(client))
        try:
            yield
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)


async def _change(client: httpx2.AsyncClient) -> None:
    number = 0
    while True:
        number += 1
        tool = {"name": f"load_{number % 20}", "namespace": "load", "description": f"Changes all the time, {number}"}
        (await client.put(f"/v1/tools/load/load_{number % 20}", json=tool)).raise_for_status()
        if number % 3 == 0:
            await client.delete(f"/v1/tools/load/load_{(number - 1) % 20}")
        await asyncio.sleep(0.05)


def cpu_of(process: int) -> float:
    """Seconds of CPU that a process and its workers have used; not those of a rebuild, which is a process apart."""
    seconds = 0.0
    for known in (process, *workers_of(process)):
        fields = Path(f"/proc/{known}/stat").read_text("ascii").rpartition(")")[2].split()
        seconds += (int(fields[11]) + int(fields[12])) / TICKS
    return seconds


def workers_of(process: int) -> list[int]:
    """The worker processes of a service; a rebuild is none."""
    children = Path(f"/proc/{process}/task/{process}/children").read_text("ascii").split()
    lines = {int(child): Path(f"/proc/{child}/cmdline").read_bytes() for child in children}
    return [child for child, line in lines.items() if b"rebuilding" not in line]
