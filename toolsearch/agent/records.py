"""What a run leaves behind: executions, and its result."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

from toolsearch.conversation import Message, ToolCall, ToolResult, Usage
from toolsearch.tool import Json, ToolSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolExecution:
    """One call that was answered.

    `spec` is None for a name that no tool has. `value` is what the tool returned, whole, even where the result
    that the model sees was cut. `error` is what it raised. Times are seconds on the monotonic clock.
    """

    call: ToolCall
    result: ToolResult
    spec: ToolSpec | None = None
    arguments: Json = field(default_factory=dict[str, Any])
    value: Any = None
    error: BaseException | None = None
    started: float = field(default_factory=time.monotonic)
    ended: float = field(default_factory=time.monotonic)
    executed: bool = False

    @property
    def failed(self) -> bool:
        """Whether the result is an error."""
        return self.result.is_error

    @property
    def seconds(self) -> float:
        """How long it took."""
        return self.ended - self.started


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingCall:
    """A call that waits for approval."""

    call: ToolCall
    tool: str
    arguments: Json
    description: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResult:
    """How a run ended.

    `content` is the model's last text, None when the run ended with a tool's result or waits for approval.
    `finish` is stop, tool, approval, limit, length, refusal or other. `visible_tools` are the names that the next
    request would show. `paused` is the text that `Agent.resume` takes.
    """

    content: str | None
    finish: str
    tool_executions: tuple[ToolExecution, ...] = ()
    usage: Usage = field(default_factory=Usage)
    visible_tools: tuple[str, ...] = ()
    messages: tuple[Message, ...] = ()
    rounds: int = 0
    pending: tuple[PendingCall, ...] = ()
    paused: str = field(default="", repr=False)
