"""Where the loop differs from the reference on purpose."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest

from tests.agent.tools import SEARCH, add, agent, getTime, getWeather, made, results, search, spec, texts
from toolsearch.agent.limits import Limits
from toolsearch.agent.memory import ChatMemory
from toolsearch.chat import ChatOptions, Features
from toolsearch.conversation import AssistantMessage, SystemMessage, UserMessage
from toolsearch.errors import DuplicateTool, InvalidInput, InvalidTool, ToolsUnsupported
from toolsearch.protocols import ToolSearchRequest, ToolSearchResult
from toolsearch.strategies.simple import SimpleStrategy
from toolsearch.testing.models import ScriptedModel, call
from toolsearch.tool import SearchBehavior


class Fixed(SimpleStrategy):
    """Finds what it is told to find."""

    async def search(self, request: ToolSearchRequest) -> ToolSearchResult:
        return ToolSearchResult(found=tuple(json.loads(request.arguments)["terms"]), text="Found.")


def test_an_unknown_found_name_is_told_and_ignored() -> None:
    """Known ones are found in order and once, missing ones are named."""
    model = ScriptedModel(search("getTime", "ghost", "getWeather", "getTime"), "ok")
    done = agent(model, [getWeather, getTime], search=Fixed()).run_sync("?")
    assert model.names(1) == [SEARCH, "getTime", "getWeather"]
    assert texts(done)[0] == "Found.\nNot available: ghost"
    assert done.tool_executions[0].result.attributes["found_tools"] == ["getTime", "getWeather"]


def test_a_tool_with_the_search_tools_name_is_refused_when_built() -> None:
    """Both are named."""
    with pytest.raises(
        DuplicateTool, match=r"search tool 'tool_search_tool' has the name of the tool 'tool_search_tool'"
    ):
        agent(ScriptedModel(), [made(SEARCH), getTime])
    with pytest.raises(DuplicateTool):
        agent(ScriptedModel(), [made(SEARCH)], search="hybrid")


def test_a_hidden_tool_is_shown_instead_of_run() -> None:
    """The model is told its schema and to call again; then it runs."""
    ran: list[Any] = []
    tool = made("void", "Void an invoice", lambda arguments, context: ran.append(arguments), parameters=SCHEMA)
    model = ScriptedModel(call("void", id="7"), call("void", id="7"), "done")
    done = agent(model, [tool, getTime]).run_sync("?")
    first = done.tool_executions[0]
    assert first.failed
    assert not first.executed
    assert '"required":["id"]' in first.result.text
    assert first.result.attributes == {"error": "tool_not_loaded", "found_tools": ["void"]}
    assert model.names(1) == [SEARCH, "void"]
    assert ran == [{"id": "7"}]


SCHEMA: dict[str, Any] = {"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]}


@pytest.mark.parametrize(("hidden", "text"), [("execute", "sunny"), ("reject", "was not run, for it is not loaded")])
def test_hidden_calls_may_run_or_be_rejected(hidden: Any, text: str) -> None:
    """As the reference runs them, or not at all; neither makes the tool visible."""
    model = ScriptedModel(call("getWeather"), "ok")
    done = agent(model, [getWeather], hidden_calls=hidden).run_sync("?")
    assert text in texts(done)[0]
    assert model.names(1) == [SEARCH]


def test_wrong_arguments_name_what_is_missing() -> None:
    """Missing and unknown keys are told before anything runs, with the whole schema."""
    ran: list[Any] = []
    tool = made(
        "fetch", "Fetch", lambda arguments, context: ran.append(1), parameters={**SCHEMA, "additionalProperties": False}
    )
    model = ScriptedModel([call("fetch"), call("fetch", ident="9"), call("add", a=1), call("add", a=1, c=2)], "ok")
    done = agent(model, [tool, add], search=None).run_sync("?")
    missing, wrong, python, unknown = done.tool_executions
    assert "missing: id" in missing.result.text
    assert "'ident'" in wrong.result.text
    assert 'Required parameter "b" of tool "add" is missing' in python.result.text
    assert "no parameter 'c'" in unknown.result.text
    assert all(one.result.attributes == {"error": "invalid_arguments"} for one in done.tool_executions)
    assert "The parameters are:" in missing.result.text
    assert not ran


@pytest.mark.parametrize(
    ("raw", "value"),
    [("", 0), ("null", 0), ('{"a": "4",}', 4), ('"{\\"a\\": 4}"', 4), ('{"a": 4.0}', 4)],
)
def test_small_slips_in_arguments_are_mended(raw: str, value: int) -> None:
    """Blank, null, a trailing comma, quotes around it all, a number as text."""

    def count(a: int = 0) -> int:
        return a

    done = agent(ScriptedModel([call("count", raw)], "ok"), [count], search=None).run_sync("?")
    assert texts(done) == [str(value)]


def test_identical_searches_end() -> None:
    """The third one, whatever its case and blanks, gets a short refusal; every call has its result."""
    cycle = ["list glazes", "List  glazes", "LIST GLAZES ", "list glazes?"]
    model = ScriptedModel(*[call(SEARCH, terms=[cycle[one % 4]]) for one in range(50)], "I give up")
    done = agent(model, [made("glaze_list", "List glazes")]).run_sync("?")
    assert [one.failed for one in done.tool_executions[:4]] == [False, False, True, True]
    assert sum(len(one) for one in texts(done)) < 20_000
    assert done.content == "I give up"


def test_eviction_keeps_the_prefix_for_a_while() -> None:
    """With the low-water mark, consecutive requests mostly continue each other."""
    model = ScriptedModel(*["ok"] * 40)
    host = agent(model, [getWeather], memory=ChatMemory(max_messages=20))
    for number in range(40):
        host.run_sync(str(number))
    starts = [one.messages[1] for one in model.requests]
    changes = sum(before != after for before, after in itertools.pairwise(starts))
    assert changes <= 10


def test_found_stays_for_the_run_and_goes_with_its_message() -> None:
    """In a window of two the found tool outlives its message until the run ends; the next run starts without it."""
    model = ScriptedModel(
        search("weather"), call("getWeather"), call("getWeather"), "sunny", "hello", search("weather"), "ok"
    )
    host = agent(model, [getWeather, getTime], memory=ChatMemory(max_messages=2))
    host.run_sync("?")
    assert model.names(3) == [SEARCH, "getWeather"]
    assert len(results(model.requests[3])) == 1
    host.run_sync("hi")
    assert model.names(4) == [SEARCH]
    host.run_sync("again")
    assert model.names(6) == [SEARCH, "getWeather"]


def test_a_restart_gives_the_same_list() -> None:
    """Another agent over the same store shows the same tools in the same order."""
    memory = ChatMemory(max_messages=50)
    tools = [getWeather, getTime, add]
    agent(ScriptedModel(search("time"), search("weather"), "ok"), tools, memory=memory).run_sync("?")
    model = ScriptedModel("ok")
    agent(model, tools, memory=memory).run_sync("?")
    assert model.names() == [SEARCH, "getTime", "getWeather"]


def test_after_a_summary_tools_can_be_found_again() -> None:
    """What was found before compaction is searchable again by its exact name."""
    seen: list[Any] = []

    def summarise(messages: Any) -> str:
        seen.append(len(messages))
        return "They asked for a timetable."

    memory = ChatMemory(max_messages=4, summarise=summarise)
    model = ScriptedModel(search("time"), "ok", "ok", "ok", search("getTime"), "ok")
    host = agent(model, [getTime, getWeather], memory=memory)
    for _ in range(4):
        host.run_sync("?")
    assert seen
    last = model.requests[-1]
    assert UserMessage("They asked for a timetable.", summary=True) in last.messages
    assert results(last)[-1].text == "Tools found: getTime"


def test_the_least_recently_used_half_leaves() -> None:
    """Above the bound half of the found tools leave at once; calling one keeps it, and it can be found again."""
    tools = [made(f"valve_{one:02d}", f"Operate valve number {one}") for one in range(12)]
    five = call(SEARCH, terms=["valve_00", "valve_01", "valve_02", "valve_03", "valve_04"])
    model = ScriptedModel(five, call("valve_00"), search("valve_05", "valve_06"), search("valve_01"), "ok")
    agent(model, tools, limits=Limits(max_visible_tools=6)).run_sync("?")
    after = model.names(3)
    assert {"valve_00", "valve_05", "valve_06"} <= set(after)
    assert not {"valve_01", "valve_02"} & set(after)
    assert len(after) <= 6
    assert "valve_01" in model.names(4)


def test_conversations_do_not_share_what_was_found() -> None:
    """What one conversation found, another neither sees nor runs."""
    model = ScriptedModel(search("weather"), "ok", call("getWeather"), "ok")
    host = agent(model, [getWeather])
    host.run_sync("?", memory_id="a")
    done = host.run_sync("?", memory_id="b")
    assert model.names(2) == [SEARCH]
    assert done.tool_executions[0].result.attributes["error"] == "tool_not_loaded"


def test_groups_limit_everything() -> None:
    """Search, restored tools, hidden calls, near names and execution see what the caller may see."""
    north, south = made("north_read", "Read the ledger"), made("south_read", "Read the ledger", groups=["south"])
    script = [search("read"), "ok", [call("south_read"), call("south_reed")], "ok"]
    model = ScriptedModel(*script)
    host = agent(model, [north, south])
    host.run_sync("?", caller=["south"])
    assert model.names(1) == [SEARCH, "north_read", "south_read"]
    done = host.run_sync("?", caller=["north"])
    assert model.names(2) == [SEARCH, "north_read"]
    for one in done.tool_executions:
        assert one.result.attributes["error"] == "unknown_tool"
        assert not one.executed
    assert "south_read" not in texts(done)[1].replace("south_reed", "")


@pytest.mark.parametrize("name", ["furnace_purge", "FURNACE_PURGE", "Furnace Purge", "stoker"])
def test_the_bridge_decides_as_search_does(name: str) -> None:
    """A forbidden tool is unknown to the proxy's call and to its look-up, by name, case or alias."""
    lamp, furnace = made("lamp_on"), made("furnace_purge", groups=["fire"], aliases=["stoker"])
    model = ScriptedModel([call("call_tool", name=name, arguments={}), call("get_tool", name=name)], "ok")
    done = agent(model, [lamp, furnace], show="proxy").run_sync("?", caller=["p1"])
    assert all(one.result.attributes["error"] == "unknown_tool" for one in done.tool_executions)
    assert not any(one.executed for one in done.tool_executions)
    assert not any("furnace_purge" in one.replace(name, "") for one in texts(done))


