"""Unit vectors and readable texts."""

from __future__ import annotations

import numpy as np
import pytest

from toolsearch.encoders.texts import readable, spoken, spread, unit
from toolsearch.errors import EncoderFailed


def test_rows_become_unit_rows_whatever_their_size() -> None:
    """Tiny, huge and zero rows: length 1, or zero."""
    rows = unit(np.array([[3e-38, 4e-38], [1.5e38, 2e38], [0, 0]], np.float32), "it")
    assert rows.dtype == np.float32
    assert np.allclose(rows, [[0.6, 0.8], [0.6, 0.8], [0, 0]])


def test_values_that_are_not_finite_are_refused() -> None:
    """NaN and infinity never get into an index; the error names the giver."""
    for value in (np.nan, np.inf, -np.inf):
        with pytest.raises(EncoderFailed, match="the model x"):
            unit(np.array([[1.0, value]]), "the model x")


def test_no_rows_stay_no_rows() -> None:
    """An empty array keeps its width."""
    assert unit(np.zeros((0, 5)), "it").shape == (0, 5)


def test_rows_are_put_back_between_blank_texts() -> None:
    """Blank texts are zero rows at their own positions."""
    texts = ["", "a", "  ", "b"]
    rows = spread(np.ones((2, 3), np.float32), spoken(texts), len(texts))
    assert rows.tolist() == [[0, 0, 0], [1, 1, 1], [0, 0, 0], [1, 1, 1]]


def test_texts_are_cut_and_made_unicode() -> None:
    """Half a surrogate pair becomes a question mark; what is Unicode stays."""
    assert readable("退款\ud800x" + "y" * 100, 4) == "退款?x"
