"""Measures agree with values computed by hand, and comparisons with known cases."""

from __future__ import annotations

from math import log2
from pathlib import Path

import numpy as np
import pytest

from toolsearch.errors import InvalidInput, InvalidSource
from toolsearch.evaluation.abstention import abstention, auc
from toolsearch.evaluation.comparison import compare, holm, interval
from toolsearch.evaluation.judged import JudgedQuery
from toolsearch.evaluation.measures import mean, measure, parted
from toolsearch.evaluation.runs import Answer, read_run, write_run
from toolsearch.evaluation.tables import groups

QUERIES = [
    JudgedQuery(id="1", query="x", relevant={"a": 1, "b": 1}, lang="en"),
    JudgedQuery(id="2", query="y", relevant={"c": 2, "d": 1}, lang="de"),
    JudgedQuery(id="3", query="z", relevant={"e": 1}, lang="de"),
    JudgedQuery(id="4", query="nothing fits"),
]


def answer(query: str, *tools: str, confidence: float | None = None) -> Answer:
    """An answer whose scores are all equal, so that only the order can tell."""
    return Answer(id=query, hits=tuple((tool, 1.0) for tool in tools), confidence=confidence)


def test_hand_computed_values() -> None:
    """nDCG uses linear gains, equal scores keep their order, a missing answer is 0."""
    values = measure(QUERIES, [answer("1", "z", "b", "a"), answer("2", "d", "c"), answer("4", "a")])
    ideal = 1 + 1 / log2(3)
    assert values["nDCG@10"]["1"] == pytest.approx((1 / log2(3) + 1 / log2(4)) / ideal)
    assert values["nDCG@10"]["2"] == pytest.approx((1 + 2 / log2(3)) / (2 + 1 / log2(3)), abs=1e-4)
    assert values["nDCG@10"]["3"] == 0
    assert values["P@1"] == {"1": 0, "2": 1, "3": 0}
    assert values["RR@10"] == {"1": 0.5, "2": 1, "3": 0}
    assert values["COMP@10"] == {"1": 1, "2": 1, "3": 0}


def test_values_by_language() -> None:
    """Groups hold the values of their own requests."""
    values = measure(QUERIES, [answer("1", "a"), answer("2", "c")])
    assert parted(QUERIES, values["R@5"], "lang") == {"de": [0.5, 0.0], "en": [0.5]}
    assert mean({}) == 0


def test_a_group_counts_the_requests_of_its_means() -> None:
    """A request that nothing answers is in no mean, so it is not counted either."""
    queries = [*QUERIES, JudgedQuery(id="none", query="x", lang="en")]
    told = groups(queries, measure(queries, [answer("1", "a")]), "lang")
    counts = {row.split("|")[1].strip(): int(row.split("|")[2]) for row in told.splitlines()[2:]}
    assert counts == {"de": 2, "en": 1}


def test_unknown_measure_is_refused() -> None:
    """A measure that the library does not know is named."""
    with pytest.raises(InvalidInput, match="Fame@3"):
        measure(QUERIES, [], ["Fame@3"])


def test_comparison_counts_and_tests() -> None:
    """A steady gain is significant, its interval excludes zero, and the changed requests are listed."""
    a = {str(n): 0.5 for n in range(40)}
    b = {str(n): 0.7 if n < 39 else 0.1 for n in range(40)}
    gap = compare(a, b)
    assert (gap.wins, gap.losses, gap.ties) == (39, 1, 0)
    assert gap.p < 0.001
    assert 0 < gap.low < gap.mean < gap.high
    assert gap.changed[0] == ("39", pytest.approx(-40))


def test_equal_runs_do_not_differ() -> None:
    """No difference means p = 1 and an interval of nothing."""
    gap = compare({"a": 0.5}, {"a": 0.5})
    assert (gap.mean, gap.low, gap.high, gap.p) == (0, 0, 0, 1)


def test_runs_over_other_requests_are_refused() -> None:
    """Unpaired runs cannot be compared."""
    with pytest.raises(InvalidInput, match="differ in 2 requests"):
        compare({"a": 1}, {"b": 1})


def test_holm_correction() -> None:
    """Textbook case: the smallest is multiplied by the count, and order is kept monotone."""
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])


def test_interval_holds_the_mean() -> None:
    """The bootstrap interval of a constant is that constant; of nothing, nothing."""
    assert interval(np.full(5, 2.0)) == (2.0, 2.0)
    assert interval(np.array([])) == (0.0, 0.0)


def test_abstention_threshold_keeps_its_promise() -> None:
    """At most the allowed share of answerable requests is refused, ties included."""
    right = [answer("r", "t", confidence=c / 10) for c in range(1, 11)]
    wrong = [answer("w", "t", confidence=0.05), answer("w", "t", confidence=0.95), answer("w")]
    row = abstention(right, wrong, [0.1])[0]
    assert (row.refused, row.offered) == (0.1, pytest.approx(1 / 3))
    assert auc([1, 1], [0, 1]) == 0.75


def test_a_system_without_estimates_always_offers() -> None:
    """Without a confidence every non-empty answer is an offer."""
    row = abstention([answer("r", "t")], [answer("w", "t")])[0]
    assert (row.refused, row.offered) == (0, 1)


@pytest.mark.parametrize("ending", ["jsonl", "trec", "run"])
def test_runs_survive_files(tmp_path: Path, ending: str) -> None:
    """Both forms give the same hits back."""
    path = tmp_path / f"out.{ending}"
    write_run([Answer(id="1", hits=(("a", 2.0), ("b", 1.5)))], path)
    assert read_run(path)[0].hits == (("a", 2.0), ("b", 1.5))


def test_run_files_that_cannot_be(tmp_path: Path) -> None:
    """Other endings, blanks in TREC ids and broken lines are refused."""
    with pytest.raises(InvalidInput, match="ending"):
        write_run([], tmp_path / "x.csv")
    with pytest.raises(InvalidInput, match="jsonl"):
        write_run([answer("1", "a b")], tmp_path / "x.trec")
    (tmp_path / "bad.trec").write_text("1 Q0 a\n")
    with pytest.raises(InvalidSource, match="bad.trec:1"):
        read_run(tmp_path / "bad.trec")
