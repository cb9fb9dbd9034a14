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
    encoder: Annotated[str, typer.Option(help="Encoder of the index; empty for words only.")] = "builtin",
) -> None:
    """Change an index in one process and search it in another: reads, failures, wrong answers, space, delay."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "index"
        ToolIndex.build(root, list(_standing(tools)), encoder=encoder).close()
        before = _space(root)
        command = [sys.executable, "-m", "benchmarks.scale.churn", str(root), str(seconds)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer:
            reads = _read(root, tools, readers, lambda: writer.poll() is not None)
            told = json.loads(writer.communicate()[0])
        after = _space(root)
        sound, compacted = _settled(root)
    spaces = {"before": before, "at the end": after, "after a last build": compacted}
    rows = {**reads, **told, "sound": sound}
    rows |= {f"{what} {when} MB": size for when, sizes in spaces.items() for what, size in sizes.items()}
    print("\n".join(["| | |", "|---|---:|", *(f"| {name} | {_shown(value)} |" for name, value in rows.items())]))
    if reads["failed"] or reads["wrong"] or not sound:
        raise typer.Exit(1)


def _space(root: Path) -> dict[str, float]:
    """Size of everything, and of the database, in MB."""
    truth = sum(file.stat().st_size for file in (root / "data").glob("truth*"))
    return {"space": folder_size(root) / 1e6, "database": truth / 1e6}


def _settled(root: Path) -> tuple[bool, dict[str, float]]:
    """Whether all files are sound, and what they take once the pairs have left and the index was built again."""
    with ToolIndex.open(root) as index:
        sound = index.verify().ok
        index.remove([f"{side}_{number}" for number in range(PAIRS) for side in ("left", "right")])
    ToolIndex.build(root).close()
    return sound, _space(root)


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


def _read(root: Path, standing: int, readers: int, ended: Callable[[], bool]) -> dict[str, Any]:
    """Searches until the writer has ended; a read is wrong when it finds half a pair, or two versions of one."""
    counts = {"reads": 0, "failed": 0, "wrong": 0}
    lock, spent, walls = threading.Lock(), list[float](), list[float]()

    def work(seed: int, index: ToolIndex) -> None:
        drawn = random.Random(seed)
        while not ended():
            number = drawn.randrange(PAIRS)
            cpu, wall = time.thread_time(), time.perf_counter()
            outcome = _outcome(index, number, drawn.randrange(standing))
            with lock:
                counts["reads"] += 1
                counts["failed"] += outcome == "failed"
                counts["wrong"] += outcome == "wrong"
                spent.append((time.thread_time() - cpu) * 1e3)
                walls.append((time.perf_counter() - wall) * 1e3)

    began = time.perf_counter()
    with ToolIndex.open(root, read_only=True) as index:
        index.search("stays_0", k=1)
        memory = _memory()
        threads = [threading.Thread(target=work, args=(seed, index)) for seed in range(readers)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        grown = _memory() - memory
    took = time.perf_counter() - began
    return {
        **counts,
        "reads a second": counts["reads"] / took,
        "CPU ms a read, median": float(np.median(spent)),
        "CPU ms a read, 99th percentile": float(np.percentile(spent, 99)),
        "ms a read by the clock, 99th percentile": float(np.percentile(walls, 99)),
        "memory of the readers grew by MB": grown,
    }


def _outcome(index: ToolIndex, number: int, standing: int) -> str:
    """Right, failed, or wrong: half a pair, two versions of one, a tool without its vector, or one that stays away."""
    try:
        view = index.view()
        sides = [view.corpus.row(f"{side}_{number}") for side in ("left", "right")]
        versions = {view.corpus.tool(row).description for row in sides if row is not None}
        bare = view.corpus.unvectored
        lacking = view.corpus.encoder is not None and bare is not None and any(bare[row] for row in sides if row)
        found = index.search(f"stays_{standing} word{standing % 3000}", k=5).hits
    except Exception:  # noqa: BLE001 - whatever it is, it is counted
        return "failed"
    half = sum(row is None for row in sides) == 1
    missing = not any(hit.id == f"stays_{standing}" for hit in found)
    return "wrong" if half or lacking or len(versions) > 1 or missing else "right"


def _write(root: Path, seconds: float) -> dict[str, Any]:
    """Upserts and removals without a pause; gives how many, and how long until a search shows one."""
    drawn, version = random.Random(1), 0
    done = {"upserts": 0, "removals": 0}
    shown: list[float] = []
    peak: dict[str, float] = {}
    bases: set[str] = set()
    end = time.perf_counter() + seconds
    with ToolIndex.open(root) as index:
        memory = _memory()
        while time.perf_counter() < end:
            version += 1
            numbers = drawn.sample(range(PAIRS), BATCH)
            before = time.perf_counter()
            if version % 3:
                index.upsert([spec for number in numbers for spec in _pair(number, version)])
                found = index.search(f"left_{numbers[0]}", k=1).hits
                shown.append((time.perf_counter() - before) * 1e3)
                done["upserts"] += 2 * BATCH
                if not found or f"v{version}" not in found[0].tool.description:
                    raise SystemExit("a change was not visible to its writer")
            else:
                index.remove([spec.id for number in numbers for spec in _pair(number, 0)])
                done["removals"] += 2 * BATCH
            if version % 5 == 0:
                peak = {what: max(size, peak.get(what, 0.0)) for what, size in _space(root).items()}
                bases |= {folder.name for folder in (root / "data" / "segments").glob("[0-9]*")}
        grown = _memory() - memory
    visible = {"visible after ms, median": float(np.median(shown)), "visible after ms, most": max(shown)}
    spaces = {f"{what} at most MB": size for what, size in peak.items()}
    return {**done, **visible, "compacted": len(bases) - 1, "memory of the writer grew by MB": grown, **spaces}


def _memory() -> float:
    """Memory of this process that mirrors no file, in MB."""
    with Path("/proc/self/status").open() as file:
        return next(int(line.split()[1]) for line in file if line.startswith("RssAnon")) * 1.024e-3


if __name__ == "__main__":
    print(json.dumps(_write(Path(sys.argv[1]), float(sys.argv[2]))))
