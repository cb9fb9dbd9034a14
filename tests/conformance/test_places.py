"""Section 6 of the reference by its numbers, as far as its list has no item: orders, places, every strategy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from tests.agent.tools import SEARCH, Conversing, add, agent, getTime, getWeather, made, search, texts
from tests.strategies.test_decision import Judge
from toolsearch.agent.loop import returns_now
from toolsearch.agent.memory import ChatMemory
from toolsearch.agent.providers import Provided, ProviderRequest
from toolsearch.chat import Features
from toolsearch.encoders.opening import open_encoder
from toolsearch.errors import DuplicateTool
from toolsearch.strategies.decision import DecisionStrategy
from toolsearch.strategies.simple import SimpleStrategy
from toolsearch.strategies.vector import VectorStrategy
from toolsearch.testing.models import ScriptedModel, call
from toolsearch.tool import ReturnBehavior, SearchBehavior

STREAMING = pytest.mark.parametrize("streaming", [False, True], ids=["whole", "streaming"])
PINNED = SearchBehavior.ALWAYS_VISIBLE


def strategies() -> dict[str, Any]:
    return {
        "simple": SimpleStrategy(),
        "vector": VectorStrategy(encoder=open_encoder("builtin")),
        "decision": DecisionStrategy(model=Judge({"getWeather": 0.9})),
        **{name: name for name in ("auto", "hybrid", "lexical")},
    }


WEATHER = made("getWeather", "Returns the weather of a city")
CLOCK = made("getTime", "Returns the clock of a place")


@pytest.mark.parametrize("show", ["inline", "native", "proxy"])
@pytest.mark.parametrize("name", list(strategies()))
def test_6_any_strategy_in_any_way(name: str, show: str) -> None:
    """Search, find and call are the same loop, whatever finds and however it is shown."""
    strategy = strategies()[name]
    more = [made(f"gauge_{number}", f"Reads gauge {number}") for number in range(30)] if name == "auto" else []
    finder = "search_tools" if show == "proxy" and isinstance(strategy, str) else SEARCH
    given: dict[str, Any] = {"terms": ["weather"]} if name == "simple" else {"query": "weather of a city"}
    run = call("call_tool", name="getWeather", arguments={}) if show == "proxy" else call("getWeather")
    model = ScriptedModel([call(finder, **given)], [run], "sunny", features=Features(native_search=True))
    done = agent(model, [WEATHER, CLOCK, *more], search=strategy, show=show).run_sync("?")
    assert [one.executed for one in done.tool_executions] == [True, True]
    assert "getWeather" in done.tool_executions[0].result.attributes["found_tools"]
    assert (texts(done)[1], done.content) == ("done", "sunny")
    last = [spec.name for spec in (*model.requests[-1].tools, *model.requests[-1].deferred)]
    assert ("getWeather" in last) is (show != "proxy")


def names_given(tools: Sequence[Any], dynamic: bool = False) -> Provided:
    return Provided(function=lambda request: tools, dynamic=dynamic)


@STREAMING
def test_6_1_6_2_the_order_of_a_list(streaming: bool) -> None:
    """Always visible ones as they are registered, providers behind; the search; dynamic ones; what was found.

    The reference puts what earlier runs found before dynamic tools; here each list continues the one before.
    """
    tools = [
        names_given([made("from_provider", search=PINNED)]),
        getWeather,
        made("pinned", search=PINNED),
        names_given([made("dynamic")], dynamic=True),
        getTime,
    ]
    model = ScriptedModel(search("time"), search("weather"), "ok", "again")
    host = Conversing(streaming, agent(model, tools))
    host.say("?")
    first = ["pinned", "from_provider", SEARCH, "dynamic"]
    lists = [first, [*first, "getTime"], [*first, "getTime", "getWeather"]]
    assert [model.names(place) for place in range(3)] == lists
    host.say("?")
    assert model.names(3) == lists[2]


@STREAMING
def test_6_6_dynamic_tools_first_then_what_was_found(streaming: bool) -> None:
    """A provider that gives more after a round; the first of a name wins, nothing leaves, the mark is irrelevant."""
    rounds: list[int] = []

    def more(request: ProviderRequest) -> list[Any]:
        rounds.append(len(request.messages))
        return [made("later", search=PINNED), made("getTime", "another")] if len(rounds) == 2 else []

    model = ScriptedModel(search("weather"), call("later"), "ok")
    Conversing(streaming, agent(model, [getWeather, getTime, Provided(function=more, dynamic=True)])).say("?")
    assert model.names(1) == [SEARCH, "later", "getWeather"]
    assert model.names(2) == [SEARCH, "later", "getWeather"]
    assert rounds == [1, 3, 5]


def test_6_7_6_9_a_call_of_a_hidden_tool_shows_it() -> None:
    """Run only on request; without a memory it is hidden again in the next run."""
    model = ScriptedModel(call("add", a=1, b=2), call("add", a=1, b=2), "3", "again")
    host = agent(model, [getTime, add], memory=None)
    done = host.run_sync("?")
    assert [one.executed for one in done.tool_executions] == [False, True]
    host.run_sync("?")
    assert model.names(3) == [SEARCH]


@pytest.mark.parametrize("how", ["static", "provider", "dynamic"])
def test_6_10_the_search_tools_name_is_taken(how: str) -> None:
    """No tool may have it: refused when built or when the provider gives it, before the model is asked."""
    taken = made(SEARCH)
    given: Any = taken if how == "static" else names_given([taken], dynamic=how == "dynamic")
    model = ScriptedModel(search("x"), "ok")
    if how == "dynamic":
        done = agent(model, [getTime, given]).run_sync("?")
        assert done.tool_executions[0].result.name == SEARCH
        assert model.names(0).count(SEARCH) == 1
        return
    with pytest.raises(DuplicateTool, match=SEARCH):
        agent(model, [getTime, given]).run_sync("?")
    assert not model.requests


def test_6_11_what_was_found_beside_a_call_that_ends_the_run() -> None:
    """It matters through the memory: the next run sees it."""
    last = made("last", returns=ReturnBehavior.IMMEDIATE_IF_LAST, search=PINNED)
    model = ScriptedModel([search("weather"), call("last")], "next")
    host = agent(model, [last, getWeather])
    assert host.run_sync("?").content is None
    host.run_sync("?")
    assert model.names(1) == ["last", SEARCH, "getWeather"]


def test_6_12_a_union_in_order() -> None:
    """Several searches of one answer: each has its own result, the list has each tool once, in the order found."""
    model = ScriptedModel([search("time"), search("get"), search("add")], "ok")
    done = agent(model, [getWeather, getTime, add]).run_sync("?")
    found = [one.result.attributes["found_tools"] for one in done.tool_executions]
    assert found == [["getTime"], ["getWeather", "getTime"], ["add"]]
    assert model.names(1) == [SEARCH, "getTime", "getWeather", "add"]


def test_7_4_no_calls_never_end_a_run() -> None:
    """An empty list of results goes to the model."""
    assert returns_now([]) is False


def test_8_tokens_by_a_counter_of_your_own() -> None:
    """The window counts as it is told: here every message is one hundred tokens."""
    memory = ChatMemory(max_tokens=400, count=lambda messages: 100 * len(messages), evict_to="max")
    model = ScriptedModel(*"abcdef")
    host = agent(model, [getTime], memory=memory, hint=None)
    for number in range(6):
        host.run_sync(str(number))
    assert len(memory.messages()) == 4
    assert max(len(one.messages) for one in model.requests) <= 5
