"""What a judge is worth."""

from __future__ import annotations

import numpy as np
import pytest

from toolsearch.training.measuring import Curve, Seen, above, calibration, worth


def one(scores: list[float], logits: list[float], right: list[int], missing: int = 0) -> Seen:
    marked = np.array([place in right for place in range(len(scores))])
    return Seen(scores=np.array(scores), logits=np.array(logits), right=marked, missing=missing)


GOOD = [one([3.0, 2.0, 1.0], [-4.0, 5.0, -4.0], [1]) for _ in range(20)]


def test_a_judge_that_knows_is_worth_more_than_the_ranking() -> None:
    """It puts the second first, tells right from wrong, and refuses the list without its right tool."""
    found = worth(GOOD, calibration(GOOD))
    assert found.judge == found.mixed == 100
    assert found.ranking == pytest.approx(100 / np.log2(3))
    assert found.auc == found.auc_alone == 1
    assert max(found.ece, found.ece_alone) < 0.05
    assert found.offers_judge == 0


def test_a_judge_that_knows_nothing_leaves_the_order_to_the_ranking() -> None:
    """Where the ranking is right and the judge as often wrong as right, the ranking stays."""
    lists = [one([3.0, 2.0, 1.0], [0.0, float(n % 2), 0.5], [0]) for n in range(20)]
    assert worth(lists, calibration(lists)).mixed == 100


def test_a_list_without_its_right_tools_is_a_list_of_its_own() -> None:
    """How far a tool is above the others is counted anew, so that nothing tells that one is gone."""
    found = one([9.0, 2.0, 1.0], [1.0, 0.0, 0.0], [0]).without()
    assert list(above(found.scores)) == [1.0, -1.0]
    assert not found.right.any()


def test_right_tools_that_were_not_found_count() -> None:
    """An order cannot be perfect when a right tool is not on the list."""
    lists = [one([2.0, 1.0], [1.0, 0.0], [0], missing=1)]
    curve = Curve(scale=1.0, bias=0.0, beside={"scale": 1.0, "bias": 0.0, "place": 0.5})
    assert worth(lists, curve).mixed < 100
