"""Watching: counts, durations and error rates per tool, and a log of what happens. Both are hooks."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from threading import Lock

from toolsearch.agent.events import Event, ModelAnswered, RunFinished, ToolFinished
from toolsearch.agent.planning import ERROR

MAX_TOOLS = 10_000
"""Tools that are counted; later ones share one entry."""
OTHERS = "(others)"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolStatistics:
    """What happened to one tool, or to all names that no tool has. Seconds are summed."""

    calls: int = 0
    errors: int = 0
    wrong_arguments: int = 0
    seconds: float = 0.0

    @property
    def error_rate(self) -> float:
        """Share of the calls that failed, wrong arguments included; 0 without calls."""
        return self.errors / self.calls if self.calls else 0.0

    @property
    def argument_failure_rate(self) -> float:
        """Share of the calls whose arguments did not fit; 0 without calls."""
        return self.wrong_arguments / self.calls if self.calls else 0.0


@dataclass(slots=True)
class Statistics:
    """A hook that counts: `Agent(..., hooks=[statistics])`. Safe under threads."""

    runs: int = 0
    model_calls: int = 0
    model_seconds: float = 0.0
    _tools: dict[str, ToolStatistics] = field(default_factory=dict[str, ToolStatistics])
    _lock: Lock = field(default_factory=Lock)

    def __call__(self, event: Event) -> None:
        """Count an event."""
        with self._lock:
            if isinstance(event, RunFinished):
                self.runs += 1
            elif isinstance(event, ModelAnswered):
                self.model_calls += 1
                self.model_seconds += event.seconds
            elif isinstance(event, ToolFinished):
                self._count(event)

    @property
    def tools(self) -> Mapping[str, ToolStatistics]:
        """By the tool's id; names that no tool has are counted under "(unknown)"."""
        with self._lock:
            return dict(self._tools)

    def _count(self, event: ToolFinished) -> None:
        done = event.execution
        key = done.spec.id if done.spec else "(unknown)"
        key = key if key in self._tools or len(self._tools) < MAX_TOOLS else OTHERS
        old = self._tools.get(key, ToolStatistics())
        self._tools[key] = replace(
            old,
            calls=old.calls + 1,
            errors=old.errors + done.failed,
            wrong_arguments=old.wrong_arguments + (done.result.attributes.get(ERROR) == "invalid_arguments"),
            seconds=old.seconds + done.seconds,
        )


@dataclass(frozen=True, slots=True)
class Logging:
    """A hook that logs each model and tool call; arguments and results only with `contents`."""

    logger: logging.Logger = field(default_factory=lambda: logging.getLogger("toolsearch.agent"))
    contents: bool = False

    def __call__(self, event: Event) -> None:
        """Log an event."""
        if isinstance(event, ModelAnswered):
            calls = ", ".join(one.name[:64] for one in event.response.tool_calls[:20]) or "none"
            self.logger.info("model answered in %.2f s; calls: %s", event.seconds, calls)
        elif isinstance(event, ToolFinished):
            done = event.execution
            state = str(done.result.attributes.get(ERROR, "error")) if done.failed else "ok"
            self.logger.info("tool %s: %s in %.2f s", done.call.name[:64], state, done.seconds)
            if self.contents:
                self.logger.info("arguments %s; result %s", done.call.arguments[:2_000], done.result.text[:2_000])
