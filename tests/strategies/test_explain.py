"""Explanations: why a tool is found, and why it is not."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.strategies.words_encoder import WordsEncoder
from toolsearch.protocols import ToolView
from toolsearch.strategies.corpus import MemoryCorpus, view
from toolsearch.strategies.explain import Explanation
from toolsearch.strategies.retrievers import RANKERS, open_retriever
from toolsearch.text import request_terms
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


def test_how_similarity_was_searched_is_told_where_it_counts(corpus: MemoryCorpus) -> None:
    """Words alone say nothing of similarity."""
    assert not explained(view(corpus), "refund_payment", strategy="lexical").notes


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


def test_a_tool_that_is_too_unlike_says_so(corpus: MemoryCorpus) -> None:
    """A tool that shares no word and is below the floor of likeness names both."""
    told = explained(view(corpus), "water_plants", "refund a payment", 4)
    assert told.rank is None
    assert "no word of it matches, and it is too unlike (cosine 0.00)" in told.text()
    assert told.missing == ("refund", "payment")


def test_of_several_needs_the_best_is_explained(corpus: MemoryCorpus) -> None:
    """The need that brings the tool is named, and the points add up for it."""
    needs = ["refund a payment to Ana", "water all the plants"]
    told = open_retriever().explain(needs, view(corpus), "water_plants", 2)
    assert (told.need, told.rank, told.found) == (needs[1], 1, True)
    assert "need 2 of 2" in told.text()
    assert open_retriever().explain(needs, view(corpus), "nowhere", 2).obstacle == "there is no tool with this id"


@settings(deadline=None, max_examples=40)
@given(st.data())
def test_parts_add_up_for_any_request_and_tool(data: st.DataObject) -> None:
    """Random catalogs and requests of one or more clauses: the points are the score, and the rank is the search's."""
    word = st.sampled_from(["open", "gate", "list", "ship", "berth", "crew", "map", "weigh", "港口", "船", "rechnung"])
    text = st.lists(word, min_size=1, max_size=7).map(" ".join)
    tools = [ToolSpec(name=f"t{i}_{data.draw(word)}", description=data.draw(text)) for i in range(6)]
    need = data.draw(st.lists(text, min_size=1, max_size=3).map(". Then ".join))
    seen = view(MemoryCorpus.build(tools, WordsEncoder(64)))
    strategy = data.draw(st.sampled_from(sorted(RANKERS)))
    found = open_retriever(strategy).search([need], seen, 6)
    for spec in tools:
        told = open_retriever(strategy).explain(need, seen, spec.id, 6)
        assert told.score == pytest.approx(sum(reason.points for reason in told.reasons))
        assert told.rank == (found.ids.index(spec.id) + 1 if spec.id in found.ids else None)
        assert bool(told.missing) == (len(told.words) < len(request_terms(need)))
