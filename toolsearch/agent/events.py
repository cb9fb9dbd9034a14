"""What happens in a run, as it happens."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from toolsearch.agent.context import InvocationContext
from toolsearch.agent.records import RunResult, ToolExecution
from toolsearch.chat import CallComplete, CallDelta, ChatRequest, ChatResponse, TextDelta
from toolsearch.conversation import ToolCall
from toolsearch.tool import ToolSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelAsked:
    """A request is about to be sent. `model` is the model's own name and `provider` whose it is, where known."""

    request: ChatRequest
    context: InvocationContext
    model: str = ""
    provider: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelAnswered:
    """The model answered, after so many seconds."""

    response: ChatResponse
    seconds: float
    context: InvocationContext


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolStarted:
    """A call is about to be answered; `spec` is None where no tool has that name."""

    call: ToolCall
    spec: ToolSpec | None
    context: InvocationContext


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolFinished:
    """A call was answered."""

    execution: ToolExecution
    context: InvocationContext


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFinished:
    """The run is over; the last event."""

    result: RunResult
    context: InvocationContext


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFailed:
    """An error ended the run; it is raised to whoever asked."""

    error: BaseException
    context: InvocationContext


Event = (
    ModelAsked
    | TextDelta
    | CallDelta
    | CallComplete
    | ModelAnswered
    | ToolStarted
    | ToolFinished
    | RunFinished
    | RunFailed
)
Hook = Callable[[Event], Awaitable[None] | None]
"""Sees every event. An error of a hook is logged and does not disturb the run."""