def test_proxy_finds_looks_and_calls() -> None:
    """The list never changes; the arguments of the tool itself are checked."""
    calls = [
        search("weather"),
        call("get_tool", name="getWeather"),
        call("call_tool", name="add", arguments={"a": 1}),
        call("call_tool", name="add", arguments={"a": 1, "b": 2}),
    ]
    model = ScriptedModel(*calls, "ok")
    done = agent(model, [getWeather, add], show="proxy").run_sync("?")
    assert all(model.names(one) == [SEARCH, "get_tool", "call_tool"] for one in range(5))
    assert json.loads(texts(done)[1])["name"] == "getWeather"
    assert 'Required parameter "b"' in texts(done)[2]
    assert texts(done)[3] == "3"


def test_auto_sends_a_small_catalog_whole() -> None:
    """Few tools are all sent, without a search tool and without the hint; many are searched. It stays so."""
    small = ScriptedModel(call("add", a=1, b=1), "ok")
    agent(small, [getWeather, add], search="auto").run_sync("?")
    assert small.names(0) == ["getWeather", "add"]
    assert not any(isinstance(one, SystemMessage) for one in small.requests[0].messages)
    many = [made(f"tool_{one}") for one in range(30)]
    large = ScriptedModel("ok", "ok")
    memory = ChatMemory(max_messages=9)
    agent(large, many, search="auto", encoder=None, memory=memory).run_sync("?")
    assert large.names(0) == [SEARCH]
    agent(large, many[:3], search="auto", encoder=None, memory=memory).run_sync("?")
    assert large.names(1) == [SEARCH]


