"""Whole runs of an agent against servers as strict as the vendors, whole and streaming."""

from __future__ import annotations

import asyncio
import itertools
import json
from typing import Any

import pytest

from tests.agent.tools import Conversing, add, getTime, getWeather, made
from tests.wire.server import Vendor, serving
from toolsearch.agent.host import Agent
from toolsearch.agent.memory import ChatMemory
from toolsearch.agent.showing import Show
from toolsearch.llm.opening import open_model
from toolsearch.strategies.simple import SimpleStrategy

SEARCH = "tool_search_tool"
VENDORS = {
    "chat": ("openai-chat", "/v1", "gpt-4.1"),
    "responses": ("openai", "/v1", "gpt-5.4"),
    "responses-old": ("openai", "/v1", "gpt-4.1"),
    "anthropic": ("anthropic", "", "claude-x"),
    "ollama": ("ollama", "", "qwen3"),
}
EVERY = pytest.mark.parametrize("name", list(VENDORS))
STREAMING = pytest.mark.parametrize("streaming", [False, True], ids=["whole", "streaming"])


def agent(vendor: Vendor, name: str, tools: list[Any], **more: Any) -> Agent:
    provider, path, model = VENDORS[name]
    opened = open_model(f"{provider}:{vendor.url}{path}#{model}", retries=0)
    more.setdefault("memory", ChatMemory(max_messages=100))
    more.setdefault("search", SimpleStrategy())
    return Agent(opened, tools=tools, **more)


def searched(*terms: str) -> tuple[str, dict[str, Any]]:
    return SEARCH, {"terms": list(terms)}


@EVERY
@STREAMING
def test_search_call_answer(name: str, streaming: bool) -> None:
    """Search, found tool, two calls at once, answer, and a second turn: every request is accepted."""
    script = [
        [searched("weather")],
        [("getWeather", {"city": "Oslo"}), searched("time")],
        [("getTime", {"city": "Oslo"})],
        "sunny at 12",
        "you are welcome",
    ]
    with serving(*script) as vendor:
        host = Conversing(streaming, agent(vendor, name, [getWeather, getTime], system="be kind"))
        done = host.say("weather and time in Oslo?")
        assert done.content == "sunny at 12"
        assert [one.result.text for one in done.tool_executions] == [
            "Tools found: getWeather",
            "sunny",
            "Tools found: getTime",
            "12:00",
        ]
        assert done.usage.input_tokens == 80
        assert done.usage.cached_tokens == (0 if name == "ollama" else 32)
        assert set(done.visible_tools) == {SEARCH, "getWeather", "getTime"}
        assert host.say("thanks").content == "you are welcome"
    assert vendor.refused == []


@EVERY
@STREAMING
def test_hidden_and_unknown_calls(name: str, streaming: bool) -> None:
    """A call of a tool that was not found makes it visible; an unknown name is told so; both histories are accepted."""
    script = [[("getWeather", {"city": "Oslo"}), ("getWether", {})], [("getWeather", {"city": "Oslo"})], "sunny"]
    with serving(*script) as vendor:
        done = Conversing(streaming, agent(vendor, name, [getWeather, getTime])).say("weather?")
    hidden, unknown, ran = done.tool_executions
    assert hidden.result.attributes["error"] == "tool_not_loaded"
    assert "getWeather" in unknown.result.text
    assert ran.result.text == "sunny"
    assert vendor.refused == []


@EVERY
@pytest.mark.parametrize("size", [1, 2, 3, 5])
def test_small_windows(name: str, size: int) -> None:
    """Whatever the window, no vendor refuses a request."""
    script: list[Any] = []
    for _ in range(3):
        script += [[searched("weather"), searched("time")], [("getWeather", {}), ("getTime", {})], "ok"]
    with serving(*script) as vendor:
        host = agent(vendor, name, [getWeather, getTime], memory=ChatMemory(max_messages=size), system="s")
        for turn in range(3):
            assert host.run_sync(f"turn {turn}").content == "ok"
    assert vendor.refused == []


@EVERY
def test_a_withdrawn_tool_leaves_no_reference(name: str) -> None:
    """A tool that was found and has gone since is named in no reference and no list."""
    memory = ChatMemory(max_messages=100)
    with serving([searched("weather")], "found it", "hello") as vendor:
        agent(vendor, name, [getWeather, getTime], memory=memory).run_sync("weather?")
        assert agent(vendor, name, [getTime], memory=memory).run_sync("hi").content == "hello"
    assert vendor.refused == []


