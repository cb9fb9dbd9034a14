"""Running tools: what is injected, time limits, cancelling, hostile sizes, approval, events."""

from __future__ import annotations

import asyncio
import contextvars
import logging
import threading
from typing import Annotated, Any

import pytest

from tests.agent.tools import SEARCH, add, agent, getTime, getWeather, made, search, texts
from toolsearch.agent.agents import agent_tool
from toolsearch.agent.context import InvocationContext, InvocationParameters, MemoryId
from toolsearch.agent.events import Event, RunFailed, RunFinished, ToolFinished, ToolStarted
from toolsearch.agent.limits import Limits
from toolsearch.agent.memory import ChatMemory
from toolsearch.agent.records import RunResult
from toolsearch.agent.results import ToolReturn
from toolsearch.agent.statistics import Logging, Statistics
from toolsearch.agent.wrappers import cached, retrying
from toolsearch.catalog.functions import tool
from toolsearch.chat import CallComplete, CallDelta, ChatOptions, ChatRequest, ChatResponse, TextDelta
from toolsearch.conversation import AssistantMessage, ToolResult, Usage, UserMessage, problems
from toolsearch.errors import InvalidInput, InvalidTool, ModelFailed, ToolErrorForModel
from toolsearch.testing.models import ScriptedModel, call

SCRIPT: Any = [call("t")], "ok"


def test_what_is_injected_is_hidden_from_the_model() -> None:
    """Conversation, shared parameters and context reach the tool; its schema shows none of them."""
    seen: list[Any] = []

    def t(
        who: Annotated[str | None, MemoryId],
        parameters: InvocationParameters,
        context: InvocationContext,
        text: str = "",
    ) -> str:
        parameters["count"] = parameters.get("count", 0) + 1
        seen.append((who, context.memory_id, context.message.text, context.call.name if context.call else None))
        return str(parameters["user"])

    model = ScriptedModel([call("t"), call("t")], "ok")
    shared = InvocationParameters({"user": "ann"})
    done = agent(model, [t], search=None).run_sync("hello", memory_id="m1", parameters=shared)
    assert texts(done) == ["ann", "ann"]
    assert seen[0] == ("m1", "m1", "hello", "t")
    assert shared["count"] == 2
    assert list(model.requests[0].tools[0].parameters["properties"]) == ["text"]


def test_without_memory_the_id_is_none() -> None:
    """A tool that asks for it gets None."""

    def t(who: Annotated[str | None, MemoryId]) -> str:
        return repr(who)

    assert texts(agent(ScriptedModel(*SCRIPT), [t], search=None, memory=None).run_sync("?")) == ["None"]


def test_plain_functions_see_the_callers_context_variables() -> None:
    """They run in a thread of their own, with the variables of whoever called."""
    variable = contextvars.ContextVar("variable", default="unset")

    def t() -> str:
        return f"{variable.get()} {threading.current_thread() is threading.main_thread()}"

    async def run() -> RunResult:
        variable.set("set")
        return await agent(ScriptedModel(*SCRIPT), [t], search=None).run("?")

    assert texts(asyncio.run(run())) == ["set False"]


@pytest.mark.parametrize("kind", ["plain", "async"])
@pytest.mark.parametrize("bound", [0.05, {"t": 0.05}])
def test_a_tool_that_never_returns(kind: str, bound: Any) -> None:
    """Its call becomes an error result, and the run goes on."""
    forever = threading.Event()

    def plain() -> None:
        forever.wait(30)

    async def waiting() -> None:
        await asyncio.sleep(30)

    function = tool(name="t")(plain if kind == "plain" else waiting)
    done = agent(ScriptedModel(*SCRIPT), [function], search=None, limits=Limits(tool_timeout=bound)).run_sync("?")
    forever.set()
    assert texts(done) == ["the tool t did not answer within 0.05 seconds"]
    assert done.tool_executions[0].result.attributes == {"error": "timeout"}
    assert done.content == "ok"


