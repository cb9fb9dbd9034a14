"""From an agent and a message to a run that can be driven."""

from __future__ import annotations

import asyncio
import inspect
import time
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, cast

from toolsearch.agent.approval import POLICIES, Decision, NeedsApproval
from toolsearch.agent.assembly import check_search_names
from toolsearch.agent.choosing import check_room, check_whole, hinted, most_tools, sends_whole, strategy_for
from toolsearch.agent.compensation import Compensators
from toolsearch.agent.context import InvocationContext, InvocationParameters, Parameters
from toolsearch.agent.driver import Driver, Emit
from toolsearch.agent.entries import Conversation
from toolsearch.agent.exposing import exposed
from toolsearch.agent.loop import Steps, Waiting, steps
from toolsearch.agent.pausing import dump, load
from toolsearch.agent.planning import Planner
from toolsearch.agent.records import RunResult
from toolsearch.agent.run import Run, Settings
from toolsearch.agent.showing import CALL_TOOL, GET_TOOL, chosen
from toolsearch.agent.supply import Supply
from toolsearch.agent.toolbox import Toolbox
from toolsearch.agent.visible import Found
from toolsearch.chat import ChatOptions
from toolsearch.conversation import AssistantMessage, Content, UserMessage
from toolsearch.encoders.opening import open_encoder
from toolsearch.errors import DuplicateTool, InvalidInput, ToolsUnsupported
from toolsearch.protocols import Encoder, ToolSearchStrategy
from toolsearch.tool import ToolSpec

if TYPE_CHECKING:
    from toolsearch.agent.host import Agent

