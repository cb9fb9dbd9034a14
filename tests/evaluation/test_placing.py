"""How much a place in the ranking says beside a judge: found from judged requests."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from toolsearch import ToolIndex, ToolSpec
from toolsearch.evaluation.judged import JudgedQuery
from toolsearch.evaluation.placing import placed
from toolsearch.questions import Decision, Question, State, YesNo, YesNoAnswer
from toolsearch.strategies.calibration import Fitted
from toolsearch.strategies.reranking import Reranked
from toolsearch.strategies.retrievers import open_retriever

WORDS = (
    "invoice",
    "letter",
    "meeting",
    "parcel",
    "ticket",
    "photo",
    "note",
    "order",
    "refund",
    "report",
    "task",
    "user",
)
TOOLS = [
    ToolSpec(name=f"{verb}_{word}", description=f"{verb} one {word}") for word in WORDS for verb in ("make", "drop")
]
VIEW = ToolIndex.from_tools(TOOLS, encoder=None).view()
QUERIES = [
    JudgedQuery(id=word, query=f"please make the {word} now", relevant={f"make_{word}": 1}, kind="", lang="en")
    for word in WORDS
]


class Judge:
    """Gives `right` to tools whose name begins with a verb, `wrong` to others."""

    def __init__(self, right: float, wrong: float, verb: str = "make") -> None:
        self.right, self.wrong, self.verb = right, wrong, verb

    async def decide(self, state: State, questions: Mapping[str, Question]) -> Decision:
        return Decision(answers={name: YesNoAnswer(self._chance(one)) for name, one in questions.items()})

    def _chance(self, question: Question) -> float:
        assert isinstance(question, YesNo)
        return self.right if f"Name: {self.verb}" in question.text else self.wrong


def said(judge: Judge, queries: list[JudgedQuery] = QUERIES) -> Fitted:
    return placed(Reranked(ranker=open_retriever("lexical").ranker, judge=judge), VIEW, queries)


def test_a_judge_who_is_wrong_has_no_say() -> None:
    """One who prefers the wrong tools leaves the order to the ranking."""
    found = said(Judge(0.6, 0.4, verb="drop"))
    assert found.answer == 0
    assert found.place > 0


def test_a_judge_who_tells_nothing_is_outvoted() -> None:
    """The ranking knows the right tool here, so its places decide between equal answers."""
    assert said(Judge(0.5, 0.5)).place > 0


def test_a_judge_who_knows_has_a_say() -> None:
    """Where the right tools get the higher answers, answers count."""
    assert said(Judge(0.9, 0.1)).answer > 0.2


@pytest.mark.parametrize("few", [[], QUERIES[:5]])
def test_too_few_requests_fit_nothing(few: list[JudgedQuery]) -> None:
    """The judge's order stays as it is."""
    assert said(Judge(0.5, 0.5), few) == Fitted()
