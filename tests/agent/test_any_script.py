"""Whatever a model does, every request is a valid history and every run ends."""

from __future__ import annotations

import asyncio
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.agent.tools import SEARCH, add, agent, getTime, getWeather, made
from toolsearch.agent.limits import Limits
from toolsearch.agent.memory import ChatMemory
from toolsearch.chat import Features
from toolsearch.conversation import ToolCall, problems
from toolsearch.errors import ToolErrorForModel
from toolsearch.testing.models import ScriptedModel, call


def fails(arguments: Any, context: Any) -> None:
    raise ToolErrorForModel("no")


TOOLS = [getWeather, getTime, add, made("fails", run=fails), made("hidden", groups=["others"])]
CALLS = st.one_of(
    st.builds(
        lambda words: call(SEARCH, terms=words), st.lists(st.sampled_from(["get", "time", "zebra", ""]), max_size=2)
    ),
    st.sampled_from(
        [call("getWeather"), call("getTime", "{broken"), call("add", a=1, b=2), call("fails"), call("hidden")]
    ),
    st.builds(lambda name: ToolCall("", name, "[]"), st.text("aé ./", min_size=0, max_size=5)),
)
LINES = st.one_of(st.lists(CALLS, min_size=1, max_size=4), st.text(max_size=10))


@settings(max_examples=60, deadline=None)
@given(
    st.lists(LINES, min_size=1, max_size=6),
    st.integers(1, 9),
    st.sampled_from(["inline", "native", "proxy"]),
    st.booleans(),
    st.booleans(),
)
def test_every_request_is_valid(script: list[Any], size: int, show: Any, concurrent: bool, streaming: bool) -> None:
    """In every window, with every way of showing, whole or streaming; the strict model refuses nothing."""
    model = ScriptedModel(*script, *["end"] * 8, features=Features(native_search=True))
    limits = Limits(max_rounds=8, max_visible_tools=6)
    memory = ChatMemory(max_messages=size)
    host = agent(model, TOOLS, memory=memory, show=show, concurrent=concurrent, limits=limits)

    async def run() -> None:
        for turn in range(2):
            if streaming:
                _ = [event async for event in host.stream(f"turn {turn}", caller=["us"])]
            else:
                await host.run(f"turn {turn}", caller=["us"])

    asyncio.run(run())
    assert not problems(memory.messages())
    assert all("hidden" not in [spec.name for spec in (*one.tools, *one.deferred)] for one in model.requests)


@settings(max_examples=40, deadline=None)
@given(st.lists(LINES, min_size=1, max_size=5), st.integers(2, 8))
def test_whole_and_streaming_are_one_loop(script: list[Any], size: int) -> None:
    """Both drive the same steps: the requests are equal."""
    seen: list[list[Any]] = []
    for streaming in (False, True):
        model = ScriptedModel(*script, *["end"] * 8)
        host = agent(model, TOOLS, memory=ChatMemory(max_messages=size))

        async def run(host: Any = host, streaming: bool = streaming) -> None:
            if streaming:
                _ = [event async for event in host.stream("?")]
            else:
                await host.run("?")

        asyncio.run(run())
        seen.append([(one.messages, [spec.name for spec in one.tools]) for one in model.requests])
    assert seen[0] == seen[1]


def test_searches_at_once_are_a_union() -> None:
    """Two parallel searches never lose a find."""
    for _ in range(50):
        model = ScriptedModel([call(SEARCH, terms=["weather"]), call(SEARCH, terms=["time"])], "ok")
        agent(model, TOOLS, concurrent=True).run_sync("?")
        assert {"getWeather", "getTime"} <= set(model.names(1))


def test_a_reused_id_starts_clean() -> None:
    """After a conversation is cleared nothing of it is left under its id."""
    model = ScriptedModel(call(SEARCH, terms=["weather"]), "ok", call("getWeather"), "ok")
    host = agent(model, TOOLS)
    host.run_sync("?", memory_id="s1")
    assert host.memory
    host.memory.clear("s1")
    done = host.run_sync("?", memory_id="s1")
    assert model.names(2) == [SEARCH]
    assert done.tool_executions[0].result.attributes["error"] == "tool_not_loaded"
