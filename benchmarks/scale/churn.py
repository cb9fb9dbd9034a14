"""`python -m benchmarks churn`: one process changes an index without a pause while another searches it."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import numpy as np
import typer

from benchmarks.scale.writer import Hashed
from toolsearch import ToolIndex, ToolSpec

if TYPE_CHECKING:
    from toolsearch.protocols import Encoder

BATCH: Final = 20
"""Pairs that are changed at a time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """An index, tools that stay, and pairs of tools that are written and removed together.

    Whoever sees one of a pair without the other sees half a change.
    """

    root: Path
    tools: int
    pairs: int
    encoder: str

    def open(self, *, read_only: bool = False) -> ToolIndex:
        """The index."""
        return ToolIndex.open(self.root, read_only=read_only, encoder=encoder_of(self.encoder))

    def ids(self) -> list[str]:
        """All tools that do not stay."""
        return [f"{side}_{number}" for number in range(self.pairs) for side in ("left", "right")]

    def space(self) -> dict[str, float]:
        """Size of everything, and of the database, in MB."""
        sizes = {file: size for file in self.root.rglob("*") if (size := _size(file))}
        truth = sum(size for file, size in sizes.items() if file.name.startswith("truth"))
        return {"folder": sum(sizes.values()) / 1e6, "database": truth / 1e6}


def _size(file: Path) -> int:
    """Bytes of a file; 0 when it has just gone."""
    try:
        return file.stat().st_size if file.is_file() else 0
    except FileNotFoundError:
        return 0


def encoder_of(name: str) -> Encoder | str:
    """An encoder by name; "hashed" costs nothing, so that much can be changed."""
    return Hashed() if name == "hashed" else name


def churn(
    tools: Annotated[int, typer.Option(help="Tools that stay.")] = 10_000,
    pairs: Annotated[int, typer.Option(help="Pairs of tools that change; 1,000 changes are compacted.")] = 1000,
    seconds: Annotated[float, typer.Option(help="How long, by the clock.")] = 60.0,
    readers: Annotated[int, typer.Option(help="Threads that search.")] = 2,
    encoder: Annotated[str, typer.Option(help="Of the index; empty: words only; hashed: vectors at no cost.")] = "",
) -> None:
    """Change an index in one process and search it in another: reads, failures, wrong answers, space, delay."""
    with tempfile.TemporaryDirectory() as folder:
        load = Load(root=Path(folder) / "index", tools=tools, pairs=pairs, encoder=encoder)
        ToolIndex.build(load.root, list(_standing(tools)), encoder=encoder_of(encoder)).close()
        spaces = {"before": load.space()}
        given = [str(load.root), str(tools), str(pairs), encoder, str(seconds)]
        command = [sys.executable, "-m", "benchmarks.scale.churning", *given]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer:
            reads = _read(load, readers, lambda: writer.poll() is not None)
            told = json.loads(writer.communicate()[0])
        spaces |= {"at most": told.pop("space"), "at the end": load.space()}
        sound = _settled(load)
        spaces |= {"once all pairs have left": load.space()}
        ToolIndex.build(load.root, encoder=encoder_of(encoder)).close()
        spaces |= {"after a build without sources": load.space()}
    rows = {**reads, **told, "sound": sound}
    rows |= {f"{what} {when}, MB": size for when, sizes in spaces.items() for what, size in sizes.items()}
    print("\n".join(["| | |", "|---|---:|", *(f"| {name} | {_shown(value)} |" for name, value in rows.items())]))
    if reads["failed"] or reads["wrong"] or not sound:
        raise typer.Exit(1)


def _settled(load: Load) -> bool:
    """Whether all files are sound; then the pairs leave."""
    with load.open() as index:
        sound = index.verify().ok
        index.remove(load.ids())
    return sound


def _shown(value: Any) -> str:
    return f"{value:,.2f}" if isinstance(value, float) else f"{value}"


def _standing(count: int) -> Iterator[ToolSpec]:
    drawn = random.Random(0)
    words = [f"word{number}" for number in range(3000)]
    for number in range(count):
        yield ToolSpec(name=f"stays_{number}", description=" ".join(drawn.choices(words, k=15)))


def pair(number: int, version: int) -> list[ToolSpec]:
    told = f"pair {number} of version v{version}"
    return [ToolSpec(name=f"{side}_{number}", description=told) for side in ("left", "right")]


def _read(load: Load, readers: int, ended: Callable[[], bool]) -> dict[str, Any]:
    """Searches until the writer has ended; a read is wrong when it finds half a pair, or two versions of one."""
    outcomes: Counter[str] = Counter()
    lock, spent, walls = threading.Lock(), list[float](), list[float]()

    def work(seed: int, index: ToolIndex) -> None:
        drawn = random.Random(seed)
        while not ended():
            number = drawn.randrange(load.pairs)
            cpu, wall = time.thread_time(), time.perf_counter()
            outcome = _outcome(index, number, drawn.randrange(load.tools))
            with lock:
                outcomes[outcome] += 1
                spent.append((time.thread_time() - cpu) * 1e3)
                walls.append((time.perf_counter() - wall) * 1e3)

    began = time.perf_counter()
    with load.open(read_only=True) as index:
        index.search("stays_0", k=1)
        start = memory()
        threads = [threading.Thread(target=work, args=(seed, index)) for seed in range(readers)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        grown = memory() - start
    took = time.perf_counter() - began
    failed = sum(count for outcome, count in outcomes.items() if outcome.startswith("failed"))
    return {
        "reads": outcomes.total(),
        "failed": failed,
        "wrong": outcomes.total() - failed - outcomes["right"],
        **{outcome: count for outcome, count in outcomes.items() if outcome != "right"},
        "reads a second": outcomes.total() / took,
        "CPU ms a read, median": float(np.median(spent)),
        "CPU ms a read, 99th percentile": float(np.percentile(spent, 99)),
        "ms a read by the clock, 99th percentile": float(np.percentile(walls, 99)),
        "memory of the readers grew by MB": grown,
    }


def _outcome(index: ToolIndex, number: int, standing: int) -> str:
    """What came of a read: "right", "failed: ..." or what is wrong, half a pair, two versions, no vector, one away."""
    try:
        view = index.view()
        rows = [view.corpus.row(f"{side}_{number}") for side in ("left", "right")]
        there = [row for row in rows if row is not None]
        bare = view.corpus.unvectored if view.corpus.encoder is not None else None
        found = index.search(f"stays_{standing}", k=5).ids
        wrong = {
            "half a pair": len(there) == 1,
            "two versions": len({view.corpus.tool(row).description for row in there}) > 1,
            "no vector": bare is not None and any(bare[row] for row in there),
            "one that stays is away": found[:1] != [f"stays_{standing}"],
        }
    except Exception as error:  # noqa: BLE001 - whatever it is, it is counted
        return f"failed: {type(error).__name__}"
    return next((what for what, true in wrong.items() if true), "right")


def memory() -> float:
    """Memory of this process that mirrors no file, in MB."""
    with Path("/proc/self/status").open() as file:
        return next(int(line.split()[1]) for line in file if line.startswith("RssAnon")) * 1.024e-3
