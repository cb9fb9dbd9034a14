"""Statements of the reference's sections 6 to 8 that its own list has no number for, and what that list leaves out."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from tests.agent.tools import SEARCH, Conversing, Spy, add, agent, getTime, getWeather, made, results, search, texts
from tests.strategies.test_vector import CountingEncoder
from toolsearch.agent.entries import Conversation, Entry
from toolsearch.agent.events import Event, ToolFinished, ToolStarted
from toolsearch.agent.handlers import Handlers, send_message
from toolsearch.agent.memory import ChatMemory
from toolsearch.agent.results import ToolReturn
from toolsearch.chat import ChatResponse
from toolsearch.conversation import AssistantMessage, ToolCall, ToolResult, Usage, UserMessage
from toolsearch.strategies.vector import VectorStrategy
from toolsearch.testing.models import ScriptedModel, call
from toolsearch.tool import ToolSpec

STREAMING = pytest.mark.parametrize("streaming", [False, True], ids=["whole", "streaming"])


def weather() -> Any:
    return made("getWeather", "Returns the weather of a city")


def clock() -> Any:
    return made("getTime", "Returns the clock of a place")


@STREAMING
def test_35_terms_are_the_argument_of_the_simple_search(streaming: bool) -> None:
    """End to end: the model is shown `terms`, uses it, and calls what it found."""
    model = ScriptedModel(call(SEARCH, terms=["current weather"]), call("getWeather", city="Oslo"), "sunny")
    done = Conversing(streaming, agent(model, [getWeather, getTime])).say("weather in Oslo?")
    assert model.requests[0].tools[0].parameters["required"] == ["terms"]
    assert (done.content, texts(done)) == ("sunny", ["Tools found: getWeather", "sunny"])


@STREAMING
def test_36_37_38_vector_search_in_the_loop(streaming: bool) -> None:
    """One call encodes both tools, the best one joins, and the next run's search encodes its query only."""
    encoder = CountingEncoder()
    model = ScriptedModel(call(SEARCH, query="weather of a city"), "ok", call(SEARCH, query="clock of a place"), "ok")
    strategy = VectorStrategy(encoder=encoder, max_results=1)
    host = Conversing(streaming, agent(model, [weather(), clock()], search=strategy))
    host.say("weather?")
    encoded = [said for role, said in encoder.calls if role == "tool"]
    assert encoded == [["getWeather: Returns the weather of a city", "getTime: Returns the clock of a place"]]
    assert model.names(1) == [SEARCH, "getWeather"]
    host.say("time?")
    assert encoder.calls[2:] == [("query", ["clock of a place"])]
    assert model.names(3) == [SEARCH, "getWeather", "getTime"]


def test_6_3_what_was_found_in_this_run_is_not_searched_again() -> None:
    """Searchable is what is not visible, at the time of each search; the reference's snapshot is one of its holes."""
    spy = Spy()
    model = ScriptedModel(search("weather"), search("time"), "ok")
    agent(model, [getWeather, getTime, add], search=spy).run_sync("?")
    assert spy.asked == [["getWeather", "getTime", "add"], ["getTime", "add"]]


@STREAMING
def test_6_4_any_result_may_bring_tools_in(streaming: bool) -> None:
    """Not only the search tool's: the attribute of any tool's result counts, in the order of the calls."""

    def guide() -> ToolReturn:
        return ToolReturn("look at these", {"found_tools": ["getTime", "ghost", "getWeather"]})

    model = ScriptedModel(call("guide"), "ok", "again")
    host = Conversing(streaming, agent(model, [guide, getWeather, getTime], always_visible=["guide"]))
    host.say("?")
    assert model.names(1) == ["guide", SEARCH, "getTime", "getWeather"]
    host.say("?")
    assert model.names(2) == ["guide", SEARCH, "getTime", "getWeather"]


@pytest.mark.parametrize("arguments", ["{}", '{"terms": "weather"}', "{"])
def test_6_4_a_failed_search_finds_nothing(arguments: str) -> None:
    """The model is told what is wrong with it, and the result carries no found tools."""
    model = ScriptedModel(call(SEARCH, arguments), "ok")
    done = agent(model, [getWeather]).run_sync("?")
    [one] = done.tool_executions
    assert (one.failed, "found_tools" in one.result.attributes) == (True, False)
    assert "argument" in one.result.text
    assert model.names(1) == [SEARCH]


@pytest.mark.parametrize("stored", ["getWeather", 7, {"a": 1}, [1, None, "getTime"], None])
def test_6_13_foreign_values_in_a_stored_history(stored: Any) -> None:
    """What is no list of names counts as nothing found; the run goes on."""
    memory, old = ChatMemory(max_messages=100), ToolCall("old", SEARCH)
    found = ToolResult.for_call(old, "found", attributes={"found_tools": stored})
    messages = [UserMessage("before"), AssistantMessage("", (old,)), found, AssistantMessage("ok")]
    entries = tuple(Entry("old", place, one) for place, one in enumerate(messages))
    memory.store.update("default", lambda _: Conversation(entries, {"search": "search"}))
    model = ScriptedModel("hi")
    agent(model, [getWeather, getTime], memory=memory).run_sync("?")
    assert model.names() == ([SEARCH, "getTime"] if isinstance(stored, list) else [SEARCH])


