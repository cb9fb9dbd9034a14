"""The simple strategy keeps the reference's rules; numbers in names are those of its conformance list."""

from __future__ import annotations

import asyncio
import json

import pytest

from toolsearch.errors import InvalidInput, ToolArgumentsError, ToolErrorForModel, ToolExecutionError
from toolsearch.protocols import ToolSearchRequest, ToolSearchResult
from toolsearch.strategies.calls import SearchTool
from toolsearch.strategies.corpus import MemoryCorpus, view
from toolsearch.strategies.simple import TOOL, SimpleStrategy, search_words, simple_score
from toolsearch.tool import SearchBehavior, ToolSpec

WEATHER = ToolSpec(name="get_weather", description="Returns the current forecast for a city")
TIME = ToolSpec(name="get_time", description="Returns the current clock reading")
BARE = ToolSpec(name="ping")
THROWING = SimpleStrategy(
    tool=SearchTool(
        description=TOOL.description,
        argument=TOOL.argument,
        argument_description=TOOL.argument_description,
        many=True,
        throw_arguments_errors=True,
    )
)


def called(arguments: object, strategy: SimpleStrategy | None = None, *specs: ToolSpec) -> ToolSearchResult:
    raw = arguments if isinstance(arguments, str) else json.dumps(arguments)
    searchable = view(MemoryCorpus.build(specs or (WEATHER, TIME, BARE)))
    request = ToolSearchRequest(tool_name="tool_search_tool", arguments=raw, searchable=searchable)
    return asyncio.run((strategy or SimpleStrategy()).search(request))


def score(spec: ToolSpec, *terms: str) -> int:
    return simple_score(spec, search_words(terms))


def test_the_search_tool_is_the_reference_s() -> None:
    """Name, texts and schema are as in the reference, and the tool is always shown."""
    [spec] = SimpleStrategy().search_tools()
    assert spec.name == "tool_search_tool"
    assert spec.description == "Finds available tools whose name or description contains given search terms"
    assert spec.parameters["required"] == ["terms"]
    assert spec.parameters["properties"]["terms"]["items"] == {"type": "string"}
    assert spec.search is SearchBehavior.ALWAYS_VISIBLE


def test_18_nothing_matches() -> None:
    """Terms that occur nowhere find nothing, and the text says so."""
    result = called({"terms": ["invoice"]})
    assert result.found == ()
    assert result.text == "No matching tools found"


@pytest.mark.parametrize(
    ("terms", "points"),
    [
        (["zebra"], 0),
        (["forecast"], 1),
        (["weather"], 2),
        (["city", "weather"], 3),
        (["weather", "forecast", "city"], 4),
    ],
)
def test_19_to_23_points(terms: list[str], points: int) -> None:
    """A word in the name counts 2, in the description 1; words are summed."""
    assert score(WEATHER, *terms) == points


def test_22_both_name_and_description() -> None:
    """A word in name and description counts 3."""
    assert score(ToolSpec(name="pay", description="Pay a bill"), "pay") == 3


def test_24_repeated_terms_count_once() -> None:
    """Saying a word twice adds nothing."""
    assert score(WEATHER, "weather", "WEATHER weather") == 2


def test_25_case_does_not_matter() -> None:
    """Case is ignored on both sides."""
    assert score(ToolSpec(name="GetWeather"), "gEtweaTHER") == 2


def test_26_no_description() -> None:
    """A tool without a description is searched by its name."""
    assert called({"terms": ["ping"]}).found == ("ping",)


def test_27_max_results() -> None:
    """One result when one is asked for, the first of equal ones."""
    assert called({"terms": ["get"]}, SimpleStrategy(max_results=1)).found == ("get_weather",)


def test_ties_keep_the_order_of_the_tools() -> None:
    """Equal points keep the catalog's order; the text lists names in that order."""
    result = called({"terms": ["current", "clock"]})
    assert result.found == ("get_time", "get_weather")
    assert result.text == "Tools found: get_time, get_weather"


@pytest.mark.parametrize("arguments", [{}, None, {"other": 1}])
def test_28_missing_argument(arguments: object) -> None:
    """Without the argument the model is told which one is missing."""
    with pytest.raises(ToolErrorForModel, match="^Missing required tool argument 'terms'$"):
        called(arguments)


@pytest.mark.parametrize("terms", ["weather", 5, None, {"a": 1}])
def test_29_terms_that_are_no_list(terms: object) -> None:
    """A value that is not a list is refused."""
    with pytest.raises(ToolExecutionError, match="^Tool argument 'terms' must be an array of strings$"):
        called({"terms": terms})


@pytest.mark.parametrize("arguments", [{}, {"terms": "weather"}, "not json"])
def test_30_arguments_errors_on_request(arguments: object) -> None:
    """With the flag, wrong arguments are arguments errors."""
    with pytest.raises(ToolArgumentsError):
        called(arguments, THROWING)


@pytest.mark.parametrize("raw", ["not json", "[1]", '"x"', '{"terms": [', "[" * 100_000])
def test_unreadable_arguments_are_shown_whole(raw: str) -> None:
    """The model sees its own text again, plain and in base64, up to a bound."""
    with pytest.raises(ToolErrorForModel, match=r"^Failed to parse tool search arguments: '") as caught:
        called(raw)
    assert len(str(caught.value)) < 6_000
    if raw == "not json":
        assert str(caught.value).endswith("'not json' (base64: 'bm90IGpzb24=')")


def test_31_and_32_phrases_are_split() -> None:
    """Terms of several words count word by word."""
    assert score(TIME, "current time", "time in London") > 0
    assert called({"terms": ["time in London"]}).found[0] == "get_time"


def test_33_lower_case_knows_no_locale() -> None:
    """A capital I is the i of English everywhere."""
    spec = ToolSpec(name="listInvoices", description="Returns all Invoices of a customer")
    assert score(spec, "invoices") == 3
    assert score(spec, "INVOICES") == 3


def test_34_dotless_i_is_another_letter() -> None:
    """A term with a dotless i matches nothing written with an i."""
    assert score(ToolSpec(name="listInvoices", description="Returns all Invoices"), "ınvoıces") == 0


def test_elements_of_other_types_are_written_out() -> None:
    """Null elements are dropped; numbers and booleans are text."""
    assert called({"terms": [None, 3, True]}, None, ToolSpec(name="rule3"), ToolSpec(name="is_true")).found == (
        "rule3",
        "is_true",
    )


def test_an_empty_list_finds_nothing() -> None:
    """No terms, no points, no tools."""
    assert called({"terms": []}).found == ()


def test_min_score_zero_lets_everything_pass() -> None:
    """As in the reference, a minimum of 0 returns tools without any match."""
    assert len(called({"terms": []}, SimpleStrategy(min_score=0)).found) == 3


def test_max_results_must_be_positive() -> None:
    """A strategy that can find nothing is refused when it is made."""
    with pytest.raises(InvalidInput, match="max_results is 0"):
        SimpleStrategy(max_results=0)
