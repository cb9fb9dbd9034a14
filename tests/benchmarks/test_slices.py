"""Confidence on slices: the fit finds what tells answerable requests apart, and is tested on what it has not seen."""

from __future__ import annotations

import random

from benchmarks.confidence import fitted_table
from benchmarks.slices import Pair, asked_of, at_one, slices, taken_out
from toolsearch import ToolIndex, ToolSpec
from toolsearch.evaluation.calibrating import WORLD, Sample
from toolsearch.evaluation.judged import JudgedQuery
from toolsearch.strategies.confidence import Evidence, Fit


def sample(drawn: random.Random, answerable: bool, gap: float) -> Sample:
    """A request whose best cosine is `gap` higher when the catalog has a tool for it."""
    cosine = drawn.gauss(0.4 + gap * answerable, 0.05)
    evidence = Evidence(cosine=cosine, coverage=drawn.random(), terms=4, elsewhere=0.5, around=cosine - 0.1)
    return Sample(text=str(cosine), estimate=0.5, evidence=evidence, answerable=answerable)


def parts(gap: float) -> list[list[Sample]]:
    drawn = random.Random(0)
    return [[sample(drawn, number % 2 == 0, gap) for number in range(60)] for _ in range(3)]


def cells(text: str, name: str) -> list[str]:
    row = next(line for line in text.splitlines() if line.startswith(f"| {name}"))
    return [cell.strip() for cell in row.split("|")[2:-1]]


def test_a_fit_on_other_slices_tells_this_one() -> None:
    """Where cosines tell the two kinds apart, hardly any unrelated request is offered a tool, also when left out."""
    for name in ("slices left out", "fitted on all"):
        refused, offered, area = cells(fitted_table(parts(0.4)), name)
        assert float(refused.split()[0]) <= 10
        assert float(offered.split()[0]) <= 2
        assert float(area.split()[0]) > 0.99
        assert all("(" in cell and " to " in cell for cell in (refused, offered, area))


def test_where_nothing_tells_nothing_is_claimed() -> None:
    """Without a difference between the kinds, left-out slices are told by chance."""
    _, _, area = cells(fitted_table(parts(0.0)), "slices left out")
    low, high = (float(one.strip("()")) for one in area.split()[1::2])
    assert low < 0.5 < high


def test_the_numbers_are_printed_as_they_stand_in_the_code() -> None:
    """Each line is one that `Fit` has."""
    lines = [line.strip() for line in fitted_table(parts(0.4)).split("\n\n")[1].splitlines()]
    names = {line.split(":")[0] for line in lines}
    assert {"world_offset", "world_cosine", "elsewhere"} <= names <= set(WORLD)
    assert all(isinstance(getattr(Fit(), name), float) for name in names)


def test_the_threshold_refuses_as_many_as_are_allowed() -> None:
    """One in ten of the answerable requests is refused; what has no confidence is never offered."""
    pairs = [Pair(0.1 * n, True, str(n)) for n in range(1, 11)]
    pairs += [Pair(value, False, f"other {value}") for value in (0.0, 0.15, 0.95, 0.25)]
    assert [cell.split()[0] for cell in at_one(pairs)] == ["10.0", "50.0", "0.700"]


def test_a_request_that_many_slices_are_asked_counts_once_in_an_interval() -> None:
    """Asking the same requests of ten times as many slices makes no interval narrower."""
    drawn = random.Random(0)
    pairs = [Pair(drawn.random() + 0.4 * (n % 2), n % 2 == 1, str(n)) for n in range(60)]
    assert at_one(pairs * 10) == at_one(pairs)


def test_a_slice_is_asked_what_it_answers_and_what_others_answer() -> None:
    """Halves are not mixed; requests in other languages are asked only where they have a tool."""
    tools = next(slices())
    ids = {tool.id for tool in tools}
    test, development = asked_of(tools, "test"), asked_of(tools, "development")
    assert not {one.id for one in test} & {one.id for one in development}
    assert len({tool.namespace for tool in tools}) == 3
    assert all(one.split == "test" and (one.lang == "en" or ids & set(one.relevant)) for one in test)
    assert any(not ids & set(one.relevant) for one in test)


def test_a_request_is_asked_without_its_right_tools() -> None:
    """They are left out for this one request, which nothing answers then; what has no right tool is not asked."""
    tools = [ToolSpec(name="open_lock", description="Fill a lock"), ToolSpec(name="close_lock", description="Empty it")]
    index = ToolIndex.from_tools(tools, encoder="")
    asked = [JudgedQuery(id="1", query="fill the lock", relevant={"open_lock": 1}), JudgedQuery(id="2", query="a lock")]
    (one,) = taken_out(index.retriever("lexical").ranker, index.view(), asked)
    assert not one.answerable
    assert one.evidence is not None
    assert one.evidence.coverage < 1
