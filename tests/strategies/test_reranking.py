"""Reranking: a judge's order, its refusals and failures, several needs, names first."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from toolsearch import ToolIndex, ToolSpec
from toolsearch.errors import DecisionFailed, InvalidInput, InvalidSource
from toolsearch.protocols import SearchResult
from toolsearch.questions import Answer, Decision, Question, Refusal, State, YesNo, YesNoAnswer
from toolsearch.strategies.calibration import FILE, Calibration, Fitted
from toolsearch.strategies.confidence import Fit, MinConfidence
from toolsearch.strategies.likeness import Likeness
from toolsearch.strategies.ranking import total
from toolsearch.strategies.reranking import FromRetriever, Reranked, reranked
from toolsearch.strategies.retriever import RankedRetriever
from toolsearch.strategies.retrievers import open_retriever

TOOLS = [
    ToolSpec(name="rain_now", description="Rain that falls now"),
    ToolSpec(name="rain_soon", description="Rain of the next days"),
    ToolSpec(name="letter", description="Send a letter"),
]
INDEX = ToolIndex.from_tools(TOOLS, encoder=None)
VIEW = INDEX.view()


class Judge:
    """Answers by the tool's name; None refuses, and a judge without answers fails."""

    def __init__(self, **chances: float | None) -> None:
        self.chances = chances
        self.states: list[State] = []
        self.asked: list[str] = []

    async def decide(self, state: State, questions: Mapping[str, Question]) -> Decision:
        if not self.chances:
            raise DecisionFailed("the judge is ill")
        self.states.append(state)
        return Decision(answers={name: self._answer(one) for name, one in questions.items()})

    def _answer(self, question: Question) -> Answer:
        assert isinstance(question, YesNo)
        name = question.text.split("Name: ")[1].split("\n")[0]
        self.asked.append(name)
        chance = self.chances.get(name, 0.1)
        return Refusal("no") if chance is None else YesNoAnswer(chance)


def search(judge: Judge, *needs: str, k: int = 3, **more: Any) -> SearchResult:
    inner = open_retriever("lexical").ranker
    return RankedRetriever(Reranked(ranker=inner, judge=judge, **more)).search(needs or ["rain"], VIEW, k)


def test_the_judge_decides_the_order() -> None:
    """Probabilities are the scores and the confidence; reasons add up; only hits of the search are asked about."""
    judge = Judge(rain_now=0.2, rain_soon=0.9)
    result = search(judge)
    assert result.ids == ["rain_soon", "rain_now"]
    assert [hit.score for hit in result] == pytest.approx([0.9, 0.2])
    assert result.confidence == pytest.approx(0.9)
    assert result.band == "high"
    assert all(total(hit.reasons) == pytest.approx(hit.score) for hit in result)
    assert judge.asked == ["rain_now", "rain_soon"]


def test_a_named_tool_stays_first() -> None:
    """What the request names is not asked about."""
    judge = Judge(rain_now=0.2, rain_soon=0.9)
    assert search(judge, "rain now").ids[0] == "rain_now"
    assert "rain_now" not in judge.asked


def test_unlikely_and_refused_tools_are_left_out() -> None:
    """An empty answer is possible."""
    assert search(Judge(rain_now=None, rain_soon=0.9)).ids == ["rain_soon"]
    assert search(Judge(rain_now=0.2, rain_soon=0.1), min_probability=0.5).ids == []


def test_several_needs_are_judged_each_on_its_own() -> None:
    """Each tool is asked about for the need that found it."""
    judge = Judge(rain_now=0.9, letter=0.8)
    result = search(judge, "rain", "a letter")
    assert set(result.ids[:2]) == {"rain_now", "letter"}
    assert judge.states == ["rain", "a letter"]


def test_a_failing_judge() -> None:
    """Its error comes out, or the order of the search with a note."""
    with pytest.raises(DecisionFailed, match="ill"):
        search(Judge())
    kept = search(Judge(), on_failure="shortlist")
    assert kept.ids == open_retriever("lexical").search(["rain"], VIEW, 3).ids
    assert "not checked by the judge" in kept.notes[-1]


