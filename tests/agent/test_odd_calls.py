"""Calls as real servers and models write them: ids that repeat, answers cut off, arguments that are nearly JSON."""

from __future__ import annotations

from typing import Any

import pytest

from tests.agent.tools import SEARCH, agent, getTime, getWeather, made, search, texts
from toolsearch.agent.compensation import compensates
from toolsearch.agent.host import Agent
from toolsearch.agent.limits import Limits
from toolsearch.agent.memory import ChatMemory
from toolsearch.agent.stores import SQLiteStore
from toolsearch.chat import ChatOptions, ChatResponse
from toolsearch.conversation import AssistantMessage, ToolCall
from toolsearch.errors import InvalidTool, ToolsUnsupported
from toolsearch.testing.models import ScriptedModel, call

ASKS = {"destructiveHint": True}


def decided(host: Agent, result: Any, *answers: bool, **more: Any) -> Any:
    return host.resume_sync(
        result.paused, dict(zip([one.call.id for one in result.pending], answers, strict=True)), **more
    )


def test_two_calls_with_one_id_are_approved_apart() -> None:
    """What was refused for one is not done because the other was approved."""
    ran: list[str] = []
    tools = [made(name, run=lambda a, c, name=name: ran.append(name), annotations=ASKS) for name in ("drop", "keep")]
    model = ScriptedModel([ToolCall("1", "drop"), ToolCall("1", "keep")], "ok")
    host = agent(model, tools, search=None)
    decided(host, host.run_sync("?"), False, True)
    assert ran == ["keep"]


def test_ids_of_earlier_rounds_may_come_again() -> None:
    """Each round's call is undone, though a server numbers the calls of every answer anew."""
    undone: list[int] = []

    @compensates("make")
    def unmake(n: int) -> None:
        undone.append(n)

    def breaks(arguments: Any, context: Any) -> None:
        raise ValueError

    script = [[ToolCall("0", "make", f'{{"n": {n}}}'), ToolCall("1", "breaks")] for n in (1, 2)]
    host = agent(
        ScriptedModel(*script, "ok"), [made("make"), made("breaks", run=breaks), unmake], compensate=True, search=None
    )
    host.run_sync("?")
    assert undone == [1, 2]


def test_a_call_that_was_cut_off_is_not_run() -> None:
    """An answer that reached its bound in a call may lack arguments; whole calls before it run."""
    ran: list[Any] = []
    tool = made("wipe", run=lambda arguments, context: ran.append(arguments))
    message = AssistantMessage("", (ToolCall("1", "wipe", '{"disk": 1}'), ToolCall("2", "wipe", "{}")))
    model = ScriptedModel(ChatResponse(message=message, finish="length"), "ok")
    done = agent(model, [tool], search=None).run_sync("?")
    assert ran == [{"disk": 1}]
    assert done.tool_executions[1].result.attributes["error"] == "cut_off"


def test_a_call_that_was_cut_off_is_not_run_after_an_approval() -> None:
    """That another call waited meanwhile changes nothing."""
    ran: list[str] = []
    tools = [
        made("rm", run=lambda a, c: ran.append("rm"), annotations=ASKS),
        made("wipe", run=lambda a, c: ran.append("wipe")),
    ]
    message = AssistantMessage("", (ToolCall("1", "rm"), ToolCall("2", "wipe")))
    host = agent(ScriptedModel(ChatResponse(message=message, finish="length"), "ok"), tools, search=None)
    decided(host, host.run_sync("?"), True)
    assert ran == ["rm"]


def test_a_search_that_waited_is_counted_once() -> None:
    """It is not taken for repeated because another call of its answer had to be approved."""
    tool = made("rm", annotations=ASKS, search="always_visible")
    model = ScriptedModel(search("x"), [search("x"), call("rm")], "ok")
    host = agent(model, [tool, getTime])
    done = decided(host, host.run_sync("?"), True)
    assert texts(done) == ["No matching tools found", "No matching tools found", "done"]


@pytest.mark.parametrize(
    "asked", [("c", "c++", "c#"), ("🚀", "🔥", "🎉"), ("कि", "की", "कु")], ids=["signs", "emoji", "vowels"]
)
def test_searches_that_differ_in_a_sign_are_not_the_same(asked: tuple[str, ...]) -> None:
    """None of them is refused as repeated."""
    done = agent(ScriptedModel(*map(search, asked), "ok"), [getTime]).run_sync("?")
    assert texts(done) == ["No matching tools found"] * 3


