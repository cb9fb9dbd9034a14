"""The vector strategy keeps the reference's rules; numbers in names are those of its conformance list."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence

import numpy as np
import pytest

from tests.strategies.words_encoder import WordsEncoder
from toolsearch.errors import InvalidInput, ToolErrorForModel
from toolsearch.protocols import Role, ToolSearchRequest, ToolSearchResult
from toolsearch.strategies.corpus import MemoryCorpus, view
from toolsearch.strategies.vector import VectorStrategy
from toolsearch.tool import ToolSpec

WEATHER = ToolSpec(name="getWeather", description="Returns the weather of a city")
TIME = ToolSpec(name="getTime", description="Returns the clock of a place")
BARE = ToolSpec(name="ping", description="  ")


class CountingEncoder(WordsEncoder):
    """Remembers every call."""

    def __init__(self) -> None:
        super().__init__(64)
        self.calls: list[tuple[Role, list[str]]] = []

    def encode(self, texts: Sequence[str], role: Role) -> np.ndarray:
        self.calls.append((role, list(texts)))
        return super().encode(texts, role)


def called(strategy: VectorStrategy, query: object, *specs: ToolSpec) -> ToolSearchResult:
    searchable = view(MemoryCorpus.build(specs or (WEATHER, TIME, BARE)))
    raw = query if isinstance(query, str) and query.startswith("{") else json.dumps({"query": query})
    request = ToolSearchRequest(tool_name="tool_search_tool", arguments=raw, searchable=searchable)
    return asyncio.run(strategy.search(request))


def test_the_search_tool_is_the_reference_s() -> None:
    """Name, texts and schema are as in the reference."""
    [spec] = VectorStrategy(encoder=WordsEncoder()).search_tools()
    assert (spec.name, spec.description) == ("tool_search_tool", "Finds available tools using semantic vector search")
    assert spec.parameters == {
        "type": "object",
        "properties": {"query": {"type": "string", "description": "Natural language query describing desired tool"}},
        "required": ["query"],
    }


def test_36_one_request_for_all_tools() -> None:
    """The first search encodes every tool's text in one call, and the query in one of its own."""
    encoder = CountingEncoder()
    called(VectorStrategy(encoder=encoder), "weather")
    assert encoder.calls == [
        ("query", ["weather"]),
        ("tool", ["getWeather: Returns the weather of a city", "getTime: Returns the clock of a place", "ping"]),
    ]


def test_37_max_results() -> None:
    """Only the best tool is found when one is asked for."""
    result = called(VectorStrategy(encoder=WordsEncoder(64), max_results=1), "weather of a city")
    assert result.found == ("getWeather",)
    assert result.text == "Tools found: getWeather"


def test_38_and_39_later_searches_encode_the_query_only() -> None:
    """Vectors of tools are kept; the query is encoded each time, and the answers are whole."""
    encoder = CountingEncoder()
    strategy = VectorStrategy(encoder=encoder)
    first, second = called(strategy, "clock"), called(strategy, "clock")
    assert first == second
    assert len(second.found) == 3
    assert encoder.calls[2:] == [("query", ["clock"])]


def test_a_query_that_equals_a_tools_text_is_no_special_case() -> None:
    """A tool's text asked as the query leaves the cache whole."""
    encoder = CountingEncoder()
    strategy = VectorStrategy(encoder=encoder)
    for _ in range(2):
        called(strategy, "ping")
    assert [role for role, _ in encoder.calls] == ["query", "tool", "query"]


def test_40_clearing_encodes_everything_again() -> None:
    """After the cache is cleared all tools are encoded in one call."""
    encoder = CountingEncoder()
    strategy = VectorStrategy(encoder=encoder)
    called(strategy, "clock")
    strategy.clear_embeddings_cache()
    called(strategy, "clock")
    assert [len(texts) for role, texts in encoder.calls if role == "tool"] == [3, 3]


def test_without_a_cache_there_is_nothing_to_clear() -> None:
    """Clearing what is not kept is an error; every search encodes all tools."""
    encoder = CountingEncoder()
    strategy = VectorStrategy(encoder=encoder, cache_embeddings=False)
    with pytest.raises(InvalidInput, match="Not caching embeddings, nothing to clear"):
        strategy.clear_embeddings_cache()
    for _ in range(2):
        called(strategy, "clock")
    assert [len(texts) for role, texts in encoder.calls if role == "tool"] == [3, 3]


def test_min_score_is_on_relevance() -> None:
    """The minimum applies to (cosine + 1) / 2; the default never filters."""
    assert len(called(VectorStrategy(encoder=WordsEncoder(64)), "zebra").found) == 3
    assert called(VectorStrategy(encoder=WordsEncoder(64), min_score=0.75), "weather of a city").found == (
        "getWeather",
    )


def test_no_tools_but_the_query_is_encoded() -> None:
    """Without tools the answer is empty."""
    encoder = CountingEncoder()
    request = ToolSearchRequest(tool_name="x", arguments='{"query": "a"}', searchable=view(MemoryCorpus.build([])))
    assert asyncio.run(VectorStrategy(encoder=encoder).search(request)).text == "No matching tools found"
    assert encoder.calls == [("query", ["a"])]


@pytest.mark.parametrize("arguments", ["{}", '{"query": null}'])
def test_missing_query(arguments: str) -> None:
    """A missing or null query is an error for the model."""
    with pytest.raises(ToolErrorForModel, match="^Missing required tool argument 'query'$"):
        called(VectorStrategy(encoder=WordsEncoder()), arguments)


def test_any_json_value_is_a_query() -> None:
    """Numbers and lists are written out."""
    assert len(called(VectorStrategy(encoder=WordsEncoder()), ["clock", 5]).found) == 3


def test_the_text_of_a_tool_can_be_changed() -> None:
    """The format hook gives the text that is encoded."""
    encoder = CountingEncoder()
    called(VectorStrategy(encoder=encoder, format=lambda spec: spec.name.upper()), "clock")
    assert encoder.calls[1] == ("tool", ["GETWEATHER", "GETTIME", "PING"])
