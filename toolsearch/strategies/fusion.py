"""Two voters on one text, words and similarity, and the sum of what they say.

Both are put on one scale by their mean and standard deviation over all rows of the caller's view. Every candidate
gets the exact score of both, whichever proposed it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

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


class Look(NamedTuple):
    """What a ballot says of one row: what each term adds, words and similarity on the common scale, the cosine."""

    points: list[float]
    words: float
    cosine: float | None
    near: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Ballot:
    """One text's voters over a view. `share` is the similarity's; a row without a vector goes by its words alone.

    `foreign` marks a text in another language than most tools', read by an encoder for many languages; `wary` one that
    is like no tool, so that only rows that share a word with it count.
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
    wary: bool = False
    by_term: dict[str, Scores] = field(default_factory=dict[str, Scores])
    seen: dict[int, Look] = field(default_factory=dict[int, Look])

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
        if self.similarity is None or self.wary:
            return worded
        return worded | (self.similarity.scores.at(rows) >= floor)

    def look(self, rows: Rows) -> None:
        """Look up at once what `matched`, `cosine` and `reasons` will say of these rows."""
        points = [scores.at(rows).tolist() for scores in self._by_term().values()]
        words = self.words.scaled(rows).tolist()
        cosines = [None] * len(rows) if self.similarity is None else self.similarity.scores.at(rows).tolist()
        near = [0.0] * len(rows) if self.similarity is None else self.similarity.scaled(rows).tolist()
        for place, row in enumerate(rows.tolist()):
            bare = self.unvectored is not None and bool(self.unvectored[row])
            own = [column[place] for column in points]
            self.seen[row] = Look(own, words[place], None if bare else cosines[place], near[place])

    def matched(self, row: int) -> dict[str, float]:
        """The request's terms that the row has, each with what it adds to the score of the words."""
        pairs = zip(self.terms, self._look(row).points, strict=True)
        return {term: points for term, points in pairs if points > 0}

    def cosine(self, row: int) -> float | None:
        """The similarity of a row, None when it or the request has no vector."""
        return self._look(row).cosine

    def around(self, rows: Rows) -> float:
        """The mean of the three best cosines among the rows; 0 without vectors."""
        if self.similarity is None or not len(rows):
            return 0.0
        return float(np.sort(self.similarity.scores.at(rows))[-3:].mean())

    def reasons(self, row: int, factor: float = 1.0) -> list[Reason]:
        """The parts of `factor` times the fused score of a row."""
        look = self._look(row)
        share = self.share if look.cosine is not None else 0.0
        found: list[Reason] = []
        if share < 1:
            found.append(Reason("words", factor * (1 - share) * look.words, ", ".join(self.matched(row))))
        if look.cosine is not None and share > 0:
            found.append(Reason("similarity", factor * share * look.near, f"cosine {look.cosine:.2f}"))
        return found

    def _look(self, row: int) -> Look:
        if row not in self.seen:
            self.look(np.array((row,), np.int32))
        return self.seen[row]

    def _by_term(self) -> dict[str, Scores]:
        """What each term scores alone; the words' score is the sum."""
        if not self.by_term:
            alone = self.engine.score_many([{term: weight} for term, weight in self.terms.items()], self.view)
            self.by_term.update(zip(self.terms, alone, strict=True))
        return self.by_term
