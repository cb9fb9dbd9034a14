"""The search tool over any retriever: what the model reads, and which tools are found."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence

import pytest

from tests.strategies.words_encoder import WordsEncoder
from toolsearch.errors import InvalidInput, ToolErrorForModel
from toolsearch.protocols import SearchResult, ToolSearchRequest, ToolSearchResult, ToolView
from toolsearch.strategies.answering import LINE, RetrieverStrategy
from toolsearch.strategies.corpus import MemoryCorpus, view
from toolsearch.strategies.retrievers import open_retriever
from toolsearch.tool import ToolSpec

TOOLS = [
    ToolSpec(name="send_mail", description="Send a letter\n by mail", namespace="mail"),
    ToolSpec(name="send_parcel", description="Send a parcel by mail", namespace="post"),
    ToolSpec(name="send_fax", description="Send a fax"),
    ToolSpec(name="read_mail", description="Read a letter " + "of many words " * 40, namespace="mail"),
]


def called(
    query: object, strategy: RetrieverStrategy | None = None, visible: Sequence[ToolSpec] = (), **more: object
) -> ToolSearchResult:
    corpus = MemoryCorpus.build(TOOLS, WordsEncoder(256))
    searchable = view(corpus, exclude_ids=[spec.id for spec in visible], **more)  # type: ignore[arg-type]
    request = ToolSearchRequest(
        tool_name="tool_search_tool", arguments=json.dumps({"query": query}), searchable=searchable, visible=visible
    )
    return asyncio.run((strategy or strategy_of()).search(request))


def strategy_of(**more: object) -> RetrieverStrategy:
    return RetrieverStrategy(retriever=open_retriever(), **more)  # type: ignore[arg-type]


def test_the_search_tool_takes_one_query() -> None:
    """Its default name and argument are those of the reference strategies."""
    [spec] = strategy_of().search_tools()
    assert spec.name == "tool_search_tool"
    assert spec.parameters["required"] == ["query"]


def test_the_answer_lists_names_and_what_they_do() -> None:
    """One line for each tool, in the order found, and how many others there are."""
    result = called("send a letter by mail", strategy_of(max_results=2))
    assert result.found == ("mail/send_mail", "post/send_parcel")
    assert result.text.splitlines() == [
        "Tools found:",
        "- send_mail: Send a letter by mail",
        "- send_parcel: Send a parcel by mail",
        "2 other tools match less well; search again in other words if none of these fits.",
    ]


def test_long_descriptions_are_cut_to_one_line() -> None:
    """A description takes at most LINE characters, its mark included."""
    lines = called("read mail", strategy_of(max_results=1)).text.splitlines()
    assert lines[1].endswith("...")
    assert len(lines[1]) <= LINE + len("- read_mail: ")


def test_visible_tools_are_named_and_take_no_place() -> None:
    """What the model already sees is said to be available; the places go to others."""
    result = called("send a letter by mail", strategy_of(max_results=2), visible=TOOLS[:1])
    assert result.found[0] == "post/send_parcel"
    assert len(result.found) == 2
    assert result.text.startswith("Already available: send_mail\nTools found:")


def test_only_visible_tools_fit() -> None:
    """When all that fits is visible already, the answer does not say that nothing matches."""
    result = called("send a letter by mail", strategy_of(max_results=2), visible=TOOLS)
    assert result.found == ()
    assert result.text.startswith("Already available: send_mail")
    assert "No matching" not in result.text


def test_a_small_budget_shortens_the_list() -> None:
    """Tools whose line does not fit the tokens are not found; they are counted as others."""
    result = called("send mail", strategy_of(max_results=4, max_tokens=12))
    assert len(result.found) == 1
    assert "3 other tools" in result.text


def test_the_name_that_the_model_knows_is_used() -> None:
    """Names can be those that a provider is shown."""
    strategy = strategy_of(max_results=1, name_of=lambda spec: spec.id.replace("/", "__"))
    assert "- mail__send_mail:" in called("send a letter by mail", strategy).text


@pytest.mark.parametrize("query", ["", "  ", None])
def test_an_empty_query_is_an_error_for_the_model(query: object) -> None:
    """The model is told which argument is missing."""
    with pytest.raises(ToolErrorForModel, match="Missing required tool argument 'query'"):
        called(query)


def test_a_query_without_words_finds_nothing_and_says_why() -> None:
    """A wild card never returns the catalog."""
    result = called("*")
    assert result.found == ()
    assert result.text.startswith("No matching tools found\nNote: '*' has no words")


def test_a_refusal_of_the_retriever_reaches_the_model() -> None:
    """What the retriever will not do is told in its own words."""

    class Refusing:
        def search(self, needs: Sequence[str], view: ToolView, k: int) -> SearchResult:
            raise InvalidInput("no more than ten words")

    with pytest.raises(ToolErrorForModel, match="no more than ten words"):
        called("send", RetrieverStrategy(retriever=Refusing()))


@pytest.mark.parametrize("field", ["max_results", "max_tokens"])
def test_bounds_must_be_positive(field: str) -> None:
    """A strategy that can say nothing is refused when it is made."""
    with pytest.raises(InvalidInput, match=field):
        strategy_of(**{field: 0})
