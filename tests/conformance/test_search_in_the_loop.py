"""The reference's list of what a search in the loop must do, by its numbers; whole and streaming."""

from __future__ import annotations

from typing import Any

import pytest

from tests.agent.tools import (
    SEARCH,
    Conversing,
    FindsAll,
    Spy,
    add,
    agent,
    getTime,
    getWeather,
    results,
    search,
    texts,
)
from toolsearch.agent.entries import Conversation, Entry
from toolsearch.agent.events import Event, ToolFinished, ToolStarted
from toolsearch.agent.memory import ChatMemory
from toolsearch.agent.providers import Provided
from toolsearch.catalog.functions import as_tool
from toolsearch.conversation import AssistantMessage, SystemMessage, ToolCall, ToolResult, UserMessage
from toolsearch.testing.models import ScriptedModel, call
from toolsearch.tool import SearchBehavior, Tool

STREAMING = pytest.mark.parametrize("streaming", [False, True], ids=["whole", "streaming"])


def given(how: str) -> list[Any]:
    """The two tools, as they are or from a provider."""
    tools = [getWeather, getTime]
    return tools if how == "static" else [Provided(function=lambda request: tools)]


def always(function: Any) -> Tool:
    tool = as_tool(function)
    return Tool(tool.spec.with_(search=SearchBehavior.ALWAYS_VISIBLE), tool.execute)


@STREAMING
@pytest.mark.parametrize("how", ["static", "provider"])
def test_01_02_04_a_found_tool_joins_and_stays(streaming: bool, how: str) -> None:
    """Search, found tool, call; the next run starts with it and searches only the rest."""
    model = ScriptedModel(
        search("weather"),
        call("getWeather", city="Paris"),
        "sunny",
        search("time"),
        call("getTime", city="Paris"),
        "noon",
    )
    spy, seen = Spy(), list[Event]()
    host = Conversing(streaming, agent(model, given(how), search=spy, system="be kind", hooks=[seen.append]))
    host.say("weather?")
    assert [model.names(place) for place in range(3)] == [[SEARCH], [SEARCH, "getWeather"], [SEARCH, "getWeather"]]
    assert spy.asked == [["getWeather", "getTime"]]
    kinds = [type(one) for one in model.requests[1].messages]
    assert kinds == [SystemMessage, UserMessage, AssistantMessage, ToolResult]
    [found] = results(model.requests[1])
    assert (found.name, found.text) == (SEARCH, "Tools found: getWeather")
    assert found.attributes["found_tools"] == ["getWeather"]
    started = next(one for one in seen if isinstance(one, ToolStarted))
    finished = next(one for one in seen if isinstance(one, ToolFinished))
    assert started.call.name == SEARCH
    assert finished.execution.result.text == "Tools found: getWeather"
    host.say("time?")
    assert model.names(3) == [SEARCH, "getWeather"]
    assert spy.asked[1] == ["getTime"]
    assert model.names(4) == model.names(5) == [SEARCH, "getWeather", "getTime"]
    assert model.left == 0
    assert spy.listed == 2


def test_03_without_memory_each_run_starts_anew() -> None:
    """Found tools live to the end of the run only."""
    model = ScriptedModel(search("weather"), "ok", search("time"), "ok")
    spy = Spy()
    host = Conversing(False, agent(model, [getWeather, getTime], search=spy, memory=None))
    host.say("weather?")
    host.say("time?")
    assert model.names(2) == [SEARCH]
    assert spy.asked == [["getWeather", "getTime"]] * 2
    assert model.names(3) == [SEARCH, "getTime"]


@STREAMING
@pytest.mark.parametrize("how", ["static", "provider"])
def test_05_two_searches_in_one_answer(streaming: bool, how: str) -> None:
    """Both run in order, each with its own result; the next request has both tools."""
    model = ScriptedModel([search("weather"), search("time")], [call("getWeather"), call("getTime")], "done")
    host = Conversing(streaming, agent(model, given(how), system="s"))
    done = host.say("weather and time?")
    first, second = results(model.requests[1])
    assert (first.text, second.text) == ("Tools found: getWeather", "Tools found: getTime")
    assert first.attributes["found_tools"] == ["getWeather"]
    assert second.attributes["found_tools"] == ["getTime"]
    assert model.names(1) == [SEARCH, "getWeather", "getTime"]
    assert len(model.requests[1].messages) == 5
    assert texts(done)[2:] == ["sunny", "12:00"]


@STREAMING
def test_06_overlapping_finds_are_one(streaming: bool) -> None:
    """Tools found twice are shown once; once all are visible nothing is left to find."""
    model = ScriptedModel([search("a"), search("b")], "ok", search("getDate"), "ok")
    spy = Spy(FindsAll())
    host = Conversing(streaming, agent(model, [getWeather, getTime], search=spy))
    host.say("all?")
    assert [one.text for one in results(model.requests[1])] == ["Tools found: getTime, getWeather"] * 2
    assert model.names(1) == [SEARCH, "getTime", "getWeather"]
    host.say("date?")
    assert spy.asked[-1] == []
    last = results(model.requests[3])[-1]
    assert (last.text, last.attributes["found_tools"]) == ("Tools found: ", [])
    assert len(model.names(3)) == 3


