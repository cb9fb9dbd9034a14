"""The reference's list of what the loop must do, by its numbers; whole and streaming."""

from __future__ import annotations

import logging
import threading
from typing import Any

import pytest

from tests.agent.tools import Conversing, add, agent, getTime, getWeather, made, results, search, texts
from toolsearch.agent.compensation import compensates
from toolsearch.agent.handlers import (
    GENERIC,
    ErrorContext,
    Handlers,
    fail_run,
    fail_run_unless_for_model,
    generic_unless_for_model,
    send_message,
)
from toolsearch.agent.limits import Limits
from toolsearch.agent.providers import Provided
from toolsearch.agent.records import ToolExecution
from toolsearch.catalog.functions import tool
from toolsearch.chat import Features
from toolsearch.conversation import Media, ToolCall, problems
from toolsearch.errors import DuplicateTool, InvalidTool, RunStopped, ToolErrorForModel
from toolsearch.testing.models import ScriptedModel, call
from toolsearch.tool import ReturnBehavior

STREAMING = pytest.mark.parametrize("streaming", [False, True], ids=["whole", "streaming"])
BLIND = Features()
PNG = Media(media_type="image/png", data="AA==")


def test_70_a_duplicate_is_refused_and_named() -> None:
    """A static tool and a provider's tool of one name are a mistake of whoever set the agent up."""
    host = agent(ScriptedModel("ok"), [getWeather, Provided(function=lambda request: [getWeather])])
    with pytest.raises(DuplicateTool, match="getWeather"):
        host.run_sync("?")
    with pytest.raises(DuplicateTool, match="Duplicated definition for tool: getWeather"):
        agent(ScriptedModel("ok"), [getWeather, getWeather])


def test_70_a_dynamic_duplicate_is_ignored() -> None:
    """The first one stays."""
    other = made("getWeather", "another", lambda arguments, context: "wet")
    model = ScriptedModel([call("getWeather")], "ok")
    host = agent(model, [getWeather, Provided(function=lambda request: [other], dynamic=True)], hidden_calls="execute")
    assert texts(host.run_sync("?")) == ["sunny"]


@pytest.mark.parametrize("concurrent", [False, True])
def test_72_results_come_in_the_order_of_the_calls(concurrent: bool) -> None:
    """Also when they run at once and the first one is the last to end."""
    gate = threading.Event()

    def slow() -> str:
        gate.wait(10 if concurrent else 0)
        return "slow"

    def quick() -> str:
        gate.set()
        return "quick"

    model = ScriptedModel([call("slow"), call("quick")], "ok")
    done = agent(model, [slow, quick], search=None, concurrent=concurrent).run_sync("?")
    assert texts(done) == ["slow", "quick"]


@STREAMING
@pytest.mark.parametrize("rounds", [0, 1, 3])
def test_73_rounds_are_bounded(streaming: bool, rounds: int) -> None:
    """N rounds are allowed, the next one ends the run with what there is and a valid history."""
    model = ScriptedModel(*[call("add", a=one, b=one) for one in range(rounds + 1)])
    host = agent(model, [add], search=None, limits=Limits(max_rounds=rounds))
    with pytest.raises(RunStopped, match=f"exceeded {rounds} tool calling round trips") as stopped:
        Conversing(streaming, host).say("?")
    partial: Any = stopped.value.partial
    assert len(partial.tool_executions) == rounds
    assert host.memory
    assert not problems(host.memory.messages())
    exact = ScriptedModel(*[call("add", a=one, b=one) for one in range(rounds)], "done")
    again = agent(exact, [add], search=None, limits=Limits(max_rounds=rounds))
    assert Conversing(streaming, again).say("?").content == "done"


@STREAMING
def test_74_a_name_that_no_tool_has(streaming: bool) -> None:
    """By default the model is told near names; your own text replaces it; raising ends the run with a whole history."""
    model = ScriptedModel([call("getWether")], "ok")
    done = Conversing(streaming, agent(model, [getWeather])).say("?")
    assert "getWeather" in texts(done)[0]
    own = ScriptedModel([call("nothing")], "ok")
    text = Conversing(streaming, agent(own, [getWeather], unknown_tool=lambda one: f"no {one.name}")).say("?")
    assert texts(text) == ["no nothing"]

    def refuse(one: ToolCall) -> str:
        raise LookupError(one.name)

    host = agent(ScriptedModel([call("nothing")], "fine"), [getWeather], unknown_tool=refuse)
    with pytest.raises(LookupError):
        Conversing(streaming, host).say("?")
    assert host.memory
    assert not problems(host.memory.messages())
    assert Conversing(streaming, host).say("again").content == "fine"


