"""Intervals of shares, areas and drawn figures."""

from __future__ import annotations

from statistics import fmean

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolsearch.evaluation.uncertainty import auc_interval, drawn_interval, share_interval


def test_known_values() -> None:
    """Wilson's interval of 8 of 10, and the standard error of an area of 0.893 as Hanley and McNeil print it."""
    assert share_interval(0.8, 10) == pytest.approx((0.490, 0.943), abs=0.001)
    low, high = auc_interval(0.893, 51, 58)
    assert (high - low) / (2 * 1.96) == pytest.approx(0.032, abs=0.001)


@given(share=st.floats(0, 1), count=st.integers(0, 1_000))
@settings(max_examples=60, deadline=None)
def test_shares_lie_in_their_interval(share: float, count: int) -> None:
    """Never outside 0 to 1, never without width, and narrower with more cases."""
    low, high = share_interval(share, count)
    assert 0 <= low <= share + 1e-9
    assert share - 1e-9 <= high <= 1
    assert low < high
    wider = share_interval(share, max(1, count // 4))
    assert high - low <= wider[1] - wider[0] + 1e-9 or count < 4


def test_few_cases_say_little() -> None:
    """No case leaves everything possible; drawing again is repeatable and holds the figure."""
    assert share_interval(0.0, 0) == auc_interval(0.7, 0, 3) == drawn_interval([], fmean) == (0.0, 1.0)
    values = [0.1, 0.4, 0.5, 0.9] * 5
    low, high = drawn_interval(values, fmean)
    assert low < fmean(values) < high
    assert drawn_interval(values, fmean) == (low, high)
