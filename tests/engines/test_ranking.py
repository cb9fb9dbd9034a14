"""The k best of an array."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from toolsearch.engines.ranking import best


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 3000), st.integers(1, 40), st.integers(1, 50), st.integers(0, 2**32 - 1))
def test_best_equals_a_full_stable_sort(rows: int, k: int, levels: int, seed: int) -> None:
    """Whatever the size, the ties and the mask, the answer is the head of a full sort with ties by row."""
    rng = np.random.default_rng(seed)
    scores = rng.integers(0, levels, rows).astype(np.float32)
    mask = rng.random(rows) < rng.random()
    found = best(scores, k, mask)
    expected = sorted(np.flatnonzero(mask).tolist(), key=lambda row: (-scores[row], row))[:k]
    assert found.rows.tolist() == expected
    assert found.scores.tolist() == scores[expected].tolist()


def test_best_leaves_out_rows_that_match_nothing() -> None:
    """A score of minus infinity is never an answer."""
    scores = np.array([-np.inf, 2, -np.inf, -1], np.float32)
    assert best(scores, 10).rows.tolist() == [1, 3]


def test_best_of_nothing_is_empty() -> None:
    """No rows and no wish give no answer."""
    assert len(best(np.empty(0, np.float32), 5).rows) == 0
    assert len(best(np.ones(4, np.float32), 0).rows) == 0