def test_cancelling_leaves_a_whole_history() -> None:
    """The call that was running and those after it get results, and the next run works."""
    started = asyncio.Event

    async def run() -> None:
        running = started()

        async def t() -> None:
            running.set()
            await asyncio.sleep(30)

        host = agent(
            ScriptedModel([call("add", a=1, b=2), call("t"), call("add", a=1, b=2)], "fine"), [t, add], search=None
        )
        task = asyncio.create_task(host.run("?"))
        await running.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert host.memory
        messages = host.memory.messages()
        assert not problems(messages)
        assert next(one.text for one in messages if hasattr(one, "call_id")) == "3"
        assert (await host.run("again")).content == "fine"

    asyncio.run(run())


def destructive(name: str = "wipe") -> tuple[Any, list[Any]]:
    ran: list[Any] = []
    one = made(
        name,
        "Erase",
        lambda arguments, context: ran.append(arguments) or "erased",
        annotations={"destructiveHint": True},
    )
    return one, ran


@pytest.mark.parametrize(
    ("decision", "text"),
    [
        (True, "erased"),
        (False, "did not approve this call."),
        ("not on Friday", "did not approve this call: not on Friday"),
    ],
)
def test_a_destructive_call_waits(decision: Any, text: str) -> None:
    """The run pauses with nothing run; another agent of the same kind resumes it from text."""
    wipe, ran = destructive()
    first = agent(ScriptedModel([call("getTime"), call("wipe")]), [wipe, getTime], search=None)
    paused = first.run_sync("?")
    assert (paused.finish, paused.content, ran) == ("approval", None, [])
    [pending] = paused.pending
    assert pending.tool == "wipe"
    assert first.memory
    assert not problems(first.memory.messages())
    model = ScriptedModel("done")
    second = agent(model, [wipe, getTime], search=None, memory=first.memory)
    done = asyncio.run(second.resume(paused.paused, {pending.call.id: decision}))
    assert done.content == "done"
    assert texts(done)[0] == "12:00"
    assert text in texts(done)[1]
    assert bool(ran) is (decision is True)
    assert not problems(model.requests[0].messages)


def test_resuming_keeps_what_was_found() -> None:
    """Found tools, counts and earlier executions come back; a text that is no paused run is refused."""
    wipe, ran = destructive()
    model = ScriptedModel(search("wipe"), call("wipe"))
    host = agent(model, [wipe, getTime], memory=None)
    paused = host.run_sync("?")
    assert paused.rounds == 1
    after = ScriptedModel("done")
    decisions = {one.call.id: True for one in paused.pending}
    done = asyncio.run(agent(after, [wipe, getTime], memory=None).resume(paused.paused, decisions))
    assert ran == [{}]
    assert after.names() == [SEARCH, "wipe"]
    assert [one.call.name for one in done.tool_executions] == [SEARCH, "wipe"]
    with pytest.raises(InvalidInput, match="not a paused run"):
        asyncio.run(host.resume("{}", {}))


def test_approval_may_be_your_own_choice() -> None:
    """A function of tool and arguments, or never."""
    wipe, ran = destructive()
    agent(ScriptedModel([call("wipe")], "ok"), [wipe], search=None, approval="never").run_sync("?")
    assert ran
    host = agent(
        ScriptedModel([call("add", a=1, b=2)]), [add], search=None, approval=lambda spec, given: given["a"] == 1
    )
    assert host.run_sync("?").finish == "approval"