def test_6_15_a_search_over_nothing() -> None:
    """The search tool is shown even where there is nothing to find."""
    model = ScriptedModel(search("weather"), "ok")
    done = agent(model, []).run_sync("?")
    assert model.names(0) == [SEARCH]
    assert texts(done) == ["No matching tools found"]


@STREAMING
def test_7_1_usage_is_summed(streaming: bool) -> None:
    """Over all requests of a run."""

    def said(message: AssistantMessage) -> ChatResponse:
        finish = "tool_calls" if message.calls else "stop"
        return ChatResponse(message=message, usage=Usage(input_tokens=10, output_tokens=2), finish=finish)

    model = ScriptedModel(said(AssistantMessage("", (ToolCall("1", "getTime"),))), said(AssistantMessage("noon")))
    done = Conversing(streaming, agent(model, [getTime], search=None)).say("?")
    assert (done.usage.input_tokens, done.usage.output_tokens) == (20, 4)


@pytest.mark.parametrize("concurrent", [False, True])
def test_7_3_equal_calls_keep_their_own_results(concurrent: bool) -> None:
    """Two calls with the same name, arguments and even id of one answer both run; each gets its own result."""
    ran: list[int] = []

    def count() -> int:
        ran.append(1)
        return len(ran)

    model = ScriptedModel([call("count"), call("count")], "ok")
    done = agent(model, [count], search=None, concurrent=concurrent).run_sync("?")
    assert sorted(texts(done)) == ["1", "2"]
    assert [one.text for one in results(model.requests[1])] == texts(done)


def test_7_5_an_error_without_a_text() -> None:
    """Its class stands for it, when messages are sent at all."""

    def fails() -> None:
        raise KeyError

    handlers = Handlers(execution=send_message)
    done = agent(ScriptedModel(call("fails"), "ok"), [fails], search=None, handlers=handlers).run_sync("?")
    assert texts(done) == ["KeyError"]


@STREAMING
def test_7_9_watchers_see_every_call(streaming: bool) -> None:
    """Searches and names that no tool has, too: before and after, with the result."""
    seen: list[Event] = []
    model = ScriptedModel([search("weather"), call("ghost")], "ok")
    Conversing(streaming, agent(model, [getWeather], hooks=[seen.append])).say("?")
    before = [(one.call.name, one.spec is None) for one in seen if isinstance(one, ToolStarted)]
    after = [(one.execution.call.name, one.execution.failed) for one in seen if isinstance(one, ToolFinished)]
    assert before == [(SEARCH, False), ("ghost", True)]
    assert after == [(SEARCH, False), ("ghost", True)]


def test_7_10_streaming_without_memory() -> None:
    """The run has its own history; nothing of it is left for the next one."""
    model = ScriptedModel(search("weather"), call("getWeather"), "sunny", "hello")
    host = Conversing(True, agent(model, [getWeather], memory=None))
    assert host.say("weather?").content == "sunny"
    host.say("hi")
    assert model.names(3) == [SEARCH]
    assert [one for one in model.requests[3].messages if isinstance(one, ToolResult)] == []


def test_8_an_evicted_find_can_be_found_again() -> None:
    """Once its message has left, the tool is hidden and searchable in the next run."""
    spy, memory = Spy(), ChatMemory(max_messages=4, evict_to="max")
    model = ScriptedModel(search("weather"), "ok", "b", "c", search("weather"), "again")
    host = agent(model, [getWeather, getTime], search=spy, memory=memory)
    for _ in range(4):
        host.run_sync("?")
    assert model.names(4) == [SEARCH]
    assert spy.asked[-1] == ["getWeather", "getTime"]
    assert model.names(5) == [SEARCH, "getWeather"]


def test_6_8_the_mark_matters_only_with_a_search() -> None:
    """Without one every tool is sent in its place; the mark changes nothing."""
    pinned = ToolSpec(name="z", description="last")
    model = ScriptedModel("ok")
    agent(model, [getTime, (pinned, lambda arguments, context: 1)], search=None, always_visible=["z"]).run_sync("?")
    assert model.names() == ["getTime", "z"]


def test_two_runs_at_once_share_nothing() -> None:
    """Two conversations of one agent, interleaved, each with its own finds and results."""

    def told(request: Any) -> Any:
        asked = next(one.text for one in request.messages if isinstance(one, UserMessage))
        if results(request):
            return json.dumps([spec.name for spec in request.tools])
        return search(asked)

    model = ScriptedModel(told, told, told, told)
    host = agent(model, [getWeather, getTime])

    async def both() -> list[Any]:
        return await asyncio.gather(host.run("weather", memory_id="a"), host.run("time", memory_id="b"))

    one, other = asyncio.run(both())
    assert json.loads(one.content) == [SEARCH, "getWeather"]
    assert json.loads(other.content) == [SEARCH, "getTime"]