def test_without_search_nothing_stays_unreachable() -> None:
    """All tools are sent openly, or the run is refused when they are too many."""
    model = ScriptedModel("ok")
    agent(model, [made(f"stool_{one}") for one in range(5)], search=None).run_sync("?")
    assert len(model.names()) == 5
    with pytest.raises(ToolsUnsupported, match="300 tools"):
        agent(ScriptedModel("ok"), [made(f"s{one}") for one in range(300)], search=None).run_sync("?")


@pytest.mark.parametrize(
    ("hint", "expected"), [("Look with {search}.", f"be kind\n\nLook with {SEARCH}."), (None, "be kind")]
)
def test_the_hint_can_be_replaced(hint: str | None, expected: str) -> None:
    """It follows the system message and names the search tool."""
    model = ScriptedModel("ok")
    agent(model, [getWeather], hint=hint, system="be kind").run_sync("?")
    assert model.requests[0].messages[0] == SystemMessage(expected)


@pytest.mark.parametrize(
    ("strategy", "show", "example"),
    [
        (SimpleStrategy(), "inline", '{"name": "tool_search_tool", "arguments": {"terms": ["refund", "order"]}}'),
        ("lexical", "inline", '{"name": "tool_search_tool", "arguments": {"query": "refund an order"}}'),
        ("lexical", "proxy", '{"name": "search_tools", "arguments": {"query": "refund an order"}}'),
    ],
)
def test_the_hint_shows_a_call(strategy: Any, show: Any, example: str) -> None:
    """By default it ends with a call of the search tool as this model would write it."""
    model = ScriptedModel("ok")
    agent(model, [getWeather], search=strategy, show=show).run_sync("?")
    system = model.requests[0].messages[0]
    assert isinstance(system, SystemMessage)
    assert system.text.endswith(f"You call: {example}")
    assert "{" not in system.text.replace(example, "")