def test_streaming_events_in_order() -> None:
    """Partial calls, complete calls, tools, text, the end; their texts add up."""

    async def run() -> list[Event]:
        host = agent(ScriptedModel([call("add", a=1, b=2)], "one plus two is three"), [add], search=None)
        return [event async for event in host.stream("?")]

    events = asyncio.run(run())
    assert "".join(one.text for one in events if isinstance(one, TextDelta)) == "one plus two is three"
    assert "".join(one.arguments for one in events if isinstance(one, CallDelta)) == '{"a": 1, "b": 2}'
    kinds = [type(one) for one in events]
    order = [CallComplete, ToolStarted, ToolFinished, TextDelta, RunFinished]
    assert [kinds.index(one) for one in order] == sorted(kinds.index(one) for one in order)


def test_statistics_logging_and_failing_hooks(caplog: pytest.LogCaptureFixture) -> None:
    """Calls, errors and wrong arguments are counted; contents are logged only on request; a hook cannot break a run."""
    statistics = Statistics()

    def broken(event: Event) -> None:
        raise RuntimeError("hook")

    def fails() -> None:
        raise ToolErrorForModel("no")

    model = ScriptedModel([call("add", a=41, b=1), call("add", a="x"), call("fails")], "ok")
    host = agent(model, [add, fails], search=None, hooks=[statistics, broken, Logging()])
    with caplog.at_level(logging.INFO, "toolsearch.agent"):
        host.run_sync("?")
    one = statistics.tools["add"]
    assert (one.calls, one.errors, one.wrong_arguments) == (2, 1, 1)
    assert (one.error_rate, one.argument_failure_rate) == (0.5, 0.5)
    assert statistics.tools["fails"].error_rate == 1.0
    assert (statistics.runs, statistics.model_calls) == (1, 2)
    assert "tool add: ok" in caplog.text
    assert "41" not in caplog.text


def test_a_failed_run_is_an_event_too() -> None:
    """Hooks see the error that ends a run."""
    seen: list[Event] = []
    with pytest.raises(ModelFailed):
        agent(ScriptedModel(ModelFailed("down")), [add], hooks=[seen.append]).run_sync("?")
    assert isinstance(seen[-1], RunFailed)


def test_retrying_is_opt_in() -> None:
    """The host never repeats; the wrapper does, for the errors it is told."""
    tries: list[int] = []

    def t() -> str:
        tries.append(1)
        if len(tries) < 3:
            raise ConnectionError
        return "up"

    assert texts(agent(ScriptedModel(*SCRIPT), [t], search=None).run_sync("?")) != ["up"]
    tries.clear()
    assert texts(agent(ScriptedModel(*SCRIPT), [retrying(t, wait=0)], search=None).run_sync("?")) == ["up"]


def test_a_cache_never_crosses_conversations_or_keeps_errors() -> None:
    """Equal calls of one conversation share a result until it is old; others and errors do not."""
    now, tries = [0.0], []

    @tool(annotations={"readOnlyHint": True})
    def t() -> str:
        tries.append(1)
        if len(tries) == 1:
            raise ToolErrorForModel("not yet")
        return f"answer {len(tries)}"

    one = cached(t, ttl=10, clock=lambda: now[0])
    model = ScriptedModel([call("t"), call("t"), call("t")], "ok", [call("t")], "ok", [call("t")], "ok")
    host = agent(model, [one], search=None)
    assert texts(host.run_sync("?", memory_id="a")) == ["not yet", "answer 2", "answer 2"]
    assert texts(host.run_sync("?", memory_id="b")) == ["answer 3"]
    now[0] = 11
    assert texts(host.run_sync("?", memory_id="a")) == ["answer 4"]
    with pytest.raises(InvalidTool, match="readOnlyHint"):
        cached(add, ttl=1)


