"""`python -m benchmarks churn`: one process changes an index without a pause while another searches it."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any, Final

import numpy as np
import typer

from toolsearch import ToolIndex, ToolSpec
from toolsearch.evaluation.record import folder_size

PAIRS: Final = 200
"""Pairs of tools that are written and removed together: whoever sees one without the other sees half a change."""
BATCH: Final = 20


def churn(
    tools: Annotated[int, typer.Option(help="Tools that stay.")] = 10_000,
    seconds: Annotated[float, typer.Option(help="How long, by the clock.")] = 60.0,
    readers: Annotated[int, typer.Option(help="Threads that search.")] = 2,
) -> None:
    """Change an index in one process and search it in another: reads, failures, wrong answers, space, delay."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "index"
        ToolIndex.build(root, list(_standing(tools)), encoder="").close()
        before = folder_size(root)
        command = [sys.executable, "-m", "benchmarks.scale.churn", str(root), str(seconds)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer:
            reads = _read(root, readers, lambda: writer.poll() is not None)
            told = json.loads(writer.communicate()[0])
        after = folder_size(root)
        with ToolIndex.open(root) as index:
            sound = index.verify().ok
    rows = {**reads, **told, "space before MB": before / 1e6, "space at the end MB": after / 1e6, "sound": sound}
    print("\n".join(["| | |", "|---|---:|", *(f"| {name} | {_shown(value)} |" for name, value in rows.items())]))
    if reads["failures"] or reads["wrong"] or not sound:
        raise typer.Exit(1)


def _shown(value: Any) -> str:
    return f"{value:,.2f}" if isinstance(value, float) else f"{value}"


def _standing(count: int) -> Iterator[ToolSpec]:
    drawn = random.Random(0)
    words = [f"word{number}" for number in range(3000)]
    for number in range(count):
        yield ToolSpec(name=f"stays_{number}", description=" ".join(drawn.choices(words, k=15)))


def _pair(number: int, version: int) -> list[ToolSpec]:
    told = f"pair {number} of version v{version}"
    return [ToolSpec(name=f"{side}_{number}", description=told) for side in ("left", "right")]


def _read(root: Path, readers: int, ended: Callable[[], bool]) -> dict[str, Any]:
    """Searches until the writer has ended; a read is wrong when it finds half a pair, or two versions of one."""
    counts = {"reads": 0, "failures": 0, "wrong": 0}
    lock, spent, walls = threading.Lock(), list[float](), list[float]()

    def work(seed: int, index: ToolIndex) -> None:
        drawn = random.Random(seed)
        while not ended():
            number = drawn.randrange(PAIRS)
            cpu, wall = time.thread_time(), time.perf_counter()
            outcome = _outcome(index, number, drawn.randrange(3000))
            with lock:
                counts["reads"] += 1
                counts["failures"] += outcome == "failed"
                counts["wrong"] += outcome == "wrong"
                spent.append((time.thread_time() - cpu) * 1e3)
                walls.append((time.perf_counter() - wall) * 1e3)

    began = time.perf_counter()
    with ToolIndex.open(root, read_only=True) as index:
        threads = [threading.Thread(target=work, args=(seed, index)) for seed in range(readers)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    took = time.perf_counter() - began
    return {
        **counts,
        "reads a second": counts["reads"] / took,
        "CPU ms a read, median": float(np.median(spent)),
        "CPU ms a read, 99th percentile": float(np.percentile(spent, 99)),
        "ms a read by the clock, 99th percentile": float(np.percentile(walls, 99)),
    }


def _outcome(index: ToolIndex, number: int, word: int) -> str:
    try:
        view = index.view()
        sides = [view.corpus.row(f"{side}_{number}") for side in ("left", "right")]
        versions = {view.corpus.tool(row).description for row in sides if row is not None}
        found = index.search(f"word{word} stays", k=5, strategy="lexical").hits
        standing = all(hit.id.startswith("stays_") for hit in found)
    except Exception:  # noqa: BLE001 - whatever it is, it is counted
        return "failed"
    half = sum(row is None for row in sides) == 1
    return "wrong" if half or len(versions) > 1 or not found or not standing else "right"


def _write(root: Path, seconds: float) -> dict[str, Any]:
    """Upserts and removals without a pause; gives how many, and how long until a search shows one."""
    drawn, version = random.Random(1), 0
    done = {"upserts": 0, "removals": 0}
    shown: list[float] = []
    peak = 0
    end = time.perf_counter() + seconds
    with ToolIndex.open(root) as index:
        while time.perf_counter() < end:
            version += 1
            numbers = drawn.sample(range(PAIRS), BATCH)
            before = time.perf_counter()
            if version % 3:
                index.upsert([spec for number in numbers for spec in _pair(number, version)])
                found = index.search(f"left_{numbers[0]}", k=1, strategy="lexical").hits
                shown.append((time.perf_counter() - before) * 1e3)
                done["upserts"] += 2 * BATCH
                if not found or f"v{version}" not in found[0].tool.description:
                    raise SystemExit("a change was not visible to its writer")
            else:
                index.remove([spec.id for number in numbers for spec in _pair(number, 0)])
                done["removals"] += 2 * BATCH
            peak = max(peak, folder_size(root)) if version % 20 == 0 else peak
    visible = {"visible after ms, median": float(np.median(shown)), "visible after ms, most": max(shown)}
    return {**done, **visible, "space at most MB": peak / 1e6}


if __name__ == "__main__":
    print(json.dumps(_write(Path(sys.argv[1]), float(sys.argv[2]))))
