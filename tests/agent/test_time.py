"""The time that a whole run has, and what a run shares with everything it calls."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.agent.tools import Conversing, agent, getTime, search, texts
from toolsearch.agent.agents import agent_tool
from toolsearch.agent.context import InvocationParameters
from toolsearch.agent.events import Event
from toolsearch.agent.handlers import ErrorContext, Handlers
from toolsearch.agent.limits import Limits
from toolsearch.agent.memory import ChatMemory
from toolsearch.agent.providers import Provided, ProviderRequest
from toolsearch.chat import ChatRequest, ChatResponse, Features
from toolsearch.conversation import problems
from toolsearch.errors import RunStopped
from toolsearch.protocols import ToolSearchRequest, ToolSearchResult
from toolsearch.strategies.simple import SimpleStrategy
from toolsearch.testing.models import ScriptedModel, call

SHORT = Limits(run_seconds=0.05)


class Silent:
    """A model that never answers."""

    features = Features()

    async def ask(self, request: ChatRequest) -> ChatResponse:
        await asyncio.Event().wait()
        raise AssertionError

    async def stream(self, request: ChatRequest) -> Any:
        await asyncio.Event().wait()
        yield None


@pytest.mark.parametrize("streaming", [False, True], ids=["whole", "streaming"])
def test_a_model_that_never_answers_ends_with_the_run(streaming: bool) -> None:
    """The error carries what there is, and the conversation stays usable."""
    memory = ChatMemory(max_messages=20)
    with pytest.raises(RunStopped, match="longer than it may") as stopped:
        Conversing(streaming, agent(Silent(), [getTime], memory=memory, limits=SHORT)).say("?")  # type: ignore[arg-type]
    assert stopped.value.partial is not None
    assert problems(memory.messages()) == []


def test_a_tool_has_what_is_left_of_the_run() -> None:
    """A call that never returns gets an error result when the run's time is over."""

    async def waits() -> None:
        await asyncio.Event().wait()

    host = agent(ScriptedModel(call("waits"), "ok"), [waits], search=None, limits=SHORT)
    with pytest.raises(RunStopped) as stopped:
        host.run_sync("?")
    partial: Any = stopped.value.partial
    assert [one.result.attributes["error"] for one in partial.tool_executions] == ["timeout"]


def test_an_agent_that_is_asked_has_the_time_of_the_asking_one() -> None:
    """Its own run ends when the outer one's time is over."""
    inner = agent(Silent(), [], search=None, name="inner")  # type: ignore[arg-type]
    outer = agent(ScriptedModel(call("inner", request="x"), "ok"), [agent_tool(inner, "d")], search=None, limits=SHORT)
    with pytest.raises(RunStopped):
        outer.run_sync("?")


@pytest.mark.parametrize(("inner_seconds", "outer_seconds"), [(0.05, None), (0.05, 60), (60, 0.05)])
def test_the_shorter_time_holds(inner_seconds: float, outer_seconds: float | None) -> None:
    """An agent that is asked has its own time too; whichever is over first ends its run."""
    inner = agent(Silent(), [], search=None, name="inner", limits=Limits(run_seconds=inner_seconds))  # type: ignore[arg-type]
    model = ScriptedModel(call("inner", request="x"), "went on")
    limits = Limits(run_seconds=outer_seconds)
    outer = agent(model, [agent_tool(inner, "d")], search=None, limits=limits)
    if outer_seconds is not None and outer_seconds < inner_seconds:
        with pytest.raises(RunStopped):
            outer.run_sync("?")
        return
    done = outer.run_sync("?")
    assert done.content == "went on"
    assert done.tool_executions[0].failed


def test_parameters_reach_everybody() -> None:
    """Provider, strategy, tool, error handler and hook see the very values of the run, and may change them."""
    seen: list[str] = []

    def note(parameters: InvocationParameters, who: str) -> None:
        parameters["seen"] = [*parameters.get("seen", []), who]

    class Noting(SimpleStrategy):
        async def search(self, request: ToolSearchRequest) -> ToolSearchResult:
            note(request.context.parameters, "strategy")
            return await SimpleStrategy().search(request)

    def provide(request: ProviderRequest) -> None:
        note(request.context.parameters, "provider")

    def fails(parameters: InvocationParameters) -> None:
        note(parameters, "tool")
        raise ValueError

    def handler(error: BaseException, context: ErrorContext) -> str:
        note(context.context.parameters, "handler")
        return "failed"

    def hook(event: Event) -> None:
        seen[:] = getattr(event, "context").parameters.get("seen", []) if hasattr(event, "context") else seen  # noqa: B009

    model = ScriptedModel(search("fails"), call("fails"), "ok")
    tools = [fails, getTime, Provided(function=provide)]
    host = agent(model, tools, search=Noting(), handlers=Handlers(execution=handler), hooks=[hook])
    done = host.run_sync("?", parameters={"tenant": 7})
    assert texts(done)[-1] == "failed"
    assert seen == ["provider", "strategy", "tool", "handler"]
