"""The agent loop without waiting: a generator that says what is needed next and is sent the answers."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from toolsearch.agent.approval import Decision, refusal
from toolsearch.agent.arguments import parsed
from toolsearch.agent.calls import distinct
from toolsearch.agent.compensation import rolled_back, to_undo
from toolsearch.agent.planning import Planned
from toolsearch.agent.records import PendingCall, RunResult, ToolExecution
from toolsearch.agent.repeating import once
from toolsearch.agent.results import ToolReturn
from toolsearch.agent.run import Run
from toolsearch.agent.toolbox import Toolbox
from toolsearch.chat import ChatRequest, ChatResponse
from toolsearch.conversation import AssistantMessage, Message, Text, ToolResult, Usage, UserMessage
from toolsearch.errors import RunStopped, ToolArgumentsError
from toolsearch.tool import Json, ReturnBehavior


@dataclass(frozen=True, slots=True)
class Refresh:
    """Which tools are there now? Answered with a Toolbox."""


@dataclass(frozen=True, slots=True)
class AskModel:
    """Ask the model this. Answered with a ChatResponse."""

    request: ChatRequest


@dataclass(frozen=True, slots=True)
class RunCalls:
    """Answer these calls. Answered with `Ran`."""

    planned: tuple[Planned, ...]


@dataclass(frozen=True, slots=True)
class Ran:
    """One execution for each call, in their order; `failure` ends the run once they are remembered."""

    executions: tuple[ToolExecution, ...]
    failure: BaseException | None = None


@dataclass(frozen=True, slots=True)
class Undo:
    """Undo these executions, one after another. Answered with nothing."""

    executions: tuple[ToolExecution, ...]


@dataclass(frozen=True, slots=True)
class Summarise:
    """Say what these messages said; they are leaving. Answered with a text, or None."""

    messages: tuple[Message, ...]


@dataclass(frozen=True, slots=True)
class Save:
    """The conversation has changed and is whole; keep it. Answered with nothing."""


Step = Refresh | AskModel | RunCalls | Undo | Summarise | Save
Steps = Generator[Step, Any, RunResult]


@dataclass(frozen=True, slots=True)
class Waiting:
    """An answer of the model whose calls wait for approval, and what was decided about them."""

    message: AssistantMessage
    decisions: Mapping[str, Decision]


def steps(run: Run, waiting: Waiting | None = None) -> Steps:
    """The run from its question, or from calls that waited, to its result.

    Raises:
        RunStopped: there were more rounds of calls than the limits allow.
    """
    if waiting is None:
        yield from _begin(run)
    else:
        yield from _refresh(run)
        ended = yield from _round(run, waiting.message, _plan(run, waiting.message, waiting.decisions))
        if ended is not None:
            return ended
    while True:
        if run.asked or waiting:
            yield from _refresh(run)
        response: ChatResponse = yield AskModel(run.request())
        run.asked += 1
        run.usage += response.usage
        message = distinct(response.message, {one.call.id for one in run.executions})
        if not message.calls:
            yield from _remember(run, [message])
            return run.result(response.text, response.finish)
        if run.rounds >= run.settings.limits.max_rounds:
            bound = run.settings.limits.max_rounds
            text = f"Something is wrong, exceeded {bound} tool calling round trips (max_rounds)"
            raise RunStopped(text, run.result(response.text or None, "limit"))
        run.cut = message.calls[-1].id if response.finish == "length" else ""
        planned = _plan(run, message, {})
        pending = _pending(run, planned)
        if pending:
            run.planner.forget(message.calls)
            return replace(
                run.result(response.text or None, "approval"), pending=pending, messages=(*_seen(run), message)
            )
        ended = yield from _round(run, message, planned)
        if ended is not None:
            return ended


def _begin(run: Run) -> Generator[Step, Any, None]:
    entry = run.entry(run.settings.context.message)
    run.question = entry.key
    run.window.append(entry)
    yield from _trim(run)
    yield from _refresh(run)
    for old in run.window:
        run.found.take(old.message)
    if run.forced:
        run.found.find([run.forced])


def _refresh(run: Run) -> Generator[Step, Any, None]:
    """Tools that dynamic providers give come before those that the last round found."""
    toolbox: Toolbox = yield Refresh()
    run.enter(toolbox)
    run.take_fresh()


def _plan(run: Run, message: AssistantMessage, decisions: Mapping[str, Decision]) -> list[Planned]:
    run.found.take(message)
    visible = {spec.id for spec in run.visible()}
    limit = run.settings.limits.calls
    found: list[Planned] = []
    for place, call in enumerate(message.calls):
        decision = decisions.get(call.id, True)
        if decision is not True:
            found.append(Planned(call=call, kind="answer", answer=refusal(call, decision)))
        elif place >= limit:
            found.append(run.planner.refused(call))
        elif call.id == run.cut:
            found.append(run.planner.cut_off(call))
        else:
            found.append(_once(run, run.planner.plan(call, run.toolbox, visible)))
    return found


def _once(run: Run, planned: Planned) -> Planned:
    """Where a limit is set, a call that writes is not repeated word for word; who approves calls decides themselves."""
    limit = run.settings.limits.same_writes
    if limit is None or planned.kind != "run" or planned.spec is None or not run.executions:
        return planned
    arguments = _arguments(planned.raw, run.settings.limits.arguments)
    if arguments is None or run.settings.needs_approval(planned.spec, arguments):
        return planned
    return once(planned, arguments, run.executions, limit)


def _pending(run: Run, planned: Sequence[Planned]) -> tuple[PendingCall, ...]:
    found: list[PendingCall] = []
    for one in planned:
        if one.kind != "run" or one.spec is None:
            continue
        arguments = _arguments(one.raw, run.settings.limits.arguments)
        if arguments is not None and run.settings.needs_approval(one.spec, arguments):
            found.append(
                PendingCall(call=one.call, tool=one.spec.id, arguments=arguments, description=one.spec.description)
            )
    return tuple(found)


def _arguments(raw: str, limit: int) -> Json | None:
    try:
        return parsed(raw, limit)
    except ToolArgumentsError:
        return None


def _round(run: Run, message: AssistantMessage, planned: Sequence[Planned]) -> Generator[Step, Any, RunResult | None]:
    """Run the calls of one answer and remember both; the result when that ends the run."""
    ran: Ran = yield RunCalls(tuple(planned))
    run.rounds += 1
    run.executions += ran.executions
    for one in ran.executions:
        run.usage += (one.value.usage if isinstance(one.value, ToolReturn) else None) or Usage()
    yield from _undo(run, ran)
    results = [one.result for one in run.executions[len(run.executions) - len(ran.executions) :]]
    yield from _remember(run, [message, *results])
    run.fresh += results
    if ran.failure is not None:
        raise ran.failure
    if not returns_now(run.executions[-len(results) :]):
        return None
    run.take_fresh()
    return run.result(None, "tool")


def _undo(run: Run, ran: Ran) -> Generator[Step, Any, None]:
    """Undo what was done in this run when a call failed, and say so in the results."""
    failed = next((one for one in ran.executions if one.failed), None)
    if failed is None or run.settings.compensators is None:
        return
    undone = to_undo(run.executions, run.settings.compensators, run.compensated)
    if not undone:
        return
    yield Undo(tuple(undone))
    for one in undone:
        run.compensated.add(one.call.id)
        _rewrite(run, one, rolled_back(one, failed))


def _rewrite(run: Run, done: ToolExecution, text: str) -> None:
    old = done.result
    new = ToolResult(old.call_id, old.name, [Text(text)], is_error=True, attributes=old.attributes)
    run.executions = [replace(one, result=new) if one is done else one for one in run.executions]
    run.window = [replace(one, message=new) if one.message is old else one for one in run.window]


def _remember(run: Run, messages: Sequence[Message]) -> Generator[Step, Any, None]:
    run.window += [run.entry(message) for message in messages]
    yield from _trim(run)


def _trim(run: Run) -> Generator[Step, Any, None]:
    dropped = run.evict()
    if dropped and run.settings.memory and run.settings.memory.summarise:
        text: str | None = yield Summarise(dropped)
        if text:
            run.window.insert(0, run.entry(UserMessage(text, summary=True)))
    yield Save()


def _seen(run: Run) -> tuple[Message, ...]:
    return tuple(entry.message for entry in run.window)


def returns_now(executions: Sequence[ToolExecution]) -> bool:
    """Whether the results of one round end the run: never after an error or without calls."""
    if not executions or any(one.failed for one in executions):
        return False
    kinds = [one.spec.returns if one.spec else ReturnBehavior.TO_LLM for one in executions]
    if kinds[-1] is ReturnBehavior.IMMEDIATE_IF_LAST:
        return True
    return all(kind is not ReturnBehavior.TO_LLM for kind in kinds)
