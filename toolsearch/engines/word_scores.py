"""The BM25 scores of one request, summed over all rows only when all are asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, cast

import numpy as np

from toolsearch.engines.ranking import best
from toolsearch.protocols import Ranking

if TYPE_CHECKING:
    from toolsearch.protocols import Floats, Mask, Rows

FEW: Final = 64
"""So many rows are looked up one by one in the postings of a large catalog, when no sum over all rows is there yet."""
LARGE: Final = 65_536
"""Up to so many rows of a catalog, summing several words over all of them is quicker than looking rows up."""


@dataclass(frozen=True, slots=True, eq=False)
class Column:
    """One term in one segment: rows (n,) int32 ascending, their term frequencies, and what the term is worth."""

    rows: Rows
    frequencies: Floats
    gain: np.float32

    def points(self, norms: Floats) -> Floats:
        """What the term adds to each of its rows; norms: (rows,) of the corpus."""
        return self._points(self.frequencies, norms[self.rows])

    def at(self, rows: Rows, norms: Floats) -> Floats:
        """What the term adds to given rows, (len(rows),) float32; 0 where it does not occur."""
        places = np.minimum(np.searchsorted(self.rows, rows), len(self.rows) - 1)
        points = self._points(self.frequencies[places], norms[rows])
        return np.where(self.rows[places] == rows, points, np.float32(0))

    def _points(self, frequencies: Floats, norms: Floats) -> Floats:
        """`norms` is overwritten: a frequent word of a large catalog has rows by the hundred thousand."""
        norms += frequencies
        return cast("Floats", np.divide(self.gain * frequencies, norms, out=norms))


class LexicalScores:
    """The BM25 scores of one request: 0 where no word matches. The score of a request is the sum over its words.

    `count` is the number of rows of the view, which `mask` marks; `norms` has one number for each row of the corpus.
    """

    def __init__(self, columns: Sequence[Column], norms: Floats, count: int, mask: Mask | None) -> None:
        self._columns, self._norms, self._count, self._mask = columns, norms, count, mask
        self._kept: Floats | None = None
        self._found: tuple[Rows, Floats] | None = None
        self._moments: tuple[float, float] | None = None

    @property
    def _scores(self) -> Floats:
        if self._kept is None:
            self._kept = np.zeros(len(self._norms), np.float32)
            for column in self._columns[:1]:
                self._kept[column.rows] = column.points(self._norms)
            for column in self._columns[1:]:
                self._kept[column.rows] += column.points(self._norms)
        return self._kept

    @property
    def _matching(self) -> tuple[Rows, Floats]:
        """Rows of the view with a matching word, ascending, and their scores."""
        if self._found is None:
            matched = self._scores > 0
            seen = matched if self._mask is None else matched & self._mask
            rows = np.flatnonzero(seen).astype(np.int32)
            self._found = rows, self._scores[rows]
        return self._found

    @property
    def _spread(self) -> tuple[float, float]:
        if self._moments is None:
            self._moments = self._measured()
        return self._moments

    def _measured(self) -> tuple[float, float]:
        if not self._count:
            return 0.0, 0.0
        scores = self._matching[1].astype(np.float64)
        mean = float(scores.sum()) / self._count
        apart = scores - mean
        others = self._count - len(apart)
        return mean, float(np.sqrt((float(apart @ apart) + others * mean**2) / self._count))

    @property
    def mean(self) -> float:
        """Mean score over all rows of the view."""
        return self._spread[0]

    @property
    def std(self) -> float:
        """Standard deviation over all rows of the view."""
        return self._spread[1]

    def top(self, k: int, within: Mask | None = None) -> Ranking:
        """At most k rows with a matching word, best first, ties by row."""
        rows, scores = self._matching
        found = best(scores, k, None if within is None else within[rows])
        return Ranking(rows[found.rows], found.scores)

    def at(self, rows: Rows) -> Floats:
        """Scores of given rows of the view, (len(rows),) float32."""
        summed = len(self._columns) > 1 and len(self._norms) <= LARGE
        if self._kept is not None or summed or len(rows) > FEW:
            return self._scores[rows]
        found = np.zeros(len(rows), np.float32)
        for column in self._columns:
            found += column.at(rows, self._norms)
        return found
