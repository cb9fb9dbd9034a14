"""Clauses of one request: which of them a tool serves best, and a place near the top for each.

A tool's score has a share of the clause that it fits best. A clause may still have no tool among the first ones, when
others are met by many; then its best tool is lifted to the last of these places.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

import numpy as np

from toolsearch.protocols import Reason

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from toolsearch.protocols import Rows
    from toolsearch.strategies.ranking import Points

    Places = NDArray[np.intp]

LEAST: Final = 1e-6
"""By how much a lifted score is above the next one at the least."""


def covering(rows: Rows, scores: Points, parts: Points, places: int) -> Mapping[int, Reason]:
    """By row, what lifts it, so that for each clause its best tool, or one that serves it, is among the first `places`.

    rows: (n,) int32; scores: (n,) float64; parts: what each clause alone gives the rows, (clauses, n) float64, of
    fewer clauses than `places`.
    """
    if not len(parts) or places >= len(rows):
        return {}
    order = np.lexsort((rows, -scores))
    serves = parts.argmax(axis=0)
    best = parts.argmax(axis=1)
    missing = _missing(order[:places], serves, best)
    while missing:
        more = _missing(order[: places - len(missing)], serves, best)
        if len(more) == len(missing):
            break
        missing = more
    if not missing:
        return {}
    last = places - len(missing)
    level = _between(float(scores[order[last - 1]]), float(scores[order[last]]))
    return {
        int(rows[best[clause]]): Reason(
            "need", level - float(scores[best[clause]]), f"the best tool for clause {clause + 1}"
        )
        for clause in missing
    }


def _missing(first: Places, serves: Places, best: Places) -> list[int]:
    """Clauses that no row among the first serves, and whose best row is not among them."""
    held, served = set(map(int, first)), set(map(int, serves[first]))
    return [clause for clause, row in enumerate(map(int, best)) if clause not in served and row not in held]


def _between(above: float, below: float) -> float:
    """A score above `below`, and below `above` where there is room."""
    return max((above + below) / 2, below + LEAST)
