"""The process that changes an index under `benchmarks churn` without a pause; it says what it did as JSON."""

from __future__ import annotations

import json
import random
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.scale.churn import BATCH, Load, memory, pair
from toolsearch import ToolIndex
from toolsearch.index.keeper import Keeper


def churned(load: Load, seconds: float) -> dict[str, Any]:
    """Upserts and removals for so long; gives how many, what was compacted, and how long until a search shows one."""
    counts = {"tools written": 0, "tools removed": 0}
    shown: list[float] = []
    space: dict[str, float] = {}
    drawn, version = random.Random(1), 0
    compacted = _compactions()
    end = time.perf_counter() + seconds
    with load.open() as index:
        before = memory()
        while time.perf_counter() < end:
            version += 1
            numbers = drawn.sample(range(load.pairs), min(BATCH, load.pairs))
            if version % 3:
                shown.append(_written(index, numbers, version))
                counts["tools written"] += 2 * len(numbers)
            else:
                gone = index.remove([spec.id for number in numbers for spec in pair(number, 0)])
                counts["tools removed"] += len(gone.removed)
            space = {what: max(size, space.get(what, 0.0)) for what, size in load.space().items()}
        grown = memory() - before
    shows = {"shown after ms, median": float(np.median(shown)), "shown after ms, most": max(shown)}
    return {**counts, **shows, "compacted": len(compacted), "memory of the writer grew by MB": grown, "space": space}


def _written(index: ToolIndex, numbers: list[int], version: int) -> float:
    """Write pairs; gives ms until a search shows one."""
    before = time.perf_counter()
    index.upsert([spec for number in numbers for spec in pair(number, version)])
    found = index.search(f"left_{numbers[0]}", k=1).hits
    if not found or f"v{version}" not in found[0].tool.description:
        raise SystemExit("a change was not visible to its writer")
    return (time.perf_counter() - before) * 1e3


def _compactions() -> list[bool]:
    """A list that grows whenever base and delta have become one."""
    found: list[bool] = []
    compact = Keeper.compact

    def counted(self: Keeper) -> bool:
        done = compact(self)
        found.extend([done] if done else [])
        return done

    Keeper.compact = counted
    return found


if __name__ == "__main__":
    root, tools, pairs, encoder, lasts = sys.argv[1:]
    given = Load(root=Path(root), tools=int(tools), pairs=int(pairs), encoder=encoder)
    print(json.dumps(churned(given, float(lasts))))
