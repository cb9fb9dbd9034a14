"""From the arguments that a model wrote to the call of a Python function."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from inspect import Parameter as Native
from typing import Any, Final, cast

from toolsearch.catalog.classtypes import names_none
from toolsearch.catalog.coercion import Misfit, Path, Place, validated
from toolsearch.catalog.signatures import MISSING, Parameter
from toolsearch.catalog.slots import OMITTED, Slot
from toolsearch.errors import ToolArgumentsError, ToolExecutionError

MAX_PROBLEMS: Final = 5
"""So many problems of one call are told; the model can correct them together."""
MAX_TEXT: Final = 1000
"""Longest text of an error, in characters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionExecutor:
    """Runs a Python function with the arguments of one call: `executor(arguments, context)`.

    Arguments are checked and coerced, hidden parameters filled from `context`, defaults copied. What
    the function returns comes back as it is; an asynchronous function's awaitable is for the caller
    to await.
    """

    tool: str
    call: Callable[..., Any]
    parameters: tuple[Parameter, ...] = field(repr=False)
    slots: tuple[Slot, ...] = field(repr=False)

    def __call__(self, arguments: Mapping[str, Any], context: Any = None) -> Any:
        """The function's result.

        Raises:
            ToolArgumentsError: the arguments do not fit; the text names tool, parameter and fault.
            ToolExecutionError: a hidden parameter has no value in this context.
        """
        values = self.check(arguments)
        for parameter in self.parameters:
            if parameter.injects:
                values[parameter.name] = _injected(parameter, self.tool, context)
        positional, named = self.arranged(values)
        return self.call(*positional, **named)

    def check(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The Python values by parameter name, hidden parameters left out; nothing is called.

        Raises:
            ToolArgumentsError: the arguments do not fit; the text names tool, parameter and fault.
        """
        if not isinstance(cast(object, arguments), Mapping):
            raise ToolArgumentsError(
                f"the arguments of tool {self.tool!r:.200} must be an object, got {arguments!r:.80}"
            )
        values: dict[str, Any] = {}
        problems: list[str] = []
        for slot in self.slots:
            try:
                values[slot.parameter.name] = _value(slot, self._given(slot, arguments), self.tool)
            except Misfit as misfit:
                problems += [_line(path, text, self.tool) for path, text in misfit.problems]
        problems += self._unknown(arguments)
        if problems:
            raise ToolArgumentsError(_text(problems))
        return {name: value for name, value in values.items() if value is not OMITTED}

    def _given(self, slot: Slot, arguments: Mapping[str, Any]) -> Any:
        if slot.parameter.kind is not Native.VAR_KEYWORD:
            return arguments.get(slot.parameter.shown, MISSING)
        taken = {name for one in self.parameters for name in (one.name, one.shown)}
        return {name: value for name, value in arguments.items() if name not in taken}

    def _unknown(self, arguments: Mapping[str, Any]) -> Iterable[str]:
        shown = [slot.parameter.shown for slot in self.slots if slot.parameter.kind is not Native.VAR_KEYWORD]
        reserved = {one.name for one in self.parameters}
        open_ended = len(shown) < len(self.slots)
        for name in arguments:
            if name not in shown and (not open_ended or name in reserved):
                near = get_close_matches(str(name)[:80], shown, n=3) or shown[:10]
                known = f"did you mean {', '.join(map(repr, near))}?" if near else "it takes none"
                yield f"tool {self.tool!r:.200} has no parameter {name!r:.80}; {known:.300}"

    def arranged(self, values: Mapping[str, Any]) -> tuple[list[Any], dict[str, Any]]:
        """Positional and named arguments for these values: by name wherever the function allows it."""
        positional: list[Any] = []
        named: dict[str, Any] = {}
        starred = any(values.get(one.name) for one in self.parameters if one.kind is Native.VAR_POSITIONAL)
        for parameter in self.parameters:
            if parameter.name not in values:
                continue
            value = values[parameter.name]
            if parameter.kind is Native.VAR_POSITIONAL:
                positional += value
            elif parameter.kind is Native.VAR_KEYWORD:
                named |= value
            elif parameter.kind is Native.POSITIONAL_ONLY or (
                starred and parameter.kind is Native.POSITIONAL_OR_KEYWORD
            ):
                positional.append(value)
            else:
                named[parameter.name] = value
        return positional, named


def accepts(call: Callable[..., Any], parameters: Iterable[Parameter]) -> bool:
    """Whether a callable can be called the way these parameters are passed."""
    executor = FunctionExecutor(tool="", call=call, parameters=tuple(parameters), slots=())
    values: dict[str, Any] = {one.name: () if one.kind is Native.VAR_POSITIONAL else {} for one in executor.parameters}
    positional, named = executor.arranged(values)
    try:
        inspect.signature(call).bind(*positional, **named)
    except (TypeError, ValueError):
        return False
    return True


def _value(slot: Slot, given: Any, tool: str) -> Any:
    """The Python value of one argument; null counts as absent where it is no value."""
    shown = slot.parameter.shown
    if given is MISSING or (given is None and not slot.takes_null()):
        if slot.required:
            raise Misfit(((), f'Required parameter "{shown:.80}" of tool "{tool:.200}" is missing'))
        return slot.absent()
    return validated(slot.adapter, slot.annotation, given, Place((shown,)))


def _line(path: Path, text: str, tool: str) -> str:
    place = ".".join(str(step)[:80] for step in path[:8])
    return f'parameter "{place}" of tool "{tool:.200}": {text}' if path else text


def _text(problems: list[str]) -> str:
    told = "; ".join(problems[:MAX_PROBLEMS])
    more = f"; and {len(problems) - MAX_PROBLEMS} more" if len(problems) > MAX_PROBLEMS else ""
    return (told if len(told) <= MAX_TEXT else told[:MAX_TEXT] + " …") + more


def _injected(parameter: Parameter, tool: str, context: Any) -> Any:
    """The value of a hidden parameter; its default, or None, where there is no context."""
    if parameter.injects is None or context is None:
        if parameter.factory:
            return parameter.factory()
        if parameter.default is not MISSING:
            return parameter.default
        if not names_none(parameter.annotation):
            raise ToolExecutionError(
                f"parameter {parameter.name!r:.80} of tool {tool!r:.200} is filled at run time, but there is no context"
            )
        return None
    return parameter.injects.__toolsearch_injected__(context)