LLM, NOW, LAST = ReturnBehavior.TO_LLM, ReturnBehavior.IMMEDIATE, ReturnBehavior.IMMEDIATE_IF_LAST
MATRIX = [
    ([LLM], False),
    ([NOW], True),
    ([LAST], True),
    ([LLM, LLM], False),
    ([LLM, NOW], False),
    ([LLM, LAST], True),
    ([NOW, LLM], False),
    ([NOW, NOW], True),
    ([NOW, LAST], True),
    ([LAST, LLM], False),
    ([LAST, NOW], True),
    ([LAST, LAST], True),
    ([LLM, NOW, LAST], True),
    ([LLM, LAST, NOW], False),
    ([NOW, LLM, LAST], True),
    ([NOW, LAST, LLM], False),
    ([LAST, LLM, NOW], False),
    ([LAST, NOW, LLM], False),
]


@STREAMING
@pytest.mark.parametrize(
    ("kinds", "ends"), MATRIX, ids=lambda one: "-".join(one) if isinstance(one, list) else str(one)
)
def test_75_what_ends_a_run(streaming: bool, kinds: list[ReturnBehavior], ends: bool) -> None:
    """The whole matrix of return behaviours; results are in memory either way."""
    tools = [made(f"t{place}", returns=kind) for place, kind in enumerate(kinds)]
    model = ScriptedModel([call(one.spec.name) for one in tools], "said")
    host = agent(model, tools, search=None)
    done = Conversing(streaming, host).say("?")
    assert (done.content, done.finish) == ((None, "tool") if ends else ("said", "stop"))
    assert [one.value for one in done.tool_executions] == ["done"] * len(kinds)
    assert host.memory
    assert not problems(host.memory.messages())


@STREAMING
@pytest.mark.parametrize("kinds", [[NOW, NOW], [LLM, LAST]])
def test_75_an_error_goes_to_the_model(streaming: bool, kinds: list[ReturnBehavior]) -> None:
    """A failed call never ends a run, whatever the others are."""

    def broken(arguments: Any, context: Any) -> None:
        raise ToolErrorForModel("no")

    tools = [made("a", returns=kinds[0]), made("b", run=broken, returns=kinds[1])]
    model = ScriptedModel([call("a"), call("b")], "said")
    assert Conversing(streaming, agent(model, tools, search=None)).say("?").content == "said"


@pytest.mark.parametrize(("kind", "content"), [(NOW, "said"), (LAST, None)])
def test_75_with_a_search_in_the_same_answer(kind: ReturnBehavior, content: str | None) -> None:
    """A search goes to the model: only IMMEDIATE_IF_LAST behind it ends the run."""
    shown = made("end", returns=kind)
    model = ScriptedModel([search("weather"), call("end")], "said")
    done = agent(model, [getWeather, shown], always_visible=["end"]).run_sync("?")
    assert done.content == content


class Vault(Exception):
    """An error of some library."""


def failing(arguments: Any, context: Any) -> None:
    try:
        raise Vault("password 1234")
    except Vault as error:
        raise RuntimeError("outer") from error


@pytest.mark.parametrize(
    ("handler", "text"),
    [(send_message, "password 1234"), (generic_unless_for_model("sorry"), "sorry"), (None, GENERIC)],
)
def test_76_what_the_model_is_told(handler: Any, text: str, caplog: pytest.LogCaptureFixture) -> None:
    """Handlers get the cause; by default the model sees a generic text and the log has the error."""
    handlers = Handlers(execution=handler) if handler else Handlers()
    with caplog.at_level(logging.WARNING, "toolsearch.agent"):
        done = agent(ScriptedModel([call("t")], "ok"), [made("t", run=failing)], search=None, handlers=handlers)
        assert texts(done.run_sync("?")) == [text]
    assert ("password" in caplog.text) == (handler is not send_message)


@pytest.mark.parametrize("handler", [fail_run, fail_run_unless_for_model])
def test_76_a_handler_may_end_the_run(handler: Any) -> None:
    """The error comes out as it was raised, and the history stays whole."""
    model = ScriptedModel([call("t"), call("t")], "fine")
    host = agent(model, [made("t", run=failing)], search=None, handlers=Handlers(execution=handler))
    with pytest.raises(RuntimeError, match="outer"):
        host.run_sync("?")
    assert host.memory
    assert not problems(host.memory.messages())
    assert len(host.memory.messages()) == 4
    assert host.run_sync("again").content == "fine"


def test_76_own_handler_sees_error_and_raw_error() -> None:
    """The cause, the error around it, the call and the run."""
    seen: list[Any] = []

    def own(error: BaseException, context: ErrorContext) -> str:
        seen.append((type(error), type(context.raw), context.call.name, context.context.agent))
        return "told"

    host = agent(
        ScriptedModel([call("t")], "ok"), [made("t", run=failing)], search=None, handlers=Handlers(execution=own)
    )
    assert texts(host.run_sync("?")) == ["told"]
    assert seen == [(Vault, RuntimeError, "t", "agent")]


def test_76_an_error_for_the_model_shows_its_text_only() -> None:
    """Its cause is never shown."""

    def run(arguments: Any, context: Any) -> None:
        raise ToolErrorForModel("try Monday") from Vault("secret")

    done = agent(ScriptedModel([call("t")], "ok"), [made("t", run=run)], search=None).run_sync("?")
    assert texts(done) == ["try Monday"]


