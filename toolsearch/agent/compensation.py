"""Undoing what a run did when a later call fails."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

from toolsearch.agent.records import ToolExecution
from toolsearch.errors import InvalidTool
from toolsearch.tool import ToolSpec

ATTRIBUTE: Final = "__toolsearch_compensates__"
F = TypeVar("F", bound=Callable[..., Any])


def compensates(tool: str) -> Callable[[F], F]:
    """Mark a function or method as what undoes a tool, by the tool's name or id. It is never shown or found.

    It is called with the tool's arguments that it has parameters for, or with the whole `ToolExecution` where
    a parameter is annotated so.

        @compensates("credit")
        def take_back(self, account: str, amount: int) -> None: ...
    """

    def mark(function: F) -> F:
        setattr(function, ATTRIBUTE, tool)
        return function

    return mark


@dataclass(frozen=True, slots=True)
class Compensators:
    """What undoes which tool, by the tool's id."""

    by_tool: Mapping[str, Callable[..., Any]] = field(default_factory=dict[str, Callable[..., Any]])

    @classmethod
    def of(cls, owners: Iterable[object], tools: Sequence[ToolSpec]) -> Compensators:
        """The marked functions among these, and the marked methods of these objects.

        Raises:
            InvalidTool: a tool is unknown, its name is that of two, or two functions undo one tool.
        """
        found: dict[str, Callable[..., Any]] = {}
        for name, function in (pair for owner in owners for pair in _marked(owner)):
            ids = [spec.id for spec in tools if spec.id == name] or [spec.id for spec in tools if spec.name == name]
            if not ids:
                raise InvalidTool(f"@compensates({name!r:.80}) names no tool of this agent")
            if len(ids) > 1:
                raise InvalidTool(f"@compensates({name!r:.80}) may mean {ids[0][:80]!r} or {ids[1][:80]!r}: write one")
            if ids[0] in found:
                raise InvalidTool(f"two functions compensate {ids[0]!r:.80}; one is enough")
            found[ids[0]] = function
        return cls(found)

    def call_for(self, execution: ToolExecution) -> Callable[[], Any] | None:
        """What undoes an execution; None when nothing does, or nothing was done."""
        function = self.by_tool.get(execution.spec.id) if execution.spec else None
        if function is None or execution.failed or not execution.executed:
            return None
        return lambda: function(**_arguments(function, execution))


def rolled_back(done: ToolExecution, failed: ToolExecution) -> str:
    """What the model is told of an execution that was undone."""
    mine = done.spec.name if done.spec else done.call.name
    other = failed.spec.name if failed.spec else failed.call.name
    return f"Tool '{mine}' was executed successfully but was rolled back due to failure of tool '{other}'"


def to_undo(executions: Sequence[ToolExecution], compensators: Compensators, done: set[str]) -> list[ToolExecution]:
    """Executions that can be undone and were not yet, the last one first."""
    return [one for one in reversed(executions) if one.call.id not in done and compensators.call_for(one) is not None]


def _marked(owner: object) -> Iterable[tuple[str, Callable[..., Any]]]:
    own: Any = getattr(owner, ATTRIBUTE, None)
    if isinstance(own, str) and callable(owner):
        yield own, owner
        return
    cls: type = owner if isinstance(owner, type) else type(owner)
    names = dict.fromkeys(name for one in reversed(cls.__mro__) for name in vars(one))
    for name in names:
        marks = [getattr(vars(one)[name], ATTRIBUTE, None) for one in cls.__mro__ if name in vars(one)]
        mark = next((one for one in marks if isinstance(one, str)), None)
        if mark is not None:
            yield mark, getattr(owner, name)


def _arguments(function: Callable[..., Any], execution: ToolExecution) -> dict[str, Any]:
    given: dict[str, Any] = {}
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.annotation in (ToolExecution, "ToolExecution"):
            given[name] = execution
        elif name in execution.arguments:
            given[name] = execution.arguments[name]
    return given
