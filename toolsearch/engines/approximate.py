"""The similarities of one request when not every row is compared: proposed rows, exact scores, exact statistics."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from toolsearch.engines.nearest import EXACT, POOL
from toolsearch.engines.products import products_of
from toolsearch.engines.ranking import best, distinct
from toolsearch.engines.views import intersected
from toolsearch.protocols import Ranking

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from toolsearch.engines.dense import DenseSegment
    from toolsearch.engines.moments import Moments
    from toolsearch.protocols import Floats, Mask, Rows


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """How a view is searched: its rows that have a vector as a mask, and as numbers when they are few.

    `moments` is None when every row is compared.
    """

    mask: Mask | None
    few: Rows | None
    count: int
    moments: Moments | None = None


class NearScores:
    """Rows proposed by the approximate indexes of large segments; small segments and small filters are exact."""

    def __init__(
        self, segments: Sequence[DenseSegment], spans: Sequence[tuple[int, int]], plan: Plan, query: Floats
    ) -> None:
        self._segments, self._spans, self._plan, self._query = segments, spans, plan, query
        self._kept: tuple[float, float] | None = None
        self._known: tuple[Rows, Floats] = np.empty(0, np.int32), np.empty(0, np.float32)

    @property
    def _spread(self) -> tuple[float, float]:
        if self._kept is None:
            self._kept = (0.0, 0.0) if self._plan.moments is None else self._plan.moments.spread(self._query)
        return self._kept

    @property
    def mean(self) -> float:
        """Mean similarity over the rows of the view that have a vector."""
        return self._spread[0]

    @property
    def std(self) -> float:
        """Standard deviation over the rows of the view that have a vector."""
        return self._spread[1]

    def top(self, k: int, within: Mask | None = None) -> Ranking:
        """At most k rows that have a vector, best first, ties by row; few rows, or too few found, are all compared."""
        allowed = intersected(self._plan.mask, within)
        count = self._plan.count if within is None or allowed is None else int(np.count_nonzero(allowed))
        rows = self._all(allowed) if count <= EXACT else self._proposed(k, allowed)
        if len(rows) < min(k, count):
            rows = self._all(allowed)
        scores = self._products(rows)
        if len(rows) <= EXACT:
            self._known = rows, scores
        found = best(scores, k)
        return Ranking(rows[found.rows], found.scores)

    def at(self, rows: Rows) -> Floats:
        """Similarities of given rows of the view, (len(rows),) float32; 0 without a vector."""
        found = self._looked_up(rows)
        return found if self._plan.mask is None else np.where(self._plan.mask[rows], found, np.float32(0))

    def _looked_up(self, rows: Rows) -> Floats:
        """Products of rows in any order; each is computed once, for the same few are asked about again and again."""
        if len(rows) > EXACT:
            return self._products(rows)
        known, scores = self._known
        fresh = rows
        if len(known):
            places = np.minimum(known.searchsorted(rows), len(known) - 1)
            there = known[places] == rows
            if there.all():
                return scores[places]
            fresh = rows[~there]
        fresh = distinct(fresh)
        joined = np.concatenate([known, fresh])
        order = np.argsort(joined, kind="stable")
        known, scores = joined[order], np.concatenate([scores, self._products(fresh)])[order]
        self._known = known, scores
        return scores[known.searchsorted(rows)]

    def _all(self, allowed: Mask | None) -> Rows:
        if allowed is None:
            return np.arange(self._spans[-1][1], dtype=np.int32)
        return np.flatnonzero(allowed).astype(np.int32)

    def _proposed(self, k: int, allowed: Mask | None) -> Rows:
        """Rows of all segments, ascending."""
        found: list[NDArray[np.int64]] = []
        for (start, end), segment in zip(self._spans, self._segments, strict=True):
            own = None if allowed is None else allowed[start:end]
            if segment.nearest is None:
                rows = np.arange(end - start) if own is None else np.flatnonzero(own)
            else:
                share = 1.0 if own is None else float(np.count_nonzero(own)) / len(own)
                rows = segment.nearest.find(self._query, max(k, POOL), own, share) if share else np.empty(0, np.int64)
            found.append(rows + start)
        return distinct(np.concatenate(found)).astype(np.int32)

    def _products(self, rows: Rows) -> Floats:
        """Exact inner products of rows in any order."""
        wanted = rows.astype(np.int64)
        if len(self._segments) == 1:
            return products_of(self._segments[0].vectors, wanted, self._query)
        out = np.zeros(len(rows), np.float32)
        for (start, end), segment in zip(self._spans, self._segments, strict=True):
            places = np.flatnonzero((wanted >= start) & (wanted < end))
            out[places] = products_of(segment.vectors, wanted[places] - start, self._query)
        return out
