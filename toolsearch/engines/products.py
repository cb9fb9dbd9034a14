"""Inner products of vectors with requests, each row by itself: a row scores the same wherever it lies."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from toolsearch.protocols import Floats

    Places = NDArray[np.int64]

KERNEL_FROM: Final = 16
"""Below this dimension faiss has kernels whose rounding depends on a row's place."""
BLOCK: Final = 512
"""Rows that several requests are compared with at a time, few enough to stay in the processor's cache."""


def inner_products(vectors: Floats, queries: Floats, out: Floats) -> None:
    """Write the inner product of each row with each query into `out`, (queries, rows)."""
    if len(queries) == 1:
        _product(vectors, queries[0], out[0])
        return
    for start in range(0, len(vectors), BLOCK):
        block = vectors[start : start + BLOCK]
        for query, scores in zip(queries, out[:, start : start + BLOCK], strict=True):
            _product(block, query, scores)


def products_of(vectors: Floats, rows: Places, query: Floats) -> Floats:
    """The same of some rows, (n,) int64, in any order: they are read where they lie, and not copied together."""
    out, dimension = np.empty(len(rows), np.float32), vectors.shape[1]
    if dimension < KERNEL_FROM:
        np.einsum("ij,j->i", vectors[rows], query, out=out)
        return out
    faiss = _faiss()
    pointer = faiss.swig_ptr
    with threads(faiss, 1):
        faiss.fvec_inner_products_by_idx(
            pointer(out), pointer(query), pointer(vectors), pointer(rows), dimension, 1, len(rows)
        )
    return out


@cache
def _faiss() -> Any:
    return import_module("faiss")


@contextmanager
def threads(faiss: Any, count: int) -> Generator[None]:
    """Let faiss work on so many threads meanwhile; 0 leaves it as it is."""
    before = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(count or before)
    try:
        yield
    finally:
        faiss.omp_set_num_threads(before)


def _product(vectors: Floats, query: Floats, out: Floats) -> None:
    rows, dimension = vectors.shape
    if dimension < KERNEL_FROM:
        np.einsum("ij,j->i", vectors, query, out=out)
        return
    faiss = _faiss()
    pointer = faiss.swig_ptr
    # A plain loop on the calling thread: no OpenMP pool that a busy machine would stall.
    faiss.fvec_inner_products_ny(pointer(out), pointer(query), pointer(vectors), dimension, rows)
