"""What every way of ranking gives, and the seam between ranking and answering."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from toolsearch.protocols import Reason, ToolView
from toolsearch.strategies.confidence import Evidence

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from toolsearch.protocols import Rows

    Points = NDArray[np.float64]


def _first(_: int) -> int:
    return 0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Ranked:
    """Rows best first, ties by row: rows (n,) int32, scores (n,) float64, larger is better.

    `reasons` gives the parts of any row of the view, ranked or not; their points add up to its score.
    `confidence` estimates that the first row is right, 0 to 1; None when nothing is known. `evidence` is what a
    fitted estimate was made from, None where it was not. `clauses` are the parts of a request that asks for several
    things, none for one that does not; `serves` gives the position of the one that a row serves best.
    """

    rows: Rows
    scores: Points
    reasons: Callable[[int], tuple[Reason, ...]]
    confidence: float | None = None
    evidence: Evidence | None = None
    notes: tuple[str, ...] = ()
    clauses: tuple[str, ...] = ()
    serves: Callable[[int], int] = _first


class Ranker(Protocol):
    """Ranks the rows of a view for one request."""

    def rank(self, request: str, view: ToolView, depth: int) -> Ranked:
        """At most `depth` rows that the view's filter and exclusions leave, best first."""
        ...


def total(reasons: tuple[Reason, ...]) -> float:
    """The score that the reasons add up to."""
    return sum(reason.points for reason in reasons)
