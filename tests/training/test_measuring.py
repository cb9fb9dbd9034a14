"""What a judge is worth."""

from __future__ import annotations

import numpy as np
import pytest

from toolsearch.training.measuring import Seen, calibration, share, worth


def one(scores: list[float], logits: list[float], right: list[int], missing: int = 0) -> Seen:
    marked = np.array([place in right for place in range(len(scores))])
    return Seen(scores=np.array(scores), logits=np.array(logits), right=marked, missing=missing)


GOOD = [one([3.0, 2.0, 1.0], [-4.0, 5.0, -4.0], [1]) for _ in range(20)]


def test_a_judge_that_knows_is_worth_more_than_the_ranking() -> None:
    """It puts the second first, tells right from wrong, and refuses the list without its right tool."""
    found = worth(GOOD, calibration(GOOD), share(GOOD))
    assert found.judge == found.mixed == 100
    assert found.ranking == pytest.approx(100 / np.log2(3))
    assert found.auc == 1
    assert found.ece < 0.05
    assert found.offers_judge == 0


def test_a_judge_that_knows_nothing_gets_no_share() -> None:
    """Where the ranking is right and the judge wrong, the ranking stays."""
    lists = [one([3.0, 2.0, 1.0], [0.0, 1.0, 2.0], [0]) for _ in range(5)]
    assert share(lists) == 0


def test_right_tools_that_were_not_found_count() -> None:
    """An order cannot be perfect when a right tool is not on the list."""
    lists = [one([2.0, 1.0], [1.0, 0.0], [0], missing=1)]
    assert worth(lists, (1.0, 0.0), 0.5).mixed < 100