@pytest.mark.parametrize(("show", "then"), [("inline", "call it now; do"), ("proxy", "call it now with call_tool; do")])
def test_an_answer_of_the_search_says_what_to_do(show: Any, then: str) -> None:
    """It ends with the next step when something was found; an empty one does not."""
    finder = "search_tools" if show == "proxy" else SEARCH
    model = ScriptedModel(call(finder, query="weather"), call(finder, query="zzz"), "ok")
    weather = made("weather", "Tells the weather")
    found, nothing = texts(agent(model, [weather, getTime], search="lexical", show=show).run_sync("?"))
    assert then in found.splitlines()[-1]
    assert "call it now" not in nothing


def test_a_forced_choice_holds_for_the_first_request() -> None:
    """A forced hidden tool becomes visible; later requests are free."""
    model = ScriptedModel(call("getWeather"), "ok")
    options = ChatOptions(tool_choice="getWeather")
    agent(model, [getWeather, getTime]).run_sync("?", options=options)
    assert model.names(0) == [SEARCH, "getWeather"]
    assert [one.options.tool_choice for one in model.requests] == ["getWeather", None]


@pytest.mark.parametrize(("choice", "features"), [(SEARCH, Features()), ("getTime", Features(forced=()))])
def test_an_impossible_choice_is_refused_before_sending(choice: str, features: Features) -> None:
    """The search tool is never forced, and a model that cannot be forced is not."""
    model = ScriptedModel("ok", features=features)
    with pytest.raises(ToolsUnsupported):
        agent(model, [getTime]).run_sync("?", options=ChatOptions(tool_choice=choice))
    with pytest.raises(InvalidInput, match="no tool"):
        agent(ScriptedModel("ok"), [getTime]).run_sync("?", options=ChatOptions(tool_choice="nothing"))
    assert not model.requests


def test_a_tool_without_executor() -> None:
    """Always visible it is refused when the agent is built; found it gives an error result."""
    with pytest.raises(InvalidTool, match="nothing that runs it"):
        agent(ScriptedModel(), [spec("a", search=SearchBehavior.ALWAYS_VISIBLE)])
    model = ScriptedModel(search("idle"), call("idle"), "ok")
    done = agent(model, [spec("idle")]).run_sync("?")
    assert texts(done)[1] == "the tool idle cannot be run here"


def test_a_budget_for_the_definitions_of_one_search() -> None:
    """Tools that do not fit are told and not loaded; at least one is."""
    tools = [made(f"t{one}", "find me " + "x" * 400) for one in range(5)]
    model = ScriptedModel(search("find"), "ok")
    done = agent(model, tools, limits=Limits(found_tokens=250)).run_sync("?")
    assert model.names(1) == [SEARCH, "t0", "t1"]
    assert "Not loaded, for their definitions are long: t2, t3, t4" in texts(done)[0]


def test_attributes_are_never_sent() -> None:
    """Found ids and other attributes stay with the conversation; what providers render has none of them."""
    from toolsearch.llm import anthropic, openai_chat, openai_responses

    model = ScriptedModel(search("weather"), "ok")
    agent(model, [getWeather]).run_sync("?")
    for module in (anthropic, openai_chat, openai_responses):
        assert "found_tools" not in json.dumps(module.render(model.requests[1], "m"))


def test_an_answer_is_remembered_as_said() -> None:
    """The last message of a conversation is the model's."""
    host = agent(ScriptedModel("hello"), [getWeather])
    host.run_sync("hi")
    assert host.memory
    assert host.memory.messages() == (UserMessage("hi"), AssistantMessage("hello"))
