"""Calls that write and are made again word for word."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.agent.tools import Conversing, agent, made, texts
from toolsearch.agent.compensation import compensates
from toolsearch.agent.limits import Limits
from toolsearch.agent.records import RunResult
from toolsearch.agent.repeating import writes
from toolsearch.catalog.functions import tool
from toolsearch.errors import ToolErrorForModel
from toolsearch.testing.models import ScriptedModel, call
from toolsearch.tool import ToolSpec

WRITES = {"readOnlyHint": False}
SCHEMA = {"type": "object", "properties": {"order": {}, "dry": {"default": False}}}


def refund(log: list[Any], **annotations: bool) -> Any:
    """A tool that keeps what it did."""

    def run(arguments: Any, context: Any) -> str:
        log.append(arguments)
        return f"refunded {len(log)}"

    return made("refund", run=run, annotations=annotations or WRITES, parameters=SCHEMA)


ONE = call("refund", order=42)
GUARDED = Limits(same_writes=1)


@pytest.mark.parametrize("streaming", [False, True], ids=["whole", "streaming"])
def test_a_write_is_not_repeated_in_a_later_round(streaming: bool) -> None:
    """The second time, however its arguments are written, the model gets the first result again; the run goes on."""
    log: list[Any] = []
    again = [call("refund", '{ "dry": false, "order": 42 }')]
    model = ScriptedModel([ONE], again, [ONE], "done")
    done = Conversing(streaming, agent(model, [refund(log)], search=None, limits=GUARDED)).say("?")
    assert [one["order"] for one in log] == [42]
    first, second, third = done.tool_executions
    assert first.result.text == "refunded 1"
    for one in (second, third):
        assert "was run 1 time(s) before in this run" in one.result.text
        assert "old result, which may no longer hold, was: refunded 1" in one.result.text
        assert "succeeded" not in one.result.text
        assert (one.failed, one.executed) == (False, False)
        assert one.result.attributes == {"repeats": first.call.id}
    assert done.content == "done"


def test_without_a_limit_everything_runs() -> None:
    """By default a model may say the same twice, as when it asks a service by POST how far it is."""
    log: list[Any] = []
    agent(ScriptedModel([ONE], [ONE], "done"), [refund(log)], search=None).run_sync("?")
    assert len(log) == 2


@pytest.mark.parametrize("between", [WRITES, {}, {"readOnlyHint": True}], ids=["write", "unmarked", "reading"])
def test_a_change_in_between_starts_anew(between: dict[str, bool]) -> None:
    """Starting, stopping and starting again are three calls that are meant; reading changes nothing."""
    log: list[Any] = []
    stop = made("stop", run=lambda arguments, context: log.append("stop"), annotations=between)
    model = ScriptedModel([ONE], [call("stop")], [ONE], "done")
    agent(model, [refund(log), stop], search=None, limits=GUARDED).run_sync("?")
    assert len(log) == (2 if between.get("readOnlyHint") else 3)


def test_equal_calls_of_one_answer_all_run() -> None:
    """What a model writes twice in one breath is meant twice."""
    log: list[Any] = []
    agent(ScriptedModel([ONE, ONE], "done"), [refund(log)], search=None, limits=GUARDED).run_sync("?")
    assert len(log) == 2


def test_the_next_run_may_do_it_again() -> None:
    """Another question of the person is another wish."""
    log: list[Any] = []
    host = agent(ScriptedModel([ONE], "done", [ONE], "done"), [refund(log)], search=None, limits=GUARDED)
    host.run_sync("refund it")
    host.run_sync("once more")
    assert len(log) == 2


@pytest.mark.parametrize(
    ("annotations", "expected"),
    [
        ({}, False),
        ({"readOnlyHint": True}, False),
        ({"readOnlyHint": False}, True),
        ({"destructiveHint": True}, True),
        ({"destructiveHint": True, "idempotentHint": True}, False),
    ],
)
def test_which_tools_write(annotations: dict[str, bool], expected: bool) -> None:
    """Those that say so; a tool without annotations is run as often as it is called."""
    assert writes(ToolSpec(name="t", annotations=annotations)) is expected


def test_reading_may_be_repeated() -> None:
    """A tool that says nothing of writing, such as one that is polled, runs each time."""
    log: list[Any] = []
    agent(ScriptedModel([ONE], [ONE], "done"), [refund(log, readOnlyHint=True)], search=None, limits=GUARDED).run_sync(
        "?"
    )
    assert len(log) == 2


def test_the_number_is_a_limit() -> None:
    """More of them can be allowed."""
    log: list[Any] = []
    host = agent(ScriptedModel(*[[ONE]] * 4, "done"), [refund(log)], search=None, limits=Limits(same_writes=3))
    host.run_sync("?")
    assert len(log) == 3


def test_what_failed_may_be_tried_again() -> None:
    """An error is no success, and what was rolled back was not done."""
    tries: list[int] = []

    @tool(annotations=WRITES)
    def pay() -> str:
        tries.append(1)
        if len(tries) == 1:
            raise ToolErrorForModel("busy")
        return "paid"

    @tool
    def ship() -> str:
        raise ToolErrorForModel("no truck")

    @compensates("pay")
    def take_back() -> None: ...

    pays, ships = call("pay"), call("ship")
    model = ScriptedModel([pays], [pays], [ships], [pays], "done")
    done = agent(model, [pay, ship, take_back], search=None, compensate=True, limits=GUARDED).run_sync("?")
    assert len(tries) == 3
    assert texts(done)[-1] == "paid"


def decide(result: RunResult) -> dict[str, Any]:
    return {one.call.id: True for one in result.pending}


@pytest.mark.parametrize("approve", [True, False])
def test_a_person_who_approves_decides(approve: bool) -> None:
    """A repeated call that needs approval waits as the first one did."""
    log: list[Any] = []
    wipes = refund(log, destructiveHint=True)
    more: Any = {"search": None, "limits": GUARDED}
    first = agent(ScriptedModel([ONE]), [wipes], **more).run_sync("?")
    again = asyncio.run(agent(ScriptedModel([ONE]), [wipes], **more).resume(first.paused, decide(first)))
    assert (again.finish, len(log)) == ("approval", 1)
    given = decide(again) if approve else {}
    asyncio.run(agent(ScriptedModel("done"), [wipes], **more).resume(again.paused, given))
    assert len(log) == (2 if approve else 1)


def test_through_the_proxy_too() -> None:
    """The tool's own arguments are compared."""
    log: list[Any] = []
    through = call("call_tool", name="refund", arguments={"order": 42})
    model = ScriptedModel([through], [through], "done")
    agent(model, [refund(log), made("other")], show="proxy", limits=GUARDED).run_sync("?")
    assert len(log) == 1


@pytest.mark.parametrize("raw", ['{"order": NaN}', '{"order": "\\ud800"}', '{"order": ' + "[" * 900 + "]" * 900 + "}"])
def test_odd_arguments_disturb_nothing(raw: str) -> None:
    """What is no proper JSON, or nested deep, ends no run."""
    odd = call("refund", raw)
    done = agent(ScriptedModel([odd], [odd], "done"), [refund([])], search=None, limits=GUARDED).run_sync("?")
    assert done.content == "done"
