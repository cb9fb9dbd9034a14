"""The BM25 scores of one request, summed over all rows only when all are asked for."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from toolsearch.engines.ranking import best
from toolsearch.protocols import Ranking

if TYPE_CHECKING:
    from toolsearch.engines.views import Recent
    from toolsearch.protocols import Floats, Mask, Rows

FEW: Final = 64
"""So many rows are looked up one by one in the postings of a large catalog, when they are not summed yet."""
LARGE: Final = 65_536
"""Up to so many rows of a catalog, summing several words over all of them is quicker than looking rows up."""
BLOCK: Final = 65_536
"""Rows that are summed at a time: all that is made for them stays in the processor's cache, and memory that the system
would have to clear first, page by page, is not asked for."""


class Seen(NamedTuple):
    """A view: how many rows, a mask of them, a number for each row of the corpus, and what is kept of columns."""

    key: Hashable
    size: int
    mask: Mask | None
    norms: Floats
    points: Recent[Floats]


class Column(NamedTuple):
    """One term in one segment: rows (n,) int32 ascending, their term frequencies, what the term is worth, its place.

    `key` tells it from other columns of the corpus.
    """

    key: Hashable
    rows: Rows
    frequencies: Floats
    gain: float
    place: int

    def points(self, norms: Floats) -> Floats:
        """What the term adds to each of its rows, (n,) float32."""
        return _points(np.float32(self.gain), self.frequencies, norms.take(self.rows))

    def holds(self, rows: Rows) -> Mask:
        """Which of given rows have the term, (len(rows),) bool."""
        return self.rows.take(self.rows.searchsorted(rows), mode="clip") == rows

    def at(self, rows: Rows, norms: Floats) -> Floats:
        """What the term adds to given rows, (len(rows),) float32; 0 where it does not occur."""
        places = np.minimum(self.rows.searchsorted(rows), len(self.rows) - 1)
        there = self.rows[places] == rows
        points = _points(np.float32(self.gain), self.frequencies[places], norms[rows])
        return np.where(there, points, np.float32(0))


def _points(gain: np.float32, frequencies: Floats, norms: Floats) -> Floats:
    """What a term adds to rows, in the memory of `norms`."""
    norms += frequencies
    return np.divide(gain * frequencies, norms, out=norms)


class LexicalScores:
    """The BM25 scores of one request: 0 where no word matches. The score of a request is the sum over its words.

    `words` is how many were asked for.
    """

    def __init__(self, words: int, columns: Sequence[Column], seen: Seen) -> None:
        self._words, self._columns, self._seen = words, columns, seen
        self._norms, self._count, self._mask = seen.norms, seen.size, seen.mask
        self._found: tuple[Rows, Floats] | None = None
        self._moments: tuple[float, float] | None = None

    @property
    def _matching(self) -> tuple[Rows, Floats]:
        """Rows of the view with a matching word, ascending, and their scores."""
        if self._found is None:
            self._found = self._summed()
        return self._found

    def _summed(self) -> tuple[Rows, Floats]:
        points = [self._points(column) for column in self._columns]
        parts = [self._block(start, spans, points) for start, spans in self._blocks()]
        if len(parts) == 1:
            return parts[0]
        rows, scores = zip(*parts, strict=True)
        return np.concatenate(rows), np.concatenate(scores)

    def _blocks(self) -> Iterator[tuple[int, Sequence[slice]]]:
        """Where each block of rows begins, and which part of each column lies in it."""
        if len(self._norms) <= BLOCK:
            yield 0, [slice(0, len(column.rows)) for column in self._columns]
            return
        starts = np.arange(0, len(self._norms) + BLOCK, BLOCK, dtype=np.int32)
        cuts = [column.rows.searchsorted(starts).tolist() for column in self._columns]
        for place, start in enumerate(starts[:-1].tolist()):
            yield start, [slice(cut[place], cut[place + 1]) for cut in cuts]

    def _points(self, column: Column) -> Floats:
        seen = self._seen
        return seen.points.get((seen.key, column.key, column.gain), lambda: column.points(seen.norms))

    def _block(self, start: int, spans: Sequence[slice], points: Sequence[Floats]) -> tuple[Rows, Floats]:
        """Rows of a block with a matching word, and their scores; of each column the span that lies in it."""
        sums = np.zeros(min(BLOCK, len(self._norms) - start), np.float32)
        # In the order of the columns, so that a row's sum is the same wherever it lies.
        for column, span, added in zip(self._columns, spans, points, strict=True):
            if span.start < span.stop:
                places = column.rows[span].astype(np.intp)
                places -= start
                np.add.at(sums, places, added[span])
        matched = sums > 0
        if self._mask is not None:
            matched &= self._mask[start : start + BLOCK]
        found = matched.nonzero()[0]
        return (found + start).astype(np.int32), sums[found]

    @property
    def _spread(self) -> tuple[float, float]:
        if self._moments is None:
            self._moments = self._measured()
        return self._moments

    def _measured(self) -> tuple[float, float]:
        if not self._count:
            return 0.0, 0.0
        scores = self._matching[1]
        parts = [slice(start, start + BLOCK) for start in range(0, len(scores), BLOCK)]
        mean = sum(float(scores[part].sum(dtype=np.float64)) for part in parts) / self._count
        square = (self._count - len(scores)) * mean**2
        for part in parts:
            apart = np.subtract(scores[part], mean, dtype=np.float64)
            square += float(np.einsum("i,i->", apart, apart))
        return mean, math.sqrt(square / self._count)

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
        if within is not None:
            kept = within.take(rows).nonzero()[0]
            rows, scores = rows[kept], scores[kept]
        found = best(scores, k)
        return Ranking(rows[found.rows], found.scores)

    def at(self, rows: Rows) -> Floats:
        """Scores of given rows of the view, (len(rows),) float32."""
        if self._found is None and (len(self._columns) == 1 or (len(self._norms) > LARGE and len(rows) <= FEW)):
            return self._looked_up(rows)
        known, scores = self._matching
        if not len(known):
            return np.zeros(len(rows), np.float32)
        places = known.searchsorted(rows)
        found = scores.take(places, mode="clip")
        found[known.take(places, mode="clip") != rows] = 0
        return found

    def _looked_up(self, rows: Rows) -> Floats:
        """The same, from the postings of each word."""
        found = np.zeros(len(rows), np.float32)
        for column in self._columns:
            found += column.at(rows, self._norms)
        return found

    def holds(self, rows: Rows) -> Mask:
        """Which of its words given rows have, (words, rows) bool."""
        found = np.zeros((self._words, len(rows)), np.bool_)
        for column in self._columns:
            found[column.place] |= column.holds(rows)
        return found
