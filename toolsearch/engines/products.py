"""Inner products of vectors with requests, each row by itself: a row scores the same wherever it lies."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from toolsearch.protocols import Floats

KERNEL_FROM: Final = 16
"""Below this dimension faiss has kernels whose rounding depends on a row's place."""
BLOCK: Final = 512
"""Rows that several requests are compared with at a time, few enough to stay in the processor's cache."""


def inner_products(vectors: Floats, queries: Floats, out: Floats) -> None:
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
