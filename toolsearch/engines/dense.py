"""Vector similarity: inner products of unit vectors, one thread a request, exact while that is cheap.

Every row's product is computed by itself, so a row scores the same to the last bit wherever it lies. A full scan
also gives mean and deviation over a view; it costs what reading the vectors from memory costs. A large segment has an
approximate index besides (see `nearest`), which only proposes rows: scores and statistics are exact all the same.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Final, cast

import numpy as np

from toolsearch.engines.approximate import NearScores, Plan
from toolsearch.engines.moments import Moments
from toolsearch.engines.nearest import EXACT, MEANS, SAMPLE, Means, Nearest, exact_best, in_memory, mixed
from toolsearch.engines.postings import offsets
from toolsearch.engines.products import inner_products, products_of
from toolsearch.engines.ranking import best
from toolsearch.engines.views import Recent, intersected, live_mask
from toolsearch.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from toolsearch.engines.moments import Doubles
    from toolsearch.engines.nearest import Room
    from toolsearch.engines.postings import Arrays
    from toolsearch.protocols import Floats, Mask, Ranking, Rows, RowSet, Scores

VIEWS: Final = 32
FEW: Final = 8
"""A view smaller than one row in FEW is scored row by row instead of by a scan of everything."""


@dataclass(frozen=True, slots=True, eq=False)
class DenseSegment:
    """vectors: (rows, dimension) float32, C order, unit length or zero; missing: (rows,) bool, True without a vector.

    A zero vector (of an empty text) has similarity 0 to everything. A missing one is not scored at all.
    """

    vectors: Floats
    missing: Mask
    nearest: Nearest | None = None
    moments: Moments | None = None
    hopeless: bool = False
    """Whether an approximate index was tried and found too little."""

    @classmethod
    def of(cls, vectors: Floats, missing: Mask | None = None) -> DenseSegment:
        """A segment; vectors that hold something else than finite numbers count as missing."""
        finite = np.isfinite(vectors).all(axis=1)
        absent = np.zeros(len(vectors), np.bool_) if missing is None else missing
        absent = np.logical_or(absent, ~finite)
        kept = np.where(absent[:, None], np.float32(0), vectors) if absent.any() else vectors
        return cls(np.ascontiguousarray(kept, np.float32), absent)

    def planned(self, like: Nearest | None = None, means: Means = MEANS) -> DenseSegment:
        """The same, with an approximate index when it is large and one is good enough.

        One that was made for nearly the same vectors, `like`, saves training.
        """
        if len(self) <= EXACT or self.nearest is not None or self.hopeless:
            return self
        nearest = None if like is None else like.refilled(self.vectors, means)
        nearest = nearest or Nearest.trained(self.vectors, means)
        if nearest is None:
            return replace(self, hopeless=True)
        return replace(self, nearest=nearest, moments=Moments.of(self.vectors, np.flatnonzero(~self.missing)))

    def spread(self, own: Mask | None) -> Moments:
        """Moments of the rows of a mask that have a vector; None means every row."""
        have = ~self.missing
        present = have if own is None else have & own
        absent = np.flatnonzero(have & ~present)
        if self.moments is None or len(absent) > np.count_nonzero(present):
            return Moments.of(self.vectors, np.flatnonzero(present))
        return self.moments - Moments.of(self.vectors, absent) if len(absent) else self.moments

    def to_arrays(self) -> Arrays:
        """Plain arrays that hold everything."""
        arrays: Arrays = {"vectors": self.vectors, "missing": self.missing}
        if self.nearest is not None and self.moments is not None:
            sums = {"sums": self.moments.total, "products": self.moments.products.reshape(-1)}
            arrays |= {**self.nearest.to_arrays(), **sums}
        return arrays

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[np.generic]]) -> DenseSegment:
        """What `to_arrays` gave.

        Raises:
            ValueError: the arrays do not fit each other.
        """
        vectors, missing = cast("Floats", arrays["vectors"]), cast("Mask", arrays["missing"])
        nearest = Nearest.from_arrays(arrays, *vectors.shape)
        if nearest is None:
            return cls(vectors, missing)
        sums = cast("Doubles", arrays["sums"])
        products = cast("Doubles", arrays["products"]).reshape(len(sums), len(sums))
        return cls(vectors, missing, nearest, Moments(int(np.count_nonzero(~missing)), sums, products))

    def __len__(self) -> int:
        return len(self.vectors)


def merged_dense(parts: Sequence[tuple[DenseSegment, Rows]], rows: int, room: Room = in_memory) -> DenseSegment:
    """One segment of `rows` vectors; each part comes with the new row of each of its rows, -1 where dropped."""
    dimension = parts[0][0].vectors.shape[1]
    vectors, missing = empty_vectors(rows, dimension, room), np.ones(rows, np.bool_)
    for part, places in parts:
        kept = places >= 0
        for start in range(0, len(part), EXACT):
            chosen = np.flatnonzero(kept[start : start + EXACT]) + start
            vectors[places[chosen]] = part.vectors[chosen]
        missing[places[kept]] = part.missing[kept]
    return DenseSegment(vectors, missing)


def empty_vectors(rows: int, dimension: int, room: Room = in_memory) -> Floats:
    """Vectors of nothing, (rows, dimension) float32."""
    return room(4 * rows * dimension).view(np.float32).reshape(rows, dimension)


class DenseEngine:
    """Inner products over segments, laid end to end; `live` None means every row."""

    def __init__(self, segments: Sequence[DenseSegment], live: Mask | None = None) -> None:
        self._segments = tuple(segments)
        self._spans = offsets(len(segment) for segment in segments)
        self._rows = self._spans[-1][1] if self._spans else 0
        self.dimension = int(segments[0].vectors.shape[1]) if segments else 0
        """Length of a vector."""
        flags = [segment.missing for segment in segments]
        missing = np.concatenate(flags) if flags else np.zeros(0, np.bool_)
        self.missing: Mask | None = missing if missing.any() else None
        """(rows,) bool: rows without a vector; None when every row has one."""
        self._live = intersected(live, None if self.missing is None else ~self.missing)
        self._views: Recent[Plan] = Recent(VIEWS)

    def score(self, query: Floats, view: RowSet) -> Scores:
        """Similarities of a unit vector, (dimension,) float32, to the rows of a view.

        Raises:
            InvalidInput: the vector has another length or holds something else than finite numbers.
        """
        return self.score_many([query], view)[0]

    def score_many(self, queries: Sequence[Floats], view: RowSet) -> Sequence[Scores]:
        """The same for several vectors, each as if alone; the rows are read only once.

        Raises:
            InvalidInput: as for one.
        """
        for query in queries:
            if query.size != self.dimension:
                raise InvalidInput(f"a request's vector needs {self.dimension} finite numbers, not {query.size}")
        vectors = np.array(queries, np.float32).reshape(len(queries), self.dimension)
        if not np.isfinite(vectors).all():
            raise InvalidInput(f"a request's vector needs {self.dimension} finite numbers; some are not")
        plan = self._plan(view)
        if plan.moments is not None:
            return [NearScores(self._segments, self._spans, plan, vector) for vector in vectors]
        found = self._scan(vectors) if plan.few is None else self._gather(vectors, plan.few)
        return [DenseScores(scores, plan.mask, plan.few) for scores in found]

    def plan(self, view: RowSet) -> str:
        """How a view is searched, in words."""
        plan = self._plan(view)
        if plan.moments is None:
            return f"similarity of all {plan.count} rows"
        large = [segment.nearest for segment in self._segments if segment.nearest is not None]
        told = ", ".join(
            f"{one.effort.probes} of {one.cells} cells, {one.effort.factor} refined for each row wanted, "
            f"recall {one.recall:.3f} when it was made"
            for one in large
        )
        return f"approximate similarity of {plan.count} rows: {told}"

    def recall(self) -> float | None:
        """The share of the exact ten best that approximate search finds now; None when all is exact.

        Measured on made-up requests over the rows of large segments, removed ones too; reads all their vectors.
        """
        found: list[float] = []
        for segment in self._segments:
            if segment.nearest is not None:
                requests = mixed(segment.vectors, SAMPLE)
                exact = exact_best(segment.vectors, requests)
                found.append(segment.nearest.measured(segment.vectors, requests, exact))
        return min(found, default=None)

    def _plan(self, view: RowSet) -> Plan:
        return self._views.get(view.key, lambda: self._planned(view))

    def _planned(self, view: RowSet) -> Plan:
        mask = live_mask(view, self._live)
        count = self._rows if mask is None else int(np.count_nonzero(mask))
        if count > EXACT and any(segment.nearest is not None for segment in self._segments):
            parts = zip(self._spans, self._segments, strict=True)
            spreads = [segment.spread(None if mask is None else mask[start:end]) for (start, end), segment in parts]
            return Plan(mask, None, count, reduce(add, spreads))
        few = mask is not None and count * FEW < self._rows
        return Plan(mask, np.flatnonzero(mask).astype(np.int32) if mask is not None and few else None, count)

    def _scan(self, vectors: Floats) -> Floats:
        """Scores of all rows, (n, rows)."""
        scores = np.empty((len(vectors), self._rows), np.float32)
        for (start, end), segment in zip(self._spans, self._segments, strict=True):
            inner_products(segment.vectors, vectors, scores[:, start:end])
        return scores

    def _gather(self, vectors: Floats, rows: Rows) -> Floats:
        """Scores of all rows, (n, rows), computed for the given ones only and 0 elsewhere."""
        scores = np.zeros((len(vectors), self._rows), np.float32)
        for (start, end), segment in zip(self._spans, self._segments, strict=True):
            inside = rows[np.searchsorted(rows, start) : np.searchsorted(rows, end)].astype(np.int64)
            for query, own in zip(vectors, scores, strict=True):
                own[inside] = products_of(segment.vectors, inside - start, query)
        return scores


class DenseScores:
    """The similarities of one request; rows without a vector have none and read as 0."""

    def __init__(self, scores: Floats, mask: Mask | None, few: Rows | None) -> None:
        self._scores, self._mask = scores, mask
        self._seen = scores[few] if few is not None else scores if mask is None else scores[mask]
        self.mean = float(np.add.reduce(self._seen, dtype=np.float64)) / max(len(self._seen), 1)
        """Mean similarity over the rows of the view that have a vector."""

    @property
    def std(self) -> float:
        """Standard deviation over the rows of the view that have a vector."""
        apart = np.subtract(self._seen, self.mean, dtype=np.float64)
        return math.sqrt(float(np.einsum("i,i->", apart, apart)) / max(len(apart), 1))

    def top(self, k: int, within: Mask | None = None) -> Ranking:
        """At most k rows that have a vector, best first, ties by row."""
        return best(self._scores, k, intersected(self._mask, within))

    def at(self, rows: Rows) -> Floats:
        """Similarities of given rows of the view, (len(rows),) float32; 0 without a vector."""
        found = self._scores[rows]
        return found if self._mask is None else np.where(self._mask[rows], found, np.float32(0))
