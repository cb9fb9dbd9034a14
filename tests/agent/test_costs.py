"""Tokens of a run, counted by the provider or by the stated model."""

from __future__ import annotations

from itertools import pairwise

import pytest

from tests.agent.tools import agent, getTime, getWeather, search
from toolsearch.agent.costs import BLOCK, CHARACTERS, estimated, serialised
from toolsearch.agent.events import Event, ModelAnswered
from toolsearch.chat import ChatRequest, ChatResponse, Features
from toolsearch.conversation import AssistantMessage, Usage, UserMessage
from toolsearch.testing.models import ScriptedModel, call
from toolsearch.tool import Tool, ToolSpec


def test_counted_by_the_provider() -> None:
    """What the provider says is taken as it is, cached tokens among them, and summed over the run."""
    usage = Usage(input_tokens=100, output_tokens=7, cached_tokens=64)
    said = ChatResponse(message=AssistantMessage("ok"), usage=usage)
    done = agent(ScriptedModel(search("time"), said), [getTime]).run_sync("?")
    assert done.usage.cached_tokens >= 64
    assert agent(ScriptedModel(said), [getTime]).run_sync("?").usage == usage


def test_counted_by_the_stated_model() -> None:
    """Without numbers of the provider they are estimated, and marked so; later requests share their start."""
    seen: list[Event] = []
    long = "Read this first. " * 100
    model = ScriptedModel(search("time"), search("weather"), "ok")
    done = agent(model, [getTime, getWeather], show="proxy", system=long, hooks=[seen.append]).run_sync("?")
    each = [one.response.usage for one in seen if isinstance(one, ModelAnswered)]
    assert all(one.estimated for one in each)
    assert each[0].cached_tokens == 0
    assert all(one.cached_tokens > len(long) // CHARACTERS - BLOCK for one in each[1:])
    assert done.usage.input_tokens == sum(one.input_tokens for one in each)


@pytest.mark.parametrize(("same", "cached"), [(True, True), (False, False)])
def test_a_changed_tool_list_loses_the_cache(same: bool, cached: bool) -> None:
    """Tools stand before the messages, so that a change of the list costs all that follows."""
    messages = (UserMessage("x" * 4_000),)
    first = ChatRequest(messages=messages, tools=(ToolSpec(name="a"),))
    second = first if same else ChatRequest(messages=messages, tools=(ToolSpec(name="b"), ToolSpec(name="a")))
    usage = estimated(serialised(first), serialised(second), ChatResponse(message=AssistantMessage("ok")))
    assert (usage.cached_tokens > 900) is cached


def test_native_references_keep_the_cache() -> None:
    """A definition is read where a result refers to it: with native search only what is new is not cached."""
    seen: list[Event] = []
    system = "Read this first. " * 60
    tool = Tool(ToolSpec(name="getWeather", description="weather " * 500), lambda arguments, context: "sunny")
    model = ScriptedModel(
        search("getWeather"), call("getWeather"), "x" * 4_000, "ok", features=Features(native_search=True)
    )
    host = agent(model, [tool, getTime], show="native", system=system, hooks=[seen.append])
    host.run_sync("?")
    host.run_sync("and?")
    each = [one.response.usage for one in seen if isinstance(one, ModelAnswered)]
    size = len(tool.spec.description) // CHARACTERS
    assert each[1].input_tokens - each[0].input_tokens > size
    for before, now in pairwise(each[:3]):
        assert now.cached_tokens >= before.input_tokens - 2 * BLOCK


def test_a_definition_that_no_result_refers_to() -> None:
    """It is counted once, at the end."""
    request = ChatRequest(messages=(UserMessage("hi"),), deferred=(ToolSpec(name="far_away"),))
    assert serialised(request).count("far_away") == 1
