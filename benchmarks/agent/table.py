"""The bill as a table: one row for each catalog size, way of showing and memory, means by conversation."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from benchmarks.agent.bill import Row
from toolsearch.evaluation.tables import averaged, table

CACHED_PRICE = 0.1
"""What a cached token costs, as a share of the price of one that is not."""
HEAD = (
    "tools",
    "shown",
    "memory",
    "requests a turn",
    "input tokens a turn",
    "not cached",
    "cached %",
    "billed",
    "tool ready %",
    "ready at once %",
)


def bill_table(rows: Sequence[Row], sizes: Sequence[int], ways: Sequence[str]) -> str:
    """Figures a turn. `billed` counts a cached token as a tenth; `ready` is the share of needed tools in percent."""
    lines: list[list[str]] = []
    for size in sizes:
        for way in ways:
            for evicting in (False, True):
                found = [r for r in rows if (r.size, r.way, r.evicting) == (size, way, evicting)]
                memory = "evicts" if evicting else "keeps all"
                lines.append([f"{size:,}", way, memory, *(_cells(found) if found else ["not possible", *[""] * 6])])
    return table(HEAD, lines)


def _cells(rows: Sequence[Row]) -> list[str]:
    return [
        _mean(rows, lambda r: r.requests / r.turns, 2),
        _mean(rows, lambda r: r.input / r.turns),
        _mean(rows, lambda r: (r.input - r.cached) / r.turns),
        _mean(rows, lambda r: 100 * r.cached / r.input),
        _mean(rows, lambda r: (r.input - (1 - CACHED_PRICE) * r.cached) / r.turns),
        _mean(rows, lambda r: 100 * r.ready / r.needed),
        _mean(rows, lambda r: 100 * r.at_once / r.needed),
    ]


def _mean(rows: Sequence[Row], of: Callable[[Row], float], places: int = 0) -> str:
    """The mean over conversations, with its interval."""
    return averaged((of(row) for row in rows), places)
