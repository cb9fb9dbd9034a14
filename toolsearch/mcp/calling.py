"""Who asks, and one call on its way to a tool."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

from mcp.shared.dispatcher import ProgressFnT
from mcp_types import CallToolResult

from toolsearch.tool import Json, ToolSpec


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks: its groups, None for the trusted owner who sees everything; and the name of its key, "" without.

    `record`, where there is one, is given the id of each tool that is called.
    """

    groups: frozenset[str] | None = None
    name: str = ""
    record: Callable[[str], object] | None = field(default=None, compare=False, repr=False)


OWNER = Caller()
Ask = Callable[[Any], Awaitable[Any]]
"""Passes a request of a server on to the client of one call; gives its result, or the SDK's ErrorData."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Back:
    """Ways back to the client of a call: it is told progress, and asked what a server asks."""

    progress: ProgressFnT | None = None
    ask: Ask | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One call of a tool; the arguments were checked, and the caller may use the tool."""

    spec: ToolSpec
    arguments: Json
    caller: Caller = OWNER
    back: Back = field(default_factory=Back)


class Runner(Protocol):
    """Runs calls of the tools of one source."""

    async def run(self, call: Call) -> CallToolResult:
        """The answer of the tool, also when it says that it failed.

        Raises:
            ToolExecutionError: the tool did not answer; the text is for the model.
        """
        ...
