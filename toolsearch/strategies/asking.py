"""Questions: who asks what there is wants a tool that reads, not one that changes something.

What a tool does is known by its annotation `readOnlyHint` (MCP); where there is none, nothing is said. The points are
few, so that a hint that is wrong moves a tool by little. English only: "how do I ...", "can you ..." ask for more.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from toolsearch.protocols import Reason
from toolsearch.strategies.corpus import marked
from toolsearch.strategies.facets import facet
from toolsearch.strategies.filters import PREFIX

if TYPE_CHECKING:
    from toolsearch.protocols import Corpus, Rows
    from toolsearch.strategies.ranking import Points

READS: Final = facet(f"{PREFIX}readOnlyHint", True)
CHANGES: Final = facet(f"{PREFIX}readOnlyHint", False)
_QUESTION = re.compile(
    r"""\W*(?:(?:which|who|whose|whom|when|why|what(?:['’]s)?|is|are|was|were|does|did|has|had)\b
    |(?:how|where)(?:['’]s)?\b(?!\s+(?:to|do|can|could|should|would|might|must|will)\b)
    |(?:do|have)\s+(?:i|we|you|they|any|all|these|those|my|our)\b)""",
    re.IGNORECASE | re.VERBOSE,
)


def is_question(text: str) -> bool:
    """Whether an English text asks what there is, rather than for something to be done."""
    return _QUESTION.match(text) is not None


@dataclass(frozen=True, slots=True)
class Leaning:
    """What tools gain that only read, and tools lose that change something, where the request is a question."""

    corpus: Corpus
    points: float

    def of(self, rows: Rows) -> Points:
        """What each of these rows gains, (rows,) float64; rows ascending."""
        reads, changes = (marked(self.corpus, mark, rows).astype(np.float64) for mark in (READS, CHANGES))
        return self.points * (reads - changes)

    def reasons(self, row: int) -> tuple[Reason, ...]:
        """The same for one row, as a reason where it is anything."""
        if not self.points:
            return ()
        points = float(self.of(np.array([row], np.int32))[0])
        if not points:
            return ()
        return (Reason("question", points, "it only reads" if points > 0 else "it changes something"),)
