"""Three ways to show found tools: added to the list, referred to in the history, or reached through a fixed few."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from toolsearch.agent.exposing import exposed
from toolsearch.chat import ChatOptions, ChatRequest, Features
from toolsearch.conversation import Message, Part, Reference, ToolResult, found_in
from toolsearch.errors import InvalidInput, ToolsUnsupported
from toolsearch.tool import SearchBehavior, ToolSpec

Show = Literal["auto", "inline", "native", "proxy"]

GET_TOOL: Final = ToolSpec(
    name="get_tool",
    description="Shows a tool that was found: what it does and which arguments it takes.",
    parameters={
        "type": "object",
        "properties": {"name": {"type": "string", "description": "The tool's name"}},
        "required": ["name"],
    },
    search=SearchBehavior.ALWAYS_VISIBLE,
)
CALL_TOOL: Final = ToolSpec(
    name="call_tool",
    description="Calls a tool that was found, with the arguments that get_tool says it takes.",
    parameters={
        "type": "object",
        "properties": {
            "name": {"type": "string", "description": "The tool's name"},
            "arguments": {"type": "object", "description": "The tool's own arguments"},
        },
        "required": ["name"],
    },
    search=SearchBehavior.ALWAYS_VISIBLE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """Everything that the next request is made of, tools as they are exposed: `found` in the order they came."""

    messages: tuple[Message, ...]
    pinned: Sequence[ToolSpec] = ()
    search: Sequence[ToolSpec] = ()
    found: Sequence[ToolSpec] = ()
    options: ChatOptions = field(default_factory=ChatOptions)


def inline(shown: Shown) -> ChatRequest:
    """Found tools at the end of the list; each request's list continues the one before."""
    return ChatRequest(
        messages=shown.messages, tools=(*shown.pinned, *shown.search, *shown.found), options=shown.options
    )


def native(shown: Shown) -> ChatRequest:
    """Found tools apart from the list, and references to them in the results that found them."""
    names = frozenset(spec.name for spec in shown.found)
    return ChatRequest(
        messages=tuple(_referring(one, names) for one in shown.messages),
        tools=(*shown.pinned, *shown.search),
        deferred=tuple(shown.found),
        search=shown.search[0].name if shown.search else "",
        options=shown.options,
    )


def proxy(shown: Shown) -> ChatRequest:
    """The list never changes: found tools are looked at and called through two fixed tools."""
    fixed = (GET_TOOL, CALL_TOOL) if shown.search else ()
    return ChatRequest(messages=shown.messages, tools=(*shown.pinned, *shown.search, *fixed), options=shown.options)


SHOWINGS: Final = {"inline": inline, "native": native, "proxy": proxy}


def chosen(show: Show, features: Features) -> str:
    """The way for a model: "auto" takes what leaves the cached prefix alone where the provider has it.

    Raises:
        InvalidInput: there is no such way.
        ToolsUnsupported: the model cannot take it.
    """
    if show == "auto":
        return "native" if features.native_search else "inline"
    if show not in SHOWINGS:
        raise InvalidInput(f"show is {show!r:.40}; it must be auto, {', '.join(SHOWINGS)}")
    if show == "native" and not features.native_search:
        raise ToolsUnsupported("this model has no native tool search; use show='inline', 'proxy' or 'auto'")
    return show


def _referring(message: Message, declared: frozenset[str]) -> Message:
    """A result with references to the declared tools that it found; an error keeps its text, too."""
    if not isinstance(message, ToolResult):
        return message
    names = [name for name in map(exposed, found_in(message)) if name in declared]
    if not names:
        return message
    references: tuple[Part, ...] = tuple(map(Reference, names))
    content = (*references, *message.content) if message.is_error else references
    return ToolResult(message.call_id, message.name, content, is_error=message.is_error, attributes=message.attributes)