class Bank:
    """Money that is moved, and moved back."""

    def __init__(self) -> None:
        self.log: list[str] = []

    @tool
    def debit(self, account: str) -> str:
        self.log.append(f"debit {account}")
        return "ok"

    @tool
    async def credit(self, account: str) -> str:
        self.log.append(f"credit {account}")
        return "ok"

    @tool
    def audit(self) -> str:
        raise ToolErrorForModel("closed")

    @compensates("debit")
    def undo_debit(self, account: str) -> None:
        self.log.append(f"undo debit {account}")

    @compensates("credit")
    async def undo_credit(self, done: ToolExecution) -> None:
        self.log.append(f"undo credit {done.arguments['account']}")
        raise RuntimeError("the other side is down")


class Branch(Bank):
    """Inherits everything."""


DEBIT, CREDIT, AUDIT = call("debit", account="a"), call("credit", account="b"), call("audit")


@STREAMING
@pytest.mark.parametrize("concurrent", [False, True])
@pytest.mark.parametrize("calls", [[DEBIT, CREDIT, AUDIT], [AUDIT, DEBIT, CREDIT], [DEBIT, AUDIT, CREDIT]])
def test_77_compensation_in_reverse_order(streaming: bool, concurrent: bool, calls: list[ToolCall]) -> None:
    """Whichever call fails, the others are undone, the last one first; a failing one does not stop the rest."""
    bank = Branch()
    model = ScriptedModel(calls, "sorry")
    host = agent(model, [bank], search=None, compensate=True, concurrent=concurrent)
    done = Conversing(streaming, host).say("move it")
    assert bank.log[2:] == ["undo credit b", "undo debit a"]
    told = {one.name: one.text for one in results(model.requests[1])}
    assert told["debit"] == "Tool 'debit' was executed successfully but was rolled back due to failure of tool 'audit'"
    assert told["audit"] == "closed"
    assert all(one.failed for one in done.tool_executions)
    assert not any("undo" in name for name in model.names())


def test_77_earlier_rounds_too_and_never_twice() -> None:
    """What earlier rounds did is undone and rewritten in memory; a second failure undoes nothing again."""
    bank = Bank()
    host = agent(ScriptedModel([DEBIT], [AUDIT], [AUDIT], "sorry"), [bank], search=None, compensate=True)
    host.run_sync("?")
    assert bank.log == ["debit a", "undo debit a"]
    assert host.memory
    told = [one.text for one in host.memory.messages() if hasattr(one, "call_id")]
    assert told[0].startswith("Tool 'debit' was executed successfully but was rolled back")


def test_77_off_by_default_and_checked_only_when_on() -> None:
    """Without it nothing is undone; a function for an unknown tool is refused only when it is on."""
    bank = Bank()
    agent(ScriptedModel([DEBIT, AUDIT], "sorry"), [bank], search=None).run_sync("?")
    assert bank.log == ["debit a"]

    @compensates("nothing")
    def stray() -> None: ...

    agent(ScriptedModel("ok"), [getTime, stray], search=None).run_sync("?")
    with pytest.raises(InvalidTool, match="nothing"):
        agent(ScriptedModel("ok"), [getTime, stray], search=None, compensate=True).run_sync("?")


def nothing() -> None:
    return None


def maybe() -> str | None:
    return None


def numbers() -> dict[str, Any]:
    return {"a": [1, 2.5], "b": "ü"}


def unserialisable() -> Any:
    return object()


@pytest.mark.parametrize(
    ("function", "text"),
    [(nothing, "Success"), (maybe, "null"), (getWeather, "sunny"), (numbers, '{"a": [1, 2.5], "b": "ü"}')],
)
def test_78_values_as_text(function: Any, text: str) -> None:
    """Success for a tool that returns nothing, null for None, text as it is, the rest as JSON."""
    done = agent(ScriptedModel([call(function.__name__)], "ok"), [function], search=None).run_sync("?")
    assert texts(done) == [text]


def test_78_a_value_that_is_no_json_is_an_error_that_names_it() -> None:
    """The run goes on."""
    done = agent(ScriptedModel([call("unserialisable")], "ok"), [unserialisable], search=None).run_sync("?")
    assert "object" in texts(done)[0]
    assert done.content == "ok"


def picture() -> list[Any]:
    return ["a dot", PNG]


def test_78_images_are_content() -> None:
    """A model that takes them gets them; for another one it is an error that names both, or a marker if asked for."""
    model = ScriptedModel([call("picture")], "ok")
    agent(model, [picture], search=None).run_sync("?")
    assert PNG in results(model.requests[1])[0].content
    blind = ScriptedModel([call("picture")], "ok", features=BLIND)
    done = agent(blind, [picture], search=None).run_sync("?")
    assert "UnsupportedContent: image/png" in texts(done)[0]
    marked = agent(
        ScriptedModel([call("picture")], "ok", features=BLIND), [picture], search=None, mark_unsupported=True
    )
    assert "[image/png content cannot be shown]" in texts(marked.run_sync("?"))[0]
