"""Word matching: BM25 over segments of postings that hold term frequencies, not finished scores.

Document frequencies, the number of rows and their mean length are counted under the caller's view at query time,
so no score depends on what the caller may not see. Formula: Robertson and Zaragoza, "The Probabilistic Relevance
Framework: BM25 and Beyond" (2009), with the never negative IDF of Lucene.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, cast

import numpy as np

from toolsearch.engines.points import kept_points
from toolsearch.engines.postings import Postings, merged, offsets
from toolsearch.engines.views import Recent, live_mask
from toolsearch.engines.word_scores import Column, LexicalScores, Seen

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from toolsearch.engines.postings import Arrays
    from toolsearch.protocols import Floats, Mask, Rows, RowSet

GRAIN = 1024
"""Lengths are kept in units of 1/GRAIN, so that their sum is exact whatever the order of rows."""
VIEWS = 32
"""How many views an engine keeps statistics of."""
TERMS = 4096
"""How many terms of each view an engine keeps the places and the number of."""


@dataclass(frozen=True, slots=True, eq=False)
class LexicalSegment:
    """Documents as postings of weighted term frequencies; lengths: (rows,) float32 weighted."""

    postings: Postings
    lengths: Floats

    @classmethod
    def of(cls, documents: Iterable[tuple[Mapping[str, float], float]]) -> LexicalSegment:
        """A segment of documents, each its weighted term frequencies and its weighted length."""
        pairs = list(documents)
        lengths = np.array([length for _, length in pairs], np.float64)
        return cls(Postings.of(terms for terms, _ in pairs), (np.round(lengths * GRAIN) / GRAIN).astype(np.float32))

    def to_arrays(self) -> Arrays:
        """Plain arrays that hold everything."""
        return {**self.postings.to_arrays("words"), "lengths": self.lengths}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[np.generic]]) -> LexicalSegment:
        """What `to_arrays` gave."""
        return cls(Postings.from_arrays("words", arrays), cast("Floats", arrays["lengths"]))

    def __len__(self) -> int:
        return len(self.lengths)


def merged_lexical(parts: Sequence[tuple[LexicalSegment, Rows]], rows: int) -> LexicalSegment:
    """One segment of `rows` documents; each part comes with the new row of each of its rows, -1 where dropped."""
    lengths = np.zeros(rows, np.float32)
    for part, places in parts:
        kept = places >= 0
        lengths[places[kept]] = part.lengths[kept]
    return LexicalSegment(merged([(part.postings, places) for part, places in parts]), lengths)


@dataclass(frozen=True, slots=True, eq=False)
class _Term:
    """In how many rows of a view a term occurs; of each segment that has it the rows of the corpus and frequencies."""

    count: int
    parts: Sequence[tuple[Rows, Floats]]


_ABSENT: Final = _Term(0, ())


@dataclass(frozen=True, slots=True, eq=False)
class _Statistics:
    """What a view says about its rows: their number, mask, and k1 * (1 - b + b * length / mean) for each row."""

    seen: Seen
    terms: dict[str, _Term]
    """Terms that were looked up and are there, at most TERMS; of a word with a slip hundreds that are not are tried."""


class LexicalEngine:
    """BM25 over segments, laid end to end; rows that are not `live` are as if they had never been there.

    `live` None means every row. `k1` bounds what repetition adds, `b` is how much a long document is held back.
    """

    def __init__(
        self, segments: Sequence[LexicalSegment], live: Mask | None = None, *, k1: float = 2.5, b: float = 0.7
    ) -> None:
        self._segments = tuple(segments)
        self._spans = offsets(len(segment) for segment in segments)
        self._rows = self._spans[-1][1] if self._spans else 0
        self._live = live
        self._k1, self._b = k1, b
        self._views: Recent[_Statistics] = Recent(VIEWS)
        self._points = kept_points()

    def score(self, query: Mapping[str, float], view: RowSet) -> LexicalScores:
        """Scores of weighted query terms over a view."""
        return self.score_many([query], view)[0]

    def score_many(self, queries: Sequence[Mapping[str, float]], view: RowSet) -> list[LexicalScores]:
        """Scores of each request over a view, in their order."""
        known = self._views.get(view.key, lambda: self._statistics(view))
        return [LexicalScores(len(query), self._columns(query, known), known.seen) for query in queries]

    def frequencies(self, terms: Iterable[str], view: RowSet) -> tuple[int, dict[str, int]]:
        """How many rows the view has, and in how many of them each term occurs."""
        statistics = self._views.get(view.key, lambda: self._statistics(view))
        return statistics.seen.size, {term: self._term(term, statistics).count for term in terms}

    def _columns(self, query: Mapping[str, float], statistics: _Statistics) -> list[Column]:
        """The rows of each term in each segment that has it, with what it is worth in the view."""
        columns: list[Column] = []
        rows = statistics.seen.size
        for place, (term, weight) in enumerate(query.items()):
            found = self._term(term, statistics)
            if found.count and weight:
                gain = weight * math.log1p((rows - found.count + 0.5) / (found.count + 0.5))
                columns += [Column((term, part), *own, gain, place) for part, own in enumerate(found.parts)]
        return columns

    def _term(self, term: str, statistics: _Statistics) -> _Term:
        """What is known of a term; looked up once, without a lock, since a second look finds the same."""
        found = statistics.terms.get(term)
        if found is None:
            found = self._found(term, statistics.seen.mask)
            if len(statistics.terms) >= TERMS:
                statistics.terms.clear()
            if found.parts:
                statistics.terms[term] = found
        return found

    def _found(self, term: str, mask: Mask | None) -> _Term:
        parts: list[tuple[Rows, Floats]] = []
        for (start, _), segment in zip(self._spans, self._segments, strict=True):
            rows, frequencies = segment.postings.find(term)
            if len(rows):
                parts.append((cast("Rows", rows + np.int32(start)) if start else rows, frequencies))
        if not parts:
            return _ABSENT
        seen = parts if mask is None else [(rows[mask[rows]], _) for rows, _ in parts]
        return _Term(sum(len(rows) for rows, _ in seen), parts)

    def _statistics(self, view: RowSet) -> _Statistics:
        mask = live_mask(view, self._live)
        lengths = [segment.lengths for segment in self._segments] or [np.empty(0, np.float32)]
        length = np.concatenate(lengths)
        seen = length if mask is None else length[mask]
        mean = float(seen.sum(dtype=np.float64)) / len(seen) if len(seen) else 0.0
        share = length / np.float32(mean) if mean else np.ones_like(length)
        norms = np.float32(self._k1) * (np.float32(1 - self._b) + np.float32(self._b) * share)
        return _Statistics(Seen(view.key, len(seen), mask, norms, self._points), {})
