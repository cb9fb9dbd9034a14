"""The ways of searching an index, by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from toolsearch.errors import InvalidInput
from toolsearch.strategies.exact import ExactFirst
from toolsearch.strategies.hybrid import HybridRanker
from toolsearch.strategies.ranking import Ranker
from toolsearch.strategies.retriever import RankedRetriever
from toolsearch.strategies.scan import ScanRanker
from toolsearch.strategies.settings import VECTOR, WORDS

RANKERS: Final[dict[str, Callable[[], Ranker]]] = {
    "hybrid": HybridRanker,
    "lexical": lambda: HybridRanker(settings=WORDS),
    "simple": ScanRanker,
    "vector": lambda: HybridRanker(settings=VECTOR),
}
"""Name -> what makes the ranking. All of them put tools that the request names first."""


def open_retriever(name: str = "hybrid") -> RankedRetriever:
    """The retriever of a name: "hybrid" (the default), "lexical", "vector" or "simple".

    Raises:
        InvalidInput: there is no such name.
    """
    if name not in RANKERS:
        raise InvalidInput(f"no strategy {name!r:.80}; there are {', '.join(sorted(RANKERS))}")
    return RankedRetriever(ExactFirst(RANKERS[name]()))
