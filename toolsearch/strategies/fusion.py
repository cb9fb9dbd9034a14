"""Two voters on one text, words and similarity, and the sum of what they say.

Both are put on one scale by their mean and standard deviation over all rows of the caller's view. Every candidate
gets the exact score of both, whichever proposed it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from toolsearch.protocols import Reason, Scores

if TYPE_CHECKING:
    from toolsearch.protocols import Engine, Mask, Rows, RowSet
    from toolsearch.strategies.ranking import Points

FLAT = 1e-9
"""Scores that spread less than this are all equal."""


@dataclass(frozen=True, slots=True)
class Voter:
    """Scores with the mean and standard deviation that put them on the common scale."""

    scores: Scores
    mean: float
    deviation: float

    @classmethod
    def of(cls, scores: Scores) -> Voter:
        """A voter; its statistics are taken once."""
        deviation = scores.std
        return cls(scores, scores.mean, deviation if deviation > FLAT else 0.0)

    def scaled(self, rows: Rows) -> Points:
        """Standard deviations above the mean, (len(rows),) float64; 0 for all when all scores are equal."""
        if not self.deviation:
            return np.zeros(len(rows))
        return (self.scores.at(rows).astype(np.float64) - self.mean) / self.deviation


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Ballot:
    """One text's voters over a view. `share` is the similarity's; a row without a vector goes by its words alone.

    `foreign` marks a text in another language than most tools', read by an encoder for many languages.
    """

    text: str
    terms: Mapping[str, float]
    engine: Engine[Mapping[str, float]]
    view: RowSet
    words: Voter
    similarity: Voter | None
    share: float
    unvectored: Mask | None
    foreign: bool = False
    by_term: dict[str, Scores] = field(default_factory=dict[str, Scores])

    def proposed(self, most: int, within: Mask | None) -> list[Rows]:
        """The best rows of each voter that has a say."""
        voters = [self.words] if self.similarity is None or self.share < 1 or self.unvectored is not None else []
        voters += [] if self.similarity is None or self.share <= 0 else [self.similarity]
        return [voter.scores.top(most, within).rows for voter in voters]

    def votes(self, rows: Rows) -> Points:
        """The fused score of each row, (len(rows),) float64."""
        words = self.words.scaled(rows)
        if self.similarity is None:
            return words
        fused = (1 - self.share) * words + self.share * self.similarity.scaled(rows)
        return fused if self.unvectored is None else np.where(self.unvectored[rows], words, fused)

    def near(self, rows: Rows, floor: float) -> Mask:
        """Which rows share a word with the text or are at least that similar, (len(rows),) bool."""
        worded = self.words.scores.at(rows) > 0
        return worded if self.similarity is None else worded | (self.similarity.scores.at(rows) >= floor)

    def matched(self, row: int) -> dict[str, float]:
        """The request's terms that the row has, each with what it adds to the score of the words."""
        one = _one(row)
        found = ((term, float(scores.at(one)[0])) for term, scores in self._by_term().items())
        return {term: points for term, points in found if points > 0}

    def cosine(self, row: int) -> float | None:
        """The similarity of a row, None when it or the request has no vector."""
        if self.similarity is None or (self.unvectored is not None and self.unvectored[row]):
            return None
        return float(self.similarity.scores.at(_one(row))[0])

    def reasons(self, row: int, factor: float = 1.0) -> list[Reason]:
        """The parts of `factor` times the fused score of a row."""
        cosine = self.cosine(row)
        share = self.share if cosine is not None else 0.0
        found: list[Reason] = []
        if share < 1:
            scaled = self.words.scaled(_one(row))[0]
            found.append(Reason("words", factor * (1 - share) * float(scaled), ", ".join(self.matched(row))))
        if cosine is not None and self.similarity is not None and share > 0:
            near = self.similarity.scaled(_one(row))[0]
            found.append(Reason("similarity", factor * share * float(near), f"cosine {cosine:.2f}"))
        return found

    def _by_term(self) -> dict[str, Scores]:
        """What each term scores alone; the words' score is the sum."""
        if not self.by_term:
            alone = self.engine.score_many([{term: weight} for term, weight in self.terms.items()], self.view)
            self.by_term.update(zip(self.terms, alone, strict=True))
        return self.by_term


def _one(row: int) -> Rows:
    return np.array((row,), np.int32)
