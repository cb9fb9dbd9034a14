"""The rule of the simple strategy as a ranking, for comparison: it reads every tool of the view."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from toolsearch.protocols import Reason, ToolView
from toolsearch.strategies.ranking import Ranked
from toolsearch.strategies.simple import search_words, simple_score
from toolsearch.text import cut_request


@dataclass(frozen=True, slots=True)
class ScanRanker:
    """Ranks by how many words of the request a tool's name and description contain (see `SimpleStrategy`)."""

    min_score: int = 1

    def rank(self, request: str, view: ToolView, depth: int) -> Ranked:
        """At most `depth` rows with `min_score` points or more, best first."""
        wanted = search_words([cut_request(request)])
        corpus = view.corpus
        rows = np.array([row for row in corpus.rows(view.allowed) if view.holds(int(row))], np.int32)
        scores = np.array([simple_score(corpus.tool(int(row)), wanted) for row in rows], np.float64)
        fitting = np.flatnonzero(scores >= self.min_score)
        order = fitting[np.lexsort((rows[fitting], -scores[fitting]))][:depth]
        return Ranked(
            rows=rows[order],
            scores=scores[order],
            reasons=lambda row: (
                Reason("words", float(simple_score(corpus.tool(row), wanted)), "parts of name and description"),
            ),
        )
