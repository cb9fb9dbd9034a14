"""The demo's answers are those that are committed, and a change of them is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import baseline
from benchmarks.baseline import Row
from benchmarks.tasks import demo
from toolsearch.evaluation.runs import Answer

ROWS = [Row("a", "x", 0.5), Row("b", "y", None), Row("c", "z", 1.0)]


@pytest.mark.slow
def test_the_demo_is_answered_as_committed() -> None:
    """Words find the same tools in the same order, and the hybrid's mean has not fallen by more than is allowed.

    When a change is meant: python -m benchmarks baseline --write
    """
    assert baseline.faults(baseline.read(), baseline.now(demo("development"))) == []


def test_equal_rows_have_no_faults() -> None:
    """Nothing is told when nothing changed."""
    assert baseline.faults(ROWS, ROWS) == []


def test_changed_words_are_named() -> None:
    """A request that words answer otherwise is named."""
    told = baseline.faults(ROWS, [Row("a", "other", 0.5), *ROWS[1:]])
    assert told == ["words find something else for 1 requests: a"]


def test_a_small_loss_is_allowed_and_a_larger_one_told() -> None:
    """Means are over the requests that have a right tool, in points."""
    assert baseline.faults(ROWS, [Row("a", "x", 0.491), *ROWS[1:]]) == []
    told = baseline.faults(ROWS, [Row("a", "x", 0.48), *ROWS[1:]])
    assert told == ["the hybrid's nDCG@10 fell by 1.00 points, from 75.00 to 74.00"]


def test_requests_that_come_or_go_are_told() -> None:
    """The same requests must be asked."""
    assert baseline.faults(ROWS, ROWS[:2])[0] == "1 requests came or went, such as c"


def test_the_digest_is_of_the_order() -> None:
    """Scores do not count, ids in their order do."""
    pairs = [(("a", 2), ("b", 1)), (("a", 9), ("b", 9)), (("b", 2), ("a", 1))]
    one, same, turned = (Answer(id="q", hits=hits) for hits in pairs)
    assert baseline.digest(one) == baseline.digest(same) != baseline.digest(turned)


def test_rows_survive_a_file(tmp_path: Path) -> None:
    """What is written is read back."""
    baseline.write(ROWS, tmp_path / "b.jsonl")
    assert baseline.read(tmp_path / "b.jsonl") == ROWS
