"""The search tool that a model sees, and how the arguments of its call are read."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

from toolsearch.errors import InvalidInput, ToolArgumentsError, ToolErrorForModel, ToolExecutionError
from toolsearch.tool import Json, SearchBehavior, ToolSpec

SEARCH_TOOL: Final = "tool_search_tool"
MAX_SHOWN: Final = 2_000
"""Longest raw arguments that an error repeats in full."""

ResultText = Callable[[Sequence[ToolSpec]], str]


def check_results(most: int) -> None:
    """Nothing, when a search may find something.

    Raises:
        InvalidInput: `most` is not positive.
    """
    if most < 1:
        raise InvalidInput(f"max_results is {most}; it must be 1 or more")


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchTool:
    """A search tool with one argument.

    Wrong arguments raise ToolErrorForModel, which hosts show to the model so that it can try again; with
    `throw_arguments_errors` they raise ToolArgumentsError.
    """

    description: str
    argument: str
    argument_description: str
    name: str = SEARCH_TOOL
    many: bool = False
    throw_arguments_errors: bool = False

    def spec(self) -> ToolSpec:
        """Its definition: an object with one required property, a text or a list of texts."""
        text: Json = {"type": "string"}
        shape: Json = {"type": "array", "items": text} if self.many else text
        return ToolSpec(
            name=self.name,
            description=self.description,
            parameters={
                "type": "object",
                "properties": {self.argument: {**shape, "description": self.argument_description}},
                "required": [self.argument],
            },
            search=SearchBehavior.ALWAYS_VISIBLE,
        )

    def value(self, arguments: str) -> object:
        """The argument in a call's raw JSON.

        Raises:
            ToolErrorForModel, ToolArgumentsError: it is no JSON object, or the argument is missing.
        """
        try:
            body: object = json.loads(arguments)
        except (ValueError, RecursionError) as error:
            raise self.error(_unparsed(arguments)) from error
        if body is not None and not isinstance(body, dict):
            raise self.error(_unparsed(arguments))
        known = cast("dict[str, Any] | None", body) or {}
        if self.argument not in known:
            raise self.error(f"Missing required tool argument '{self.argument}'")
        return known[self.argument]

    def terms(self, arguments: str) -> list[str]:
        """The argument as a list of texts; null elements are dropped and others written out.

        Raises:
            ToolErrorForModel, ToolArgumentsError: see `value`; also when it is not a list.
        """
        value = self.value(arguments)
        if not isinstance(value, list):
            raise self.error(f"Tool argument '{self.argument}' must be an array of strings")
        return [as_text(item) for item in cast("list[object]", value) if item is not None]

    def text(self, arguments: str) -> str:
        """The argument as one text, whatever its JSON type; null counts as missing.

        Raises:
            ToolErrorForModel, ToolArgumentsError: see `value`.
        """
        value = self.value(arguments)
        if value is None:
            raise self.error(f"Missing required tool argument '{self.argument}'")
        return as_text(value)

    def error(self, text: str) -> ToolExecutionError:
        """The error for wrong arguments."""
        return ToolArgumentsError(text) if self.throw_arguments_errors else ToolErrorForModel(text)


def as_text(value: object) -> str:
    """A JSON value as text; a text stays as it is."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _unparsed(arguments: str) -> str:
    shown = arguments if len(arguments) <= MAX_SHOWN else arguments[:MAX_SHOWN] + "..."
    coded = base64.b64encode(shown.encode("utf-8", "surrogatepass")).decode("ascii")
    return f"Failed to parse tool search arguments: '{shown}' (base64: '{coded}')"


def found_text(found: Sequence[ToolSpec]) -> str:
    """The names of the tools found, in order."""
    if not found:
        return "No matching tools found"
    return "Tools found: " + ", ".join(spec.name for spec in found)