def test_numbers_that_json_lacks_are_told() -> None:
    """NaN reaches no tool."""
    done = agent(ScriptedModel(call("t", '{"x": NaN}'), "ok"), [made("t")], search=None).run_sync("?")
    assert "not a JSON object" in texts(done)[0]


def test_half_characters_break_no_run(tmp_path: Any) -> None:
    """In a question, arguments and results, with a store and a pause: each becomes a sign for what cannot be read."""
    tools = [made("ls", run=lambda arguments, context: "caf\udce9 \ud83d\ude80"), made("rm", annotations=ASKS)]
    model = ScriptedModel(call("ls", '{"x": "\\ud83d"}'), call("rm"), "ok")
    memory = ChatMemory(max_messages=20, store=SQLiteStore(tmp_path / "kept.db"))
    host = agent(model, tools, search=None, memory=memory)
    done = decided(host, host.run_sync("caf\udce9"), True)
    assert texts(done)[0] == "caf\ufffd 🚀"
    assert done.tool_executions[0].arguments == {"x": "\ud83d"}


def test_defaults_of_a_schema_are_copied() -> None:
    """What a tool does to one is not seen by the next call."""

    def tagged(arguments: Any, context: Any) -> int:
        arguments["tags"].append("x")
        return len(arguments["tags"])

    tool = made(
        "t", run=tagged, parameters={"type": "object", "properties": {"tags": {"type": "array", "default": []}}}
    )
    assert texts(agent(ScriptedModel(call("t"), call("t"), "ok"), [tool], search=None).run_sync("?")) == ["1", "1"]


def test_options_are_given_anew_when_a_run_goes_on() -> None:
    """A run that was started with its own goes on with those that it is resumed with."""
    model = ScriptedModel(call("rm"), "ok")
    host = agent(model, [made("rm", annotations=ASKS)], search=None)
    options = ChatOptions(temperature=0.5)
    decided(host, host.run_sync("?", options=options), True, options=options)
    assert [one.options for one in model.requests] == [options, options]


def test_no_room_for_found_tools_is_told() -> None:
    """Before anything is asked, instead of a list that is longer than it may be."""
    pinned = [made(f"p{n}", search="always_visible") for n in range(4)]
    host = agent(ScriptedModel("ok"), [*pinned, getWeather], limits=Limits(max_visible_tools=5))
    with pytest.raises(ToolsUnsupported, match="leaves no room"):
        host.run_sync("?")


def test_a_conversation_outgrows_being_sent_whole() -> None:
    """With "auto" it begins to search when its tools no longer fit into a request."""
    memory = ChatMemory(max_messages=20)
    for count, wanted in ((3, "t0"), (200, SEARCH)):
        model = ScriptedModel("ok")
        tools = [made(f"t{n}") for n in range(count)]
        agent(model, tools, memory=memory, search="auto", encoder=None).run_sync("?")
        assert model.names()[0] == wanted


def test_a_named_strategy_holds_for_old_conversations_too() -> None:
    """What "auto" settled for a conversation is no longer asked."""
    memory = ChatMemory(max_messages=20)
    agent(ScriptedModel("ok"), [getTime], memory=memory, search="auto").run_sync("?")
    model = ScriptedModel("ok")
    agent(model, [getTime], memory=memory).run_sync("?")
    assert model.names() == [SEARCH]


def test_what_undoes_a_tool_names_one() -> None:
    """By its id where two tools share a name."""
    undone: list[str] = []

    def breaks(arguments: Any, context: Any) -> None:
        raise ValueError

    tools = [made("add", namespace="crm"), made("add", namespace="shop"), made("breaks", run=breaks)]
    script = [call("crm__add"), call("shop__add"), call("breaks")]
    for name in ("add", "shop/add"):
        undo = compensates(name)(lambda: undone.append("shop"))
        host = agent(ScriptedModel(script, "ok"), [*tools, undo], compensate=True, search=None)
        if name == "add":
            with pytest.raises(InvalidTool, match="may mean"):
                host.run_sync("?")
        else:
            host.run_sync("?")
    assert undone == ["shop"]


def test_one_tool_is_no_list_of_tools() -> None:
    """The error says what to write."""
    with pytest.raises(InvalidTool, match=r"\[\.\.\.\]"):
        Agent(ScriptedModel(), tools=getTime)  # pyright: ignore[reportArgumentType]
