"""Vector similarity: the exact inner product of unit vectors, one thread a request.

Every row's product is computed by itself, so a row scores the same to the last bit wherever it lies. A full scan
also gives mean and deviation over a view; it costs what reading the vectors from memory costs.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Final, cast

import numpy as np

from toolsearch.engines.postings import offsets
from toolsearch.engines.ranking import best
from toolsearch.engines.views import Recent, intersected, live_mask
from toolsearch.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from toolsearch.engines.postings import Arrays
    from toolsearch.protocols import Floats, Mask, Ranking, Rows, RowSet

VIEWS: Final = 32
FEW: Final = 8
"""A view smaller than one row in FEW is scored row by row instead of by a scan of everything."""
BLOCK: Final = 512
"""Rows that several requests are compared with at a time, few enough to stay in the processor's cache."""
KERNEL_FROM: Final = 16
"""Below this dimension faiss has kernels whose rounding depends on a row's place."""


@dataclass(frozen=True, slots=True, eq=False)
class DenseSegment:
    """vectors: (rows, dimension) float32, C order, unit length or zero; missing: (rows,) bool, True without a vector.

    A zero vector (of an empty text) has similarity 0 to everything. A missing one is not scored at all.
    """

    vectors: Floats
    missing: Mask

    @classmethod
    def of(cls, vectors: Floats, missing: Mask | None = None) -> DenseSegment:
        """A segment; vectors that hold something else than finite numbers count as missing."""
        finite = np.isfinite(vectors).all(axis=1)
        absent = np.zeros(len(vectors), np.bool_) if missing is None else missing
        absent = np.logical_or(absent, ~finite)
        kept = np.where(absent[:, None], np.float32(0), vectors) if absent.any() else vectors
        return cls(np.ascontiguousarray(kept, np.float32), absent)

    def to_arrays(self) -> Arrays:
        """Plain arrays that hold everything."""
        return {"vectors": self.vectors, "missing": self.missing}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[np.generic]]) -> DenseSegment:
        """What `to_arrays` gave."""
        return cls(cast("Floats", arrays["vectors"]), cast("Mask", arrays["missing"]))

    def __len__(self) -> int:
        return len(self.vectors)


def merged_dense(parts: Sequence[tuple[DenseSegment, Rows]], rows: int) -> DenseSegment:
    """One segment of `rows` vectors; each part comes with the new row of each of its rows, -1 where dropped."""
    dimension = parts[0][0].vectors.shape[1]
    vectors, missing = np.zeros((rows, dimension), np.float32), np.ones(rows, np.bool_)
    for part, places in parts:
        kept = places >= 0
        vectors[places[kept]] = part.vectors[kept]
        missing[places[kept]] = part.missing[kept]
    return DenseSegment(vectors, missing)


@dataclass(frozen=True, slots=True, eq=False)
class _Scored:
    """The rows of a view that have a vector: as a mask, and as row numbers when they are few."""

    mask: Mask | None
    few: Rows | None


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
        self._views: Recent[_Scored] = Recent(VIEWS)

    def score(self, query: Floats, view: RowSet) -> DenseScores:
        """Similarities of a unit vector, (dimension,) float32, to the rows of a view.

        Raises:
            InvalidInput: the vector has another length or holds something else than finite numbers.
        """
        return self.score_many([query], view)[0]

    def score_many(self, queries: Sequence[Floats], view: RowSet) -> list[DenseScores]:
        """The same for several vectors, each as if alone; the rows are read only once.

        Raises:
            InvalidInput: as for one.
        """
        for query in queries:
            if query.size != self.dimension or not np.isfinite(query).all():
                raise InvalidInput(f"a request's vector needs {self.dimension} finite numbers, not {query.size}")
        vectors = np.array(queries, np.float32).reshape(len(queries), self.dimension)
        scored = self._views.get(view.key, lambda: self._scored(view))
        found = self._scan(vectors) if scored.few is None else self._gather(vectors, scored.few)
        return [DenseScores(scores, scored.mask, scored.few) for scores in found]

    def _scored(self, view: RowSet) -> _Scored:
        mask = live_mask(view, self._live)
        few = mask is not None and int(np.count_nonzero(mask)) * FEW < self._rows
        return _Scored(mask, np.flatnonzero(mask).astype(np.int32) if mask is not None and few else None)

    def _scan(self, vectors: Floats) -> Floats:
        """Scores of all rows, (n, rows)."""
        scores = np.empty((len(vectors), self._rows), np.float32)
        for (start, end), segment in zip(self._spans, self._segments, strict=True):
            _products(segment.vectors, vectors, scores[:, start:end])
        return scores

    def _gather(self, vectors: Floats, rows: Rows) -> Floats:
        """Scores of all rows, (n, rows), computed for the given ones only and 0 elsewhere."""
        scores = np.zeros((len(vectors), self._rows), np.float32)
        for (start, end), segment in zip(self._spans, self._segments, strict=True):
            inside = rows[np.searchsorted(rows, start) : np.searchsorted(rows, end)]
            part = np.empty((len(vectors), len(inside)), np.float32)
            _products(segment.vectors[inside - start], vectors, part)
            scores[:, inside] = part
        return scores


class DenseScores:
    """The similarities of one request; rows without a vector have none and read as 0."""

    def __init__(self, scores: Floats, mask: Mask | None, few: Rows | None) -> None:
        self._scores, self._mask = scores, mask
        self._seen = scores[few] if few is not None else scores if mask is None else scores[mask]

    @property
    def mean(self) -> float:
        """Mean similarity over the rows of the view that have a vector."""
        return float(self._seen.mean(dtype=np.float64)) if len(self._seen) else 0.0

    @property
    def std(self) -> float:
        """Standard deviation over the rows of the view that have a vector."""
        return float(self._seen.std(dtype=np.float64)) if len(self._seen) else 0.0

    def top(self, k: int, within: Mask | None = None) -> Ranking:
        """At most k rows that have a vector, best first, ties by row."""
        return best(self._scores, k, intersected(self._mask, within))

    def at(self, rows: Rows) -> Floats:
        """Similarities of given rows of the view, (len(rows),) float32; 0 without a vector."""
        found = self._scores[rows]
        return found if self._mask is None else np.where(self._mask[rows], found, np.float32(0))


def _products(vectors: Floats, queries: Floats, out: Floats) -> None:
    """Write the inner product of each row with each query into `out`, (queries, rows)."""
    step = BLOCK if len(queries) > 1 else max(1, len(vectors))
    for start in range(0, len(vectors), step):
        block = vectors[start : start + step]
        for query, scores in zip(queries, out[:, start : start + step], strict=True):
            _product(block, query, scores)


def _product(vectors: Floats, query: Floats, out: Floats) -> None:
    rows, dimension = vectors.shape
    if dimension < KERNEL_FROM:
        np.einsum("ij,j->i", vectors, query, out=out)
        return
    faiss = import_module("faiss")
    pointer = faiss.swig_ptr
    # A plain loop on the calling thread: no OpenMP pool that a busy machine would stall.
    faiss.fvec_inner_products_ny(pointer(out), pointer(query), pointer(vectors), dimension, rows)
