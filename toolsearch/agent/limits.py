"""The numbers that keep a run bounded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from toolsearch.errors import InvalidInput

POSITIVE: Final = (
    "max_visible_tools", "same_searches", "same_writes", "arguments", "result", "calls", "workers", "depth",
)  # fmt: skip
HiddenCalls = Literal["show", "execute", "reject"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Bounds of a run.

    Attributes:
        max_rounds: rounds of tool calls.
        max_visible_tools: tools in one request, always visible and search tools included; a provider's own
            bound holds too.
        whole_tools: with search="auto", at most so many tools are sent whole, without a search tool.
        whole_tokens: and at most so many tokens of their definitions.
        found_tokens: tokens of definitions that one search may bring in; None for no bound.
        same_searches: a search is answered so often; after that it is refused as repeated.
        same_writes: a call that writes, by its tool's annotations, is run so often with the same arguments while
            nothing else is changed in between, counted over the rounds of a run; after that the model is given the
            old result again. None for no bound.
        tool_timeout: seconds for one call, or by tool id; None waits for ever.
        arguments: characters of a call's arguments.
        result: characters of a result that the model sees; the rest is cut with a notice.
        calls: calls of one answer that are run; the others are refused.
        workers: plain functions that run at once, each in its own thread.
        run_seconds: time for the whole run; None for no bound.
        depth: how deep agents may call agents.
    """

    max_rounds: int = 100
    max_visible_tools: int = 128
    whole_tools: int = 20
    whole_tokens: int = 5_000
    found_tokens: int | None = None
    same_searches: int = 2
    same_writes: int | None = None
    tool_timeout: float | Mapping[str, float] | None = None
    arguments: int = 1_000_000
    result: int = 100_000
    calls: int = 100
    workers: int = 32
    run_seconds: float | None = None
    depth: int = 4

    def __post_init__(self) -> None:
        for name in POSITIVE:
            value = getattr(self, name)
            if value is not None and value < 1:
                raise InvalidInput(f"{name} is {value}; it must be 1 or more")
        if self.max_rounds < 0:
            raise InvalidInput(f"max_rounds is {self.max_rounds}; it must not be negative")

    def timeout_of(self, tool_id: str) -> float | None:
        """Seconds for one call of a tool."""
        return self.tool_timeout.get(tool_id) if isinstance(self.tool_timeout, Mapping) else self.tool_timeout
