"""How much a place in the ranking says beside a judge: found from judged requests."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from toolsearch import ToolIndex, ToolSpec
from toolsearch.evaluation.judged import JudgedQuery
from toolsearch.evaluation.placing import MOST, place
from toolsearch.questions import Decision, Question, State, YesNo, YesNoAnswer
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


def placed(judge: Judge, queries: list[JudgedQuery] = QUERIES) -> float:
    return place(Reranked(ranker=open_retriever("lexical").ranker, judge=judge), VIEW, queries)


def test_a_judge_who_is_wrong_leaves_the_order_to_the_ranking() -> None:
    """One who prefers the wrong tools is outvoted by any place."""
    assert placed(Judge(0.6, 0.4, verb="drop")) == MOST


def test_a_judge_who_tells_nothing_is_outvoted() -> None:
    """The ranking knows the right tool here, so its places say much more than equal answers."""
    assert placed(Judge(0.5, 0.5)) > 1


def test_too_few_requests_fit_nothing() -> None:
    """The judge's order stays as it is."""
    assert placed(Judge(0.5, 0.5), QUERIES[:5]) == 0
    assert place(Reranked(ranker=open_retriever("lexical").ranker, judge=Judge(0.9, 0.1)), VIEW, []) == 0


@pytest.mark.parametrize("right", [0.7, 0.9])
def test_the_surer_the_judge_the_more_a_place_must_say(right: float) -> None:
    """Logits that are twice as large need a place twice as large for the same order."""
    assert placed(Judge(right, 1 - right)) > 0
