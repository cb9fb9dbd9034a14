"""The same requests once more in a process that may have only so much memory, the files it maps included."""

from __future__ import annotations

from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.scale.alone import alone
from benchmarks.scale.measure import Size, encoder_of, queries, recipes_of, requests_of
from benchmarks.scale.memory import cold, forget_peak, group, join, told
from toolsearch import ToolIndex


@dataclass(frozen=True, slots=True, kw_only=True)
class Limited:
    """A size, the memory in MB that asking may take, and the control group that sees to it; None without one."""

    size: Size
    most: int
    group: Path | None


def asked_within(size: Size, most: int) -> dict[str, Any]:
    """Times of requests within so many MB; where no control group can be made memory is only measured."""
    with group() as place:
        try:
            found = alone(_asked, Limited(size=size, most=most, group=place))
        except BrokenProcessPool:
            found = {"ended by": "the limit"}
    held = "a control group" if place else "nothing (no control group could be made)"
    return {f"within {most:,} MB, {name}": value for name, value in {"held by": held, **found}.items()}


def _asked(limited: Limited) -> dict[str, Any]:
    """Open the index and ask, everything read from disk afresh."""
    size = limited.size
    cold(size.folder)
    if limited.group is not None:
        join(limited.group, limited.most)
    forget_peak()
    recipes = recipes_of(size)
    encoder = encoder_of(size, recipes)
    with ToolIndex.open(size.folder, encoder=encoder or "builtin", read_only=True) as index:
        found = queries(index, requests_of(recipes))
        return {**found, "memory at most, MB": told("VmHWM"), "of it its own at the end, MB": told("RssAnon")}
