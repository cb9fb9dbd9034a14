"""What `@tool` leaves on a function: a declaration that wrappers keep and subclasses inherit."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import FrameType, MethodType
from typing import Any, Final, TypedDict, cast

from toolsearch.catalog.signatures import annotation_names
from toolsearch.errors import InvalidTool
from toolsearch.tool import Json, ReturnBehavior, SearchBehavior

ATTRIBUTE: Final = "__toolsearch_tool__"


class ToolOptions(TypedDict, total=False):
    """What `@tool(...)` takes; everything has a default.

    name: the function's name. title: none. description: a text, or lines joined by newline; by default
    the docstring without its sections. namespace, tags, aliases, examples, groups, annotations, search,
    returns, metadata: as in `ToolSpec`. strict_docstring: refuse a documented parameter that does not
    exist, and a visible one without a description.
    """

    name: str
    title: str
    description: str | Sequence[str]
    namespace: str
    tags: Sequence[str]
    aliases: Sequence[str]
    examples: Sequence[str]
    groups: Sequence[str]
    annotations: Json
    search: SearchBehavior
    returns: ReturnBehavior
    metadata: Json
    strict_docstring: bool


@dataclass(frozen=True, slots=True)
class Declaration:
    """The options of one `@tool`, and the local names that its annotations mention."""

    options: ToolOptions = field(default_factory=lambda: ToolOptions())
    local: Mapping[str, Any] = field(default_factory=dict[str, Any], repr=False)


def declare(function: Any, options: ToolOptions, frame: FrameType | None) -> Declaration:
    """Attach a declaration to a function, a static or a class method.

    Raises:
        InvalidTool: an unknown option, or something that cannot carry a declaration.
    """
    unknown = [name for name in options if name not in ToolOptions.__annotations__]
    if unknown:
        raise InvalidTool(f"@tool has no option {unknown[0]!r:.80}; it takes {', '.join(ToolOptions.__annotations__)}")
    inner = plain(function)
    if isinstance(function, type | MethodType) or not callable(inner):
        raise InvalidTool(f"@tool decorates functions and methods, not {function!r:.80}; use tools_from or as_tool")
    declaration = Declaration(options, local_names(inner, frame))
    try:
        setattr(inner, ATTRIBUTE, declaration)
    except AttributeError:
        raise InvalidTool(f"@tool cannot mark {function!r:.80}; wrap it in a function") from None
    return declaration


def declaration_of(function: Any) -> Declaration | None:
    """The declaration on a function, static, class or bound method; None when there is none."""
    found = getattr(plain(function), ATTRIBUTE, None)
    return found if isinstance(found, Declaration) else None


def plain(function: Any) -> Callable[..., Any]:
    """The function inside a static, class or bound method."""
    wrapped = isinstance(function, staticmethod | classmethod | MethodType)
    return cast("Callable[..., Any]", cast(Any, function).__func__ if wrapped else function)


def local_names(function: Callable[..., Any], frame: FrameType | None) -> dict[str, Any]:
    """What the names in a function's annotations mean where the frame stands; enclosing class bodies count."""
    wanted = annotation_names(function)
    found: dict[str, Any] = {}
    while frame is not None and wanted:
        inside = frame.f_locals
        if inside is not frame.f_globals:
            found = {**{name: inside[name] for name in wanted & inside.keys()}, **found}
        frame = frame.f_back if "__qualname__" in inside and "__module__" in inside else None
    return found


def caller() -> FrameType | None:
    """The frame that called the function that asks."""
    try:
        return sys._getframe(2)  # pyright: ignore[reportPrivateUsage]
    except ValueError:
        return None