WHOLE: Final = "whole"
SEARCHED: Final = "search"


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One call of an agent."""

    context: InvocationContext
    options: ChatOptions | None = None
    streaming: bool = False


def new_context(
    agent: Agent,
    message: Content | UserMessage,
    memory_id: str | None,
    caller: Iterable[str] | None,
    parameters: Parameters,
) -> InvocationContext:
    """The context of a new run.

    Raises:
        InvalidInput: the caller is a text instead of groups.
    """
    if isinstance(caller, str):
        raise InvalidInput(f"caller must be a list of groups, not the text {caller!r:.80}")
    own = message if isinstance(message, UserMessage) else UserMessage(message)
    said = UserMessage(own.content, summary=own.summary, attributes=own.attributes)
    given = parameters if isinstance(parameters, InvocationParameters) else InvocationParameters(parameters)
    return InvocationContext(
        run_id=uuid.uuid4().hex,
        agent=agent.name,
        memory_id=(memory_id or "default") if agent.memory else None,
        message=said,
        augmented=said,
        parameters=given,
        caller=None if caller is None else frozenset(caller),
    )


async def prepared(agent: Agent, request: Request, emit: Emit) -> tuple[Driver, Steps]:
    """A run for a request.

    Raises:
        InvalidInput: an option, a tool or a name is not acceptable.
    """
    conversation = await _conversation(agent, request.context)
    request = replace(request, context=await _augmented(agent, request.context))
    driver = await _driver(agent, request, conversation, emit)
    driver.run.window = list(conversation.entries)
    return driver, _pausing(driver.run, steps(driver.run))


@dataclass(frozen=True, slots=True, kw_only=True)
class Resumption:
    """A paused run that goes on: what was decided about its calls, by their ids."""

    paused: str
    decisions: Mapping[str, Decision]
    parameters: Parameters = None
    options: ChatOptions | None = None
    streaming: bool = False


async def resumed(agent: Agent, given: Resumption, emit: Emit) -> RunResult:
    """Go on with a paused run.

    Raises:
        InvalidInput: the text is no paused run.
    """
    state = load(given.paused)
    context = replace(
        new_context(agent, state.question, state.memory_id, state.caller, given.parameters),
        run_id=state.run_id,
        augmented=state.augmented,
        deadline=_deadline(agent),
    )
    conversation = await _conversation(agent, context)
    request = Request(context=context, options=given.options, streaming=given.streaming)
    driver = await _driver(agent, request, conversation, emit)
    state.restore(driver.run)
    decisions = {call_id: given.decisions.get(call_id, False) for call_id in state.pending}
    return await driver.drive(_pausing(driver.run, steps(driver.run, Waiting(state.waiting, decisions))))


def _pausing(run: Run, inner: Steps) -> Steps:
    """The steps of a run; a result that waits for approval gets the text to resume it with."""
    result = yield from inner
    if result.finish != "approval":
        return result
    ids = [one.call.id for one in result.pending]
    return replace(
        result, paused=dump(run, cast("AssistantMessage", result.messages[-1]), ids), messages=result.messages[:-1]
    )


async def _conversation(agent: Agent, context: InvocationContext) -> Conversation:
    if agent.memory is None or context.memory_id is None:
        return Conversation()
    return await asyncio.to_thread(agent.memory.store.load, context.memory_id)


async def _augmented(agent: Agent, context: InvocationContext) -> InvocationContext:
    bounds = [one for one in (context.deadline, _deadline(agent)) if one is not None]
    context = replace(context, deadline=min(bounds, default=None))
    if agent.augment is None:
        return context
    made: Any = agent.augment(context.message, context)
    made = await made if inspect.isawaitable(made) else made
    return replace(context, augmented=made if isinstance(made, UserMessage) else UserMessage(made))


def _deadline(agent: Agent) -> float | None:
    seconds = agent.limits.run_seconds
    return None if seconds is None else time.monotonic() + seconds


async def _driver(agent: Agent, request: Request, conversation: Conversation, emit: Emit) -> Driver:
    context, model = request.context, agent.chat_model
    supply = await _supply(agent, context, conversation)
    toolbox = supply.current()
    mode = _mode(agent, toolbox, conversation)
    show = chosen(agent.show, model.features)
    strategy = strategy_for(agent.search, show) if mode == SEARCHED else None
    search = _search_tools(strategy, toolbox, context, proxied=show == "proxy")
    if strategy is None:
        check_whole(toolbox, agent.limits, model.features)
    elif show == "inline":
        check_room(toolbox, len(search), agent.limits, model.features)
    supply.taken = [*search, GET_TOOL.name, CALL_TOOL.name] if show == "proxy" else list(search)
    settings = Settings(
        context=context,
        features=model.features,
        limits=agent.limits,
        expose=agent.expose,
        system=_system(agent, search),
        show=show if strategy else WHOLE,
        search=search,
        memory=agent.memory,
        options=_options(agent, request, toolbox, search),
        needs_approval=_policy(agent.approval),
        compensators=_compensators(agent, toolbox),
    )
    planner = Planner(
        limits=agent.limits,
        search=search,
        hidden=agent.hidden_calls,
        proxied=show == "proxy" and strategy is not None,
        unknown=agent.unknown_tool,
    )
    run = Run(settings=settings, planner=planner, window=[], found=Found(agent.limits.max_visible_tools))
    if settings.options.tool_choice not in (None, "auto", "none", "required"):
        run.forced = _forced_id(settings.options.tool_choice, toolbox)
    return Driver(
        run=run,
        supply=supply,
        model=model,
        handlers=agent.handlers,
        workers=agent.workers,
        emit=emit,
        strategy=strategy,
        streaming=request.streaming,
        concurrent=agent.concurrent,
        mark_unsupported=agent.mark_unsupported,
        facts={"search": mode},
    )


def _mode(agent: Agent, toolbox: Toolbox, conversation: Conversation) -> str:
    """Whether all tools are sent. With "auto" a conversation keeps its way for as long as that is possible."""
    kept = conversation.facts.get("search") if agent.search == "auto" else None
    if kept == WHOLE and toolbox.count() > most_tools(agent.limits, agent.chat_model.features):
        kept = SEARCHED
    return kept or (WHOLE if sends_whole(agent.search, toolbox, agent.limits) else SEARCHED)


async def _supply(agent: Agent, context: InvocationContext, conversation: Conversation) -> Supply:
    supply = Supply(
        assembly=agent.assembly,
        context=context,
        always_visible=agent.always_visible,
        encoder=lambda: _encoder(agent),
        runner=agent.sourced.executor,
    )
    await supply.start([*conversation.messages, context.message])
    return supply


def _encoder(agent: Agent) -> Encoder | None:
    if isinstance(agent.encoder, str):
        if not isinstance(agent.search, str):
            return None
        agent.encoder = open_encoder(agent.encoder)
    return agent.encoder


def _search_tools(
    strategy: ToolSearchStrategy | None, toolbox: Toolbox, context: InvocationContext, *, proxied: bool
) -> dict[str, ToolSpec]:
    """The search tools by the name they are called by; no other tool may have it."""
    if strategy is None:
        return {}
    found = {exposed(spec.id): spec for spec in strategy.search_tools(context)}
    if not found:
        raise InvalidInput("the search strategy shows no search tool")
    check_search_names(found.values(), toolbox.fixed.values())
    for name in [*found, *((GET_TOOL.name, CALL_TOOL.name) if proxied else ())]:
        other = toolbox.called(name)
        if other is not None:
            raise DuplicateTool(
                f"the search tool {name[:100]!r} has the name of the tool {other.id[:100]!r}; rename one"
            )
    return found


def _system(agent: Agent, search: Mapping[str, ToolSpec]) -> str:
    hint = hinted(agent.hint, next(iter(search.values()))) if agent.hint and search else ""
    return "\n\n".join(part for part in (agent.system, hint) if part)


def _options(agent: Agent, request: Request, toolbox: Toolbox, search: Mapping[str, ToolSpec]) -> ChatOptions:
    """The options of this call, or the agent's; a forced tool is named as the model knows it.

    Raises:
        ToolsUnsupported: the model cannot be forced, or not to a search tool.
        InvalidInput: the forced tool does not exist.
    """
    options = request.options or agent.options
    choice, forced = options.tool_choice, agent.chat_model.features.forced
    if choice in (None, "auto", "none"):
        return options
    if choice in search:
        raise ToolsUnsupported(f"the search tool {choice[:80]!r} is never forced; leave the choice to the model")
    kind = "required" if choice == "required" else "tool"
    if kind not in forced:
        raise ToolsUnsupported(f"this model cannot be forced to call a tool (tool_choice={choice[:80]!r})")
    return options if kind == "required" else replace(options, tool_choice=exposed(_forced_id(choice, toolbox)))


def _forced_id(choice: str | None, toolbox: Toolbox) -> str:
    spec = toolbox.get(choice or "") or toolbox.called(choice or "")
    if spec is None:
        raise InvalidInput(f"tool_choice names {choice!r:.100}, which is no tool of this caller")
    return spec.id


def _policy(approval: str | NeedsApproval) -> NeedsApproval:
    if not isinstance(approval, str):
        return approval
    if approval not in POLICIES:
        raise InvalidInput(f"approval is {approval!r:.40}; it must be {', '.join(POLICIES)} or a function")
    return POLICIES[approval]


def _compensators(agent: Agent, toolbox: Toolbox) -> Compensators | None:
    if not agent.compensate:
        return None
    return Compensators.of(agent.assembly.owners, [tool.spec for tool in toolbox.fixed.values()])