@STREAMING
@pytest.mark.parametrize("how", ["static", "provider"])
def test_07_search_and_call_in_one_answer(streaming: bool, how: str) -> None:
    """Both are answered in the order of the calls."""
    model = ScriptedModel(search("weather"), [search("time"), call("getWeather", city="Paris")], "ok")
    host = Conversing(streaming, agent(model, given(how)))
    host.say("?")
    found, weather = results(model.requests[2])[-2:]
    assert found.attributes["found_tools"] == ["getTime"]
    assert weather.text == "sunny"
    assert len(model.names(2)) == 3


@STREAMING
@pytest.mark.parametrize("how", ["static", "provider"])
def test_08_always_visible_tools_need_no_search(streaming: bool, how: str) -> None:
    """They come first, are never searched, and stay."""
    tools = [getWeather, getTime, always(add)]
    every = tools if how == "static" else [Provided(function=lambda request: tools)]
    model = ScriptedModel(call("add", a=1, b=2), search("weather"), "ok", "again")
    spy = Spy()
    host = Conversing(streaming, agent(model, every, search=spy))
    done = host.say("1+2?")
    host.say("and?")
    assert model.names(0) == ["add", SEARCH]
    assert spy.asked == [["getWeather", "getTime"]]
    assert texts(done)[0] == "3"
    assert model.names(3) == ["add", SEARCH, "getWeather"]


def remembered(*found: str) -> ChatMemory:
    """A memory with one old search that found these."""
    memory = ChatMemory(max_messages=100)
    old = ToolCall("old", SEARCH)
    messages = [
        UserMessage("before"),
        AssistantMessage("", (old,)),
        ToolResult.for_call(old, "found", attributes={"found_tools": list(found)}),
        AssistantMessage("ok"),
    ]
    entries = tuple(Entry("old", number, one) for number, one in enumerate(messages))
    memory.store.update("default", lambda _: Conversation(entries, {"search": "search"}))
    return memory


@pytest.mark.parametrize(
    ("found", "tools", "shown"),
    [
        pytest.param(["getWeather"], [getWeather, getTime], [SEARCH, "getWeather"], id="09-listed-and-available"),
        pytest.param(["getWeather", "getTime"], [getWeather], [SEARCH, "getWeather"], id="10-one-has-gone"),
        pytest.param(["getTime"], [], [SEARCH], id="11-nothing-is-left"),
        pytest.param(["getWeather"], [always(getWeather)], ["getWeather", SEARCH], id="12-once-when-always-visible"),
    ],
)
def test_09_10_11_12_restored_from_memory(found: list[str], tools: list[Any], shown: list[str]) -> None:
    """A restored list holds what is still there, each tool once."""
    model = ScriptedModel("hello")
    agent(model, tools, memory=remembered(*found)).run_sync("hi")
    assert model.names() == shown


def test_69_providers_are_asked_once_or_before_every_request() -> None:
    """A static provider is asked once per run, a dynamic one before each request; what it gave before stays."""
    asked: list[str] = []

    def fixed(request: Any) -> list[Any]:
        asked.append("static")
        return [getWeather]

    def dynamic(request: Any) -> list[Any]:
        asked.append("dynamic")
        return [getTime] if asked.count("dynamic") == 1 else [add]

    model = ScriptedModel(search("weather"), "ok")
    tools = [Provided(function=fixed), Provided(function=dynamic, dynamic=True)]
    agent(model, tools).run_sync("?")
    assert asked.count("static") == 1
    assert model.names(0) == [SEARCH, "getTime"]
    assert set(model.names(1)) == {SEARCH, "getTime", "getWeather", "add"}


@pytest.mark.parametrize("given", [None, []])
def test_69_a_provider_may_give_nothing(given: Any) -> None:
    """None and an empty list add nothing."""
    model = ScriptedModel("ok")
    agent(model, [getWeather, Provided(function=lambda request: given)]).run_sync("?")
    assert model.names() == [SEARCH]


@STREAMING
def test_71_the_question_travels_with_the_run(streaming: bool) -> None:
    """With a window of two the question is evicted from memory, and each request still has it first."""
    model = ScriptedModel(search("weather"), call("getWeather"), call("getWeather", city="x"), "sunny")
    dynamic = Provided(function=lambda request: [getTime], dynamic=True)
    host = Conversing(streaming, agent(model, [getWeather, dynamic], memory=ChatMemory(max_messages=2)))
    assert host.say("is it dry?").content == "sunny"
    assert all(UserMessage("is it dry?") in one.messages for one in model.requests)
    assert "getTime" in model.names(3)