@EVERY
def test_an_empty_search(name: str) -> None:
    """A search that finds nothing still has an answer that the vendor takes."""
    with serving([searched("zebra")], "nothing") as vendor:
        assert agent(vendor, name, [getWeather]).run_sync("zebra?").content == "nothing"
    assert vendor.refused == []


@pytest.mark.parametrize(
    ("name", "show", "fixed"),
    [
        ("chat", "inline", False),
        ("chat", "proxy", True),
        ("ollama", "proxy", True),
        ("anthropic", "native", True),
        ("anthropic", "proxy", True),
        ("responses", "native", True),
    ],
)
def test_the_prefix_is_byte_exact(name: str, show: Show, fixed: bool) -> None:
    """Each request's list of tools continues the one before, or never changes at all; messages are only added."""
    tools = [made(one, f"{one} a parcel") for one in ("zz_stamp", "aa_sort", "mm_weigh")]
    search = SEARCH
    calls = [[(search, {"terms": [one]})] for one in ("stamp", "sort", "weigh", "stamp")]
    with serving(*calls, "done") as vendor:
        agent(vendor, name, [*tools, getTime], show=show).run_sync("all")
    assert vendor.refused == []
    lists = [prefix_tools(raw) for raw in vendor.raw]
    for before, after in itertools.pairwise(lists):
        assert after == before if fixed else after.startswith(before[:-1])
    histories = [history(raw) for raw in vendor.raw]
    for before, after in itertools.pairwise(histories):
        assert after.startswith(before[:-1])


def prefix_tools(raw: bytes) -> bytes:
    """The bytes of the tools that the vendor caches: deferred ones are not among them."""
    tools = [one for one in json.loads(raw)["tools"] if not one.get("defer_loading")]
    return json.dumps(tools).encode()


def history(raw: bytes) -> bytes:
    body = json.loads(raw)
    return json.dumps(body.get("messages") or body["input"]).encode()


def test_always_visible_tools_before_the_search() -> None:
    """Native search needs a tool that is not deferred; the search tool is one, with pinned ones before it."""
    with serving([searched("weather")], [("getWeather", {})], "ok") as vendor:
        host = agent(vendor, "anthropic", [add, getWeather], always_visible=["add"])
        host.run_sync("?")
    assert [one["name"] for one in vendor.bodies[-1]["tools"]] == ["add", SEARCH, "getWeather"]
    assert vendor.bodies[-1]["tools"][-1]["defer_loading"] is True
    reference = {"type": "tool_reference", "tool_name": "getWeather"}
    assert vendor.bodies[1]["messages"][-1]["content"][0]["content"] == [reference]


def test_thoughts_go_back_as_they_came() -> None:
    """Signed thoughts are sent again unchanged, whole and streaming."""
    for streaming in (False, True):
        with serving([searched("weather")], "ok") as vendor:
            Conversing(streaming, agent(vendor, "anthropic", [getWeather])).say("?")
        [thought, _] = vendor.bodies[1]["messages"][1]["content"]
        assert thought == {"type": "thinking", "thinking": "hm", "signature": "signed"}


def test_more_tools_than_the_vendor_takes() -> None:
    """With 300 tools found the list never passes 128."""
    tools = [made(f"post_{number:03d}", "Post a letter") for number in range(300)]
    many = SimpleStrategy(max_results=100)
    calls = [[(SEARCH, {"terms": ["post", str(number)]})] for number in range(5)]
    with serving(*calls, "done") as vendor:
        agent(vendor, "chat", tools, search=many, always_visible=["post_000"]).run_sync("all")
    assert vendor.refused == []
    assert max(len(one["tools"]) for one in vendor.bodies) <= 128
    assert [one["function"]["name"] for one in vendor.bodies[-1]["tools"][:2]] == ["post_000", SEARCH]


def test_stopping_a_stream_stops_the_run() -> None:
    """Whoever stops listening ends the run; nothing else is asked."""

    async def listen(host: Agent) -> None:
        events = host.stream("?")
        await anext(events)
        await events.aclose()

    with serving([searched("weather")], "ok") as vendor:
        asyncio.run(listen(agent(vendor, "chat", [getWeather])))
    assert len(vendor.bodies) <= 1
