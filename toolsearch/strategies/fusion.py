"""Two voters on one text, words and similarity, and the sum of what they say.

Both are put on one scale by their mean and standard deviation over all rows of the caller's view. Every candidate
gets the exact score of both, whichever proposed it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import compress
from typing import TYPE_CHECKING, Final, Generic, NamedTuple, TypeVar

import numpy as np

from toolsearch.protocols import Reason, Scores, WordScores

if TYPE_CHECKING:
    from toolsearch.protocols import Floats, Mask, Rows, RowSet
    from toolsearch.strategies.ranking import Points

Own = TypeVar("Own", bound=Scores)
FLAT: Final = 1e-9
"""Scores that spread less than this are all equal."""


class Voter(Generic[Own]):
    """Scores with the mean and standard deviation that put them on the common scale.

    Those are taken once, and not before they are wanted: words that have no say need not be summed over a catalog.
    """

    def __init__(self, scores: Own) -> None:
        self.scores = scores
        self._scale: tuple[float, float] | None = None

    @property
    def scale(self) -> tuple[float, float]:
        """Mean and standard deviation; 0 for the latter when all scores are equal."""
        if self._scale is None:
            deviation = self.scores.std
            self._scale = self.scores.mean, deviation if deviation > FLAT else 0.0
        return self._scale

    def scaled(self, scores: Floats) -> Points:
        """Some of its scores as standard deviations above the mean, float64; 0 for all when all scores are equal."""
        mean, deviation = self.scale
        if not deviation:
            return np.zeros(len(scores))
        found = np.subtract(scores, mean, dtype=np.float64)
        found /= deviation
        return found

    def scaled_few(self, scores: Sequence[float]) -> list[float]:
        """The same number by number, which is quicker for a handful."""
        mean, deviation = self.scale
        return [(score - mean) / deviation if deviation else 0.0 for score in scores]


class Count(NamedTuple):
    """What the voters of a ballot say of some rows: scores of words and cosines (None without), (rows,) float32."""

    ballot: Ballot
    rows: Rows
    words: Floats
    cosines: Floats | None

    def of(self, kept: Mask) -> Count:
        """The same of some of the rows."""
        return Count(
            self.ballot, self.rows[kept], self.words[kept], None if self.cosines is None else self.cosines[kept]
        )

    def wary(self, sure: float) -> Count:
        """The same; where no row is as near as `sure`, similarity has less of a say and brings up no row by itself.

        Where similarity was to decide alone it has none then: what it says of such a request is chance.
        """
        if self.ballot.foreign or self.cosines is None or not len(self.rows):
            return self
        best = float(self.cosines.max())
        if best >= sure:
            return self
        share = self.ballot.share * max(0.0, best) / sure if self.ballot.share < 1 else 0.0
        return self._replace(ballot=replace(self.ballot, share=share, wary=True))

    def votes(self) -> Points:
        """The fused score of each row, float64."""
        ballot = self.ballot
        if ballot.similarity is None or self.cosines is None:
            return ballot.words.scaled(self.words)
        fused = ballot.share * ballot.similarity.scaled(self.cosines)
        if not ballot.words_count:
            return fused
        words = ballot.words.scaled(self.words)
        fused += (1 - ballot.share) * words
        return fused if ballot.unvectored is None else np.where(ballot.unvectored[self.rows], words, fused)

    def look(self, places: Sequence[int]) -> None:
        """Keep what the ballot's `matched`, `cosine` and `reasons` will say of the rows at these places."""
        ballot, rows = self.ballot, self.rows[places]
        held: list[list[bool]] = ballot.words.scores.holds(rows).T.tolist()
        words: list[float] = self.words[places].tolist()
        words = ballot.words.scaled_few(words) if ballot.words_count else words
        cosines, near = [None] * len(rows), [0.0] * len(rows)
        if ballot.similarity is not None and self.cosines is not None:
            cosines = self.cosines[places].tolist()
            near = ballot.similarity.scaled_few(cosines)
        for place, row in enumerate(rows.tolist()):
            bare = ballot.unvectored is not None and bool(ballot.unvectored[row])
            terms = tuple(compress(ballot.terms, held[place]))
            ballot.seen[row] = Look(terms, words[place], None if bare else cosines[place], near[place])

    def near(self, floor: float) -> Mask:
        """Which rows share a word with the text or are at least that similar."""
        worded = self.words > 0
        return worded if self.cosines is None or self.ballot.wary else worded | (self.cosines >= floor)

    def around(self) -> float:
        """The mean of the three best cosines; 0 without vectors."""
        if self.cosines is None or not len(self.rows):
            return 0.0
        best = np.sort(self.cosines)[-3:]
        return float(np.add.reduce(best) / len(best))


class Look(NamedTuple):
    """What a ballot says of one row: which terms it has, words and similarity on the common scale, the cosine."""

    terms: tuple[str, ...]
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
    view: RowSet
    words: Voter[WordScores]
    similarity: Voter[Scores] | None
    share: float
    unvectored: Mask | None
    foreign: bool = False
    wary: bool = False
    seen: dict[int, Look] = field(default_factory=dict[int, Look])

    @property
    def words_count(self) -> bool:
        """Whether words have a say of any row."""
        return self.similarity is None or self.share < 1 or self.unvectored is not None

    def proposed(self, most: int, within: Mask | None) -> list[Rows]:
        """The best rows of each voter that has a say."""
        voters = [self.words] if self.words_count else []
        voters += [] if self.similarity is None or self.share <= 0 else [self.similarity]
        return [voter.scores.top(most, within).rows for voter in voters]

    def count(self, rows: Rows) -> Count:
        """What the voters say of rows."""
        cosines = None if self.similarity is None else self.similarity.scores.at(rows)
        return Count(self, rows, self.words.scores.at(rows), cosines)

    def matched(self, row: int) -> Sequence[str]:
        """The request's terms that the row has."""
        return self._look(row).terms

    def cosine(self, row: int) -> float | None:
        """The similarity of a row, None when it or the request has no vector."""
        return self._look(row).cosine

    def reasons(self, row: int, factor: float = 1.0) -> list[Reason]:
        """The parts of `factor` times the fused score of a row."""
        look = self._look(row)
        share = self.share if look.cosine is not None else 0.0
        found: list[Reason] = []
        if share < 1:
            found.append(Reason("words", factor * (1 - share) * look.words, ", ".join(look.terms)))
        if look.cosine is not None and share > 0:
            found.append(Reason("similarity", factor * share * look.near, f"cosine {look.cosine:.2f}"))
        return found

    def _look(self, row: int) -> Look:
        if row not in self.seen:
            self.count(np.array((row,), np.int32)).look([0])
        return self.seen[row]