def test_any_retriever_can_be_wrapped() -> None:
    """One that is no ranking too; a calibration puts probabilities right and decides when nothing fits."""
    judge = Judge(rain_now=0.2, rain_soon=0.6)
    plain = MinConfidence(open_retriever("lexical"), 0.0)
    assert reranked(plain, judge).search(["rain"], VIEW, 3).ids == ["rain_soon", "rain_now"]
    assert FromRetriever(plain).rank("rain", VIEW, 2).reasons(2) == ()
    low = reranked(plain, judge, Fitted(bias=-3.0, threshold=0.3)).search(["rain"], VIEW, 3)
    assert low.confidence == pytest.approx(1 / (1 + np.exp(3 - np.log(1.5))))
    assert low.band == "none"


def test_a_fitted_place_lets_the_ranking_speak() -> None:
    """The judge's order stands by default; with a place in the ranking that says more than it, the ranking's does."""
    judge = Judge(rain_now=0.4, rain_soon=0.6)
    found = open_retriever("lexical").search(["rain now please"], VIEW, 3)
    assert found.ids == ["rain_now", "rain_soon"]
    assert search(judge, "rain now please").ids == ["rain_soon", "rain_now"]
    placed = search(judge, "rain now please", fitted=Fitted(place=2.0))
    assert placed.ids == ["rain_now", "rain_soon"]
    assert placed.confidence == pytest.approx(placed.hits[0].score)
    assert (
        search(Judge(rain_now=0.01, rain_soon=0.99), "rain now please", fitted=Fitted(place=2.0)).ids[0] == "rain_soon"
    )


def test_by_name_only_with_a_judge() -> None:
    """`hybrid+judge` needs one."""
    assert INDEX.retriever("lexical+judge", judge=Judge(rain_soon=0.9)).search(["rain"], VIEW, 1).ids == ["rain_soon"]
    with pytest.raises(InvalidInput, match="needs a judge"):
        open_retriever("hybrid+judge")


@pytest.mark.parametrize("wrong", [{"shortlist": 0}, {"min_probability": 1.5}])
def test_settings_are_checked(wrong: dict[str, Any]) -> None:
    """Numbers out of range are refused."""
    with pytest.raises(InvalidInput):
        Reranked(ranker=open_retriever("lexical").ranker, judge=Judge(), **wrong)


def test_a_calibration_is_read_as_it_was_written(tmp_path: Path) -> None:
    """Curve, threshold and judged requests survive; bands begin at the threshold."""
    vectors = np.eye(4, dtype=np.float32)
    fitted = Fitted(
        threshold=0.4,
        answer=0.5,
        place=0.7,
        fit=Fit(offset=-1.5, answered=2.0),
        likeness=Likeness.of(vectors, [True, True, False, False]),
    )
    Calibration(strategies={"hybrid": fitted}, encoder="e", tools=3).write(tmp_path / FILE)
    found = Calibration.read(tmp_path / FILE)
    again = found.strategies["hybrid"]
    assert (found.encoder, found.tools, again.threshold, again.fit) == ("e", 3, 0.4, fitted.fit)
    assert (again.answer, again.place) == (0.5, 0.7)
    assert again.bands == ((0.4, "none"), (0.4, "low"), (0.65, "medium"))
    assert again.likeness is not None
    assert again.likeness.near(vectors[0]) == pytest.approx((0.5, 0.0))
    assert again.likeness.near(vectors[0], left_out=True) == pytest.approx((0.0, 0.0))


@pytest.mark.parametrize(
    "text", ["", "[]", '{"v": 2}', '{"v": 1, "encoder": "", "tools": 1, "strategies": {"hybrid": 3}}']
)
def test_a_broken_calibration_is_named(tmp_path: Path, text: str) -> None:
    """Whatever is in the file, the error says which file, and an index opens without it and says so."""
    (tmp_path / FILE).write_text(text)
    with pytest.raises(InvalidSource, match="calibration.json"):
        Calibration.read(tmp_path / FILE)
    ToolIndex.build(tmp_path, TOOLS, encoder="").close()
    with ToolIndex.open(tmp_path) as index:
        assert "calibration.json" in index.search("rain").notes[-1]
