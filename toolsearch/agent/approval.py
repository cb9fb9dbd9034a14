"""Calls that a person must approve: which they are, and how a paused run is kept."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from toolsearch.conversation import ToolCall, ToolResult
from toolsearch.tool import Json, ToolSpec

NeedsApproval = Callable[[ToolSpec, Json], bool]
Decision = bool | str
"""True approves, False refuses, a text refuses and is told to the model as the reason."""


def destructive(spec: ToolSpec, arguments: Json) -> bool:
    """Whether a tool is marked as destructive."""
    return spec.annotations.get("destructiveHint") is True


def never(spec: ToolSpec, arguments: Json) -> bool:
    """No call needs approval."""
    return False


POLICIES: Final[Mapping[str, NeedsApproval]] = {"destructive": destructive, "never": never}


def refusal(call: ToolCall, decision: Decision) -> ToolResult:
    """The result of a call that was not approved."""
    reason = f": {decision}" if isinstance(decision, str) and decision else ""
    text = f"The user did not approve this call{reason}. It was not run."
    return ToolResult.for_call(call, text, is_error=True, attributes={"error": "refused"})
