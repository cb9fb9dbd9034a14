"""What a run knows about itself; tools, providers, strategies and hooks get it, the model never does."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from toolsearch.conversation import ToolCall, UserMessage


class InvocationParameters:
    """Values that one run shares with everything it calls. Safe under threads.

    A tool gets them by a parameter annotated with this class; the model does not see it.
    """

    def __init__(self, values: Mapping[str, Any] | None = None) -> None:
        self._values = dict(values or {})
        self._lock = threading.RLock()

    @staticmethod
    def __toolsearch_injected__(context: Any) -> Any:
        """The parameters of the run that made the call."""
        return context.parameters

    def __getitem__(self, key: str) -> Any:
        with self._lock:
            return self._values[key]

    def __setitem__(self, key: str, value: Any) -> None:
        with self._lock:
            self._values[key] = value

    def __contains__(self, key: object) -> bool:
        with self._lock:
            return key in self._values

    def __iter__(self) -> Iterator[str]:
        return iter(self.snapshot())

    def get(self, key: str, default: Any = None) -> Any:
        """The value of a key, or the default."""
        with self._lock:
            return self._values.get(key, default)

    def setdefault(self, key: str, value: Any) -> Any:
        """The value of a key, which is set when it is not there yet."""
        with self._lock:
            return self._values.setdefault(key, value)

    def snapshot(self) -> dict[str, Any]:
        """A copy of all values."""
        with self._lock:
            return dict(self._values)


Parameters = Mapping[str, Any] | InvocationParameters | None
"""What a run may be given to share with everything it calls."""


class MemoryId:
    """Marks a parameter that gets the conversation's id, None without memory: `Annotated[str | None, MemoryId]`."""

    @staticmethod
    def __toolsearch_injected__(context: Any) -> Any:
        """The id of the conversation that the call belongs to."""
        return context.memory_id


@dataclass(frozen=True, slots=True, kw_only=True)
class InvocationContext:
    """One run of an agent, as its tools and hooks see it.

    `message` is what the person said, `augmented` what was sent in its place; what is put into the message's
    `attributes` while the run goes on is kept with it. `caller` holds the groups of
    whoever asks, None for a trusted owner. `deadline` is on the monotonic clock. `call` is set while a tool runs.
    """

    run_id: str
    agent: str
    memory_id: str | None
    message: UserMessage
    augmented: UserMessage
    parameters: InvocationParameters = field(default_factory=InvocationParameters)
    caller: frozenset[str] | None = None
    deadline: float | None = None
    depth: int = 0
    call: ToolCall | None = None

    @staticmethod
    def __toolsearch_injected__(context: Any) -> Any:
        """The context itself."""
        return context

    @property
    def seconds_left(self) -> float | None:
        """Until the deadline; None without one."""
        return None if self.deadline is None else self.deadline - time.monotonic()
