"""Tools that are not known before the run: providers are asked for them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from toolsearch.agent.context import InvocationContext
from toolsearch.conversation import Message
from toolsearch.tool import Executor, Tool, ToolSpec

Given = Tool | ToolSpec | tuple[ToolSpec, Callable[..., Any]] | Callable[..., Any]
"""What counts as one tool: a definition with or without its executor, or a function."""


def _nothing(library: Any, spec: ToolSpec) -> Executor | None:
    """Nothing runs tools by their source."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderRequest:
    """What a provider may look at: the run, and what is remembered, the current question last.

    `runner` gives what runs a tool of an index by its source, as the agent does, where the index itself has nothing.
    """

    context: InvocationContext
    messages: Sequence[Message]
    runner: Callable[[Any, ToolSpec], Executor | None] = field(default=_nothing, repr=False)


@runtime_checkable
class ToolProvider(Protocol):
    """Gives tools to a run. A dynamic one is asked again before every request, and its tools are never hidden."""

    @property
    def dynamic(self) -> bool:
        """Whether it is asked before every request, instead of once per run."""
        ...

    async def provide(self, request: ProviderRequest) -> Iterable[Given] | None:
        """The tools; None adds nothing."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Provided:
    """A provider made of a function."""

    function: Callable[[ProviderRequest], Any]
    dynamic: bool = False

    async def provide(self, request: ProviderRequest) -> Iterable[Given] | None:
        """What the function gives, awaited if need be."""
        found = self.function(request)
        return await found if hasattr(found, "__await__") else found
