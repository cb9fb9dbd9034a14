"""Explanations: why a tool is found, and why it is not."""

from __future__ import annotations

import pytest

from tests.strategies.words_encoder import WordsEncoder
from toolsearch.protocols import ToolView
from toolsearch.strategies.corpus import MemoryCorpus, view
from toolsearch.strategies.explain import Explanation
from toolsearch.strategies.retrievers import RANKERS, open_retriever
from toolsearch.tool import ToolSpec

TOOLS = [
    ToolSpec(
        name="refund_payment",
        description="Give money back",
        parameters={"type": "object", "properties": {"payment_id": {"description": "which payment"}}},
    ),
    ToolSpec(name="list_payments", description="Payments of a customer", tags=("old",)),
    ToolSpec(name="water_plants", description="Water the plants"),
    ToolSpec(name="secret_refund", description="Refund a payment in secret", groups=("admin",)),
]
NEED = "refund a payment to Ana"


@pytest.fixture
def corpus() -> MemoryCorpus:
    return MemoryCorpus.build(TOOLS, WordsEncoder(256))


def explained(seen: ToolView, tool_id: str, need: str = NEED, k: int = 1, strategy: str = "hybrid") -> Explanation:
    return open_retriever(strategy).explain(need, seen, tool_id, k)


@pytest.mark.parametrize("strategy", sorted(RANKERS))
@pytest.mark.parametrize("tool_id", [spec.id for spec in TOOLS])
@pytest.mark.parametrize("need", [NEED, "water_plants", "Refund the payment now. Then water all the plants."])
def test_parts_add_up_to_the_score(corpus: MemoryCorpus, strategy: str, tool_id: str, need: str) -> None:
    """For found and not found tools the points add up, and agree with the search."""
    one = explained(view(corpus), tool_id, need, 4, strategy)
    assert one.score == pytest.approx(sum(reason.points for reason in one.reasons))
    for place, hit in enumerate(open_retriever(strategy).search([need], view(corpus), 4), 1):
        if hit.id == tool_id:
            assert (one.rank, one.score) == (place, pytest.approx(hit.score))


def test_a_found_tool_says_which_words_stand_where(corpus: MemoryCorpus) -> None:
    """Words are given with their fields, and those that are missing too."""
    one = explained(view(corpus, groups=[]), "refund_payment")
    assert one.found
    assert dict(one.words) == {
        "refund": ("name",),
        "payment": ("name", "parameter names", "parameter descriptions"),
    }
    assert one.missing == ("ana",)
    assert "found, rank 1" in one.text()
    assert "word 'refund': in name" in one.text()


def test_a_tool_below_the_cut_says_how_far(corpus: MemoryCorpus) -> None:
    """The rank and the points that are missing are named."""
    one = explained(view(corpus, groups=[]), "list_payments")
    assert not one.found
    assert one.rank == 2
    assert "not found, rank 2 is below the first 1" in one.text()
    assert "points short" in one.text()


def test_a_filtered_tool_says_so(corpus: MemoryCorpus) -> None:
    """A filter that leaves a tool out is named as the reason."""
    one = explained(view(corpus, condition="not exists tags"), "list_payments")
    assert not one.found
    assert "the filter leaves it out" in one.text()


def test_an_excluded_tool_says_so(corpus: MemoryCorpus) -> None:
    """So is an exclusion."""
    assert "left out on purpose" in explained(view(corpus, exclude_ids=["list_payments"]), "list_payments").text()


def test_a_hidden_tool_is_explained_like_one_that_does_not_exist(corpus: MemoryCorpus) -> None:
    """Nothing about a tool that the caller may not see comes out."""
    hidden = explained(view(corpus, groups=[]), "secret_refund").text()
    assert hidden == explained(view(corpus, groups=[]), "nowhere").text().replace("nowhere", "secret_refund")


def test_a_tool_without_any_word_of_the_request_says_so() -> None:
    """Without vectors, a tool that shares no word is not ranked at all."""
    corpus = MemoryCorpus.build(TOOLS)
    assert "no word of it matches" in explained(view(corpus), "water_plants").text()