def test_an_agent_as_a_tool() -> None:
    """It has its own memory, gets the request, shares groups and parameters, and its tokens are added."""
    used = Usage(input_tokens=100, output_tokens=10)
    said = ChatResponse(message=AssistantMessage("it is noon"), usage=used)
    inner_model = ScriptedModel(said, said)
    inner = agent(inner_model, [getTime], name="clock", search=None)
    asked = agent_tool(inner, "Knows the time")
    outer_model = ScriptedModel(
        [call("clock", request="what time?")], ChatResponse(message=AssistantMessage("noon"), usage=used)
    )
    done = agent(outer_model, [asked], search=None).run_sync("?", memory_id="m")
    assert texts(done) == ["it is noon"]
    assert inner_model.requests[0].messages[-1] == UserMessage("what time?")
    assert inner.memory
    assert len(inner.memory.messages("m/clock")) == 2
    assert done.usage.input_tokens >= 200
    again = ScriptedModel([call("clock")], "ok")
    agent(again, [agent_tool(inner, "Knows the time", verbatim=True)], search=None).run_sync("the very words")
    assert inner_model.requests[1].messages[-1] == UserMessage("the very words")


def test_agents_may_keep_their_conversations_in_one_place() -> None:
    """What the one was asked is no part of what the other one's person said."""
    memory = ChatMemory(max_messages=20)
    inner = agent(ScriptedModel("it is noon"), [], name="clock", search=None, memory=memory)
    model = ScriptedModel([call("clock", request="what time?")], "noon", "ok")
    outer = agent(model, [agent_tool(inner, "Knows the time")], search=None, memory=memory)
    outer.run_sync("first")
    outer.run_sync("second")
    said = [one.text for one in model.requests[-1].messages if isinstance(one, UserMessage)]
    assert said == ["first", "second"]


def test_agents_that_ask_each_other_end() -> None:
    """The depth is bounded, and the model is told."""

    def line(request: ChatRequest) -> Any:
        return "ok" if isinstance(request.messages[-1], ToolResult) else call("echo", request="again")

    model = ScriptedModel(*[line] * 20)
    holder: list[Any] = []

    async def echo(request: str, context: InvocationContext) -> Any:
        return await holder[0].execute({"request": request}, context)

    host = agent(model, [tool(name="echo")(echo)], search=None, name="echo", limits=Limits(depth=3), memory=None)
    holder.append(agent_tool(host, "Asks itself"))
    done = host.run_sync("?")
    assert done.content == "ok"
    assert len(model.requests) <= 8


def test_attributes_must_be_json() -> None:
    """A tool may add attributes; what is no JSON is refused where it is built."""
    with pytest.raises(InvalidTool):
        ToolReturn("x", {"a": object()})
    done = agent(
        ScriptedModel(*SCRIPT), [made("t", run=lambda a, c: ToolReturn("x", {"score": 1}))], search=None
    ).run_sync("?")
    assert done.tool_executions[0].result.attributes == {"score": 1}


def test_options_of_a_call_go_before_the_agents() -> None:
    """They hold for this run."""
    model = ScriptedModel("a", "b")
    host = agent(model, [add], options=ChatOptions(temperature=0.5))
    host.run_sync("?")
    host.run_sync("?", options=ChatOptions(temperature=0.1))
    assert [one.options.temperature for one in model.requests] == [0.5, 0.1]


def test_augmenting_is_for_this_run_only() -> None:
    """The model gets the augmented question, the memory keeps what was said."""
    model = ScriptedModel("a", "b")
    host = agent(model, [getWeather], augment=lambda message, context: f"{message.text} [documents]")
    host.run_sync("hi")
    host.run_sync("and")
    assert model.requests[0].messages[-1] == UserMessage("hi [documents]")
    assert UserMessage("hi") in model.requests[1].messages


def test_run_sync_inside_a_loop_says_what_to_do() -> None:
    """It is refused with the way out."""

    async def run() -> None:
        agent(ScriptedModel("ok"), [add]).run_sync("?")

    with pytest.raises(InvalidInput, match=r"await run\(...\) there"):
        asyncio.run(run())


def test_a_caller_is_a_list_of_groups() -> None:
    """A plain text is refused instead of being read as letters."""
    with pytest.raises(InvalidInput, match="list of groups"):
        agent(ScriptedModel("ok"), [add]).run_sync("?", caller="admin")
