"""Inner products of all rows and of some."""

from __future__ import annotations

import numpy as np
import pytest

from toolsearch.engines.products import inner_products, products_of


@pytest.mark.parametrize("dimension", [1, 3, 15, 16, 17, 33, 448])
def test_some_rows_score_as_all_do(dimension: int) -> None:
    """Rows that are read where they lie, in any order and twice, have the products of a scan to the last bit."""
    drawn = np.random.default_rng(dimension)
    vectors = drawn.standard_normal((90, dimension)).astype(np.float32)
    query = drawn.standard_normal(dimension).astype(np.float32)
    every = np.empty((1, 90), np.float32)
    inner_products(vectors, query[None], every)
    rows = np.array([89, 0, 7, 8, 7, 64, 31], np.int64)
    assert products_of(vectors, rows, query).tolist() == every[0, rows].tolist()
    assert products_of(vectors, rows[:0], query).tolist() == []
