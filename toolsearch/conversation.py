"""One conversation, whoever the provider: messages, tool calls and their results, and what they cost."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Self, cast

from toolsearch.errors import InvalidInput
from toolsearch.tool import Json, canonical

FOUND_TOOLS: Final = "found_tools"
"""Attribute of a result that holds the ids of the tools found, in order. Stored histories rely on this name."""

PRESELECTED: Final = "preselected_tools"
"""Attribute of a user's message that holds the ids of the tools selected for it. Stored histories rely on it."""


def sound(text: str) -> str:
    """The text as Unicode: halves of one character are joined, a lone one (a surrogate) becomes U+FFFD.

    Files' names, cut emoji and pieces of streams bring them in, and no provider or store takes them.
    """
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


@dataclass(frozen=True, slots=True)
class Text:
    """A piece of text."""

    text: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "text", sound(self.text))


@dataclass(frozen=True, slots=True, kw_only=True)
class Media:
    """An image, a sound or a file: base64 `data`, or a `uri` that the provider fetches.

    Raises:
        InvalidInput: it has neither data nor a uri, or no media type.
    """

    media_type: str
    data: str = field(default="", repr=False)
    uri: str = ""
    name: str = ""

    def __post_init__(self) -> None:
        if not (self.data or self.uri) or "/" not in self.media_type:
            raise InvalidInput(f"media needs data or a uri, and a type such as image/png, not {self.media_type!r:.60}")

    @property
    def kind(self) -> str:
        """The part of the media type before the slash, such as image."""
        return self.media_type.partition("/")[0]


@dataclass(frozen=True, slots=True)
class Reference:
    """A tool that a search brought in, by the name it is called by. Only for providers with a search of their own."""

    name: str


Part = Text | Media | Reference
Content = str | Iterable[Part]


def parts(content: Content) -> tuple[Part, ...]:
    """Content as parts; a text is one part."""
    return (Text(content),) if isinstance(content, str) else tuple(content)


def text_of(content: Iterable[Part]) -> str:
    """The texts of the parts, joined by newlines."""
    return "\n".join(part.text for part in content if isinstance(part, Text))


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call that the model wrote; `arguments` is its JSON text, raw and perhaps broken."""

    id: str
    name: str
    arguments: str = "{}"

    def __post_init__(self) -> None:
        for name in ("name", "arguments"):
            object.__setattr__(self, name, sound(getattr(self, name)))


@dataclass(frozen=True, slots=True)
class SystemMessage:
    """Standing instructions. A conversation has at most one, at its start."""

    text: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "text", sound(self.text))


@dataclass(frozen=True, slots=True, init=False)
class UserMessage:
    """What a person says. `summary` marks a text that stands for earlier messages.

    `attributes` are kept with the conversation and never shown to the model.

    Raises:
        InvalidTool: an attribute is not JSON.
    """

    content: tuple[Part, ...]
    summary: bool = False
    attributes: Json = field(default_factory=dict[str, Any], hash=False)

    def __init__(self, content: Content, *, summary: bool = False, attributes: Mapping[str, Any] | None = None) -> None:
        set_ = object.__setattr__
        set_(self, "content", parts(content))
        set_(self, "summary", summary)
        set_(self, "attributes", dict(attributes or {}))
        canonical(self.attributes, what="attributes of a message")

    @property
    def text(self) -> str:
        """Its texts."""
        return text_of(self.content)


@dataclass(frozen=True, slots=True)
class AssistantMessage:
    """What the model answered.

    `verbatim` keeps what one provider wants back unchanged, such as signed thoughts, by the provider's name.
    """

    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    verbatim: Json = field(default_factory=dict[str, Any])

    def __post_init__(self) -> None:
        object.__setattr__(self, "text", sound(self.text))


@dataclass(frozen=True, slots=True, init=False)
class ToolResult:
    """The answer to one call. `attributes` are kept with the conversation and never shown to the model.

    Raises:
        InvalidTool: an attribute is not JSON.
    """

    call_id: str
    name: str
    content: tuple[Part, ...]
    is_error: bool = False
    attributes: Json = field(default_factory=dict[str, Any])

    def __init__(
        self,
        call_id: str,
        name: str,
        content: Content,
        *,
        is_error: bool = False,
        attributes: Mapping[str, Any] | None = None,
    ) -> None:
        set_ = object.__setattr__
        set_(self, "call_id", call_id)
        set_(self, "name", name)
        set_(self, "content", parts(content))
        set_(self, "is_error", is_error)
        set_(self, "attributes", dict(attributes or {}))
        canonical(self.attributes, what=f"attributes of the result of {name[:80]!r}")

    @classmethod
    def for_call(
        cls, call: ToolCall, content: Content, *, is_error: bool = False, attributes: Mapping[str, Any] | None = None
    ) -> Self:
        """The answer to a call."""
        return cls(call.id, call.name, content, is_error=is_error, attributes=attributes)

    @property
    def text(self) -> str:
        """Its texts."""
        return text_of(self.content)


Message = SystemMessage | UserMessage | AssistantMessage | ToolResult


def found_in(message: Message) -> tuple[str, ...]:
    """Ids of the tools that a result says were found; anything that is not a list of texts counts as none."""
    return _ids(message.attributes.get(FOUND_TOOLS) if isinstance(message, ToolResult) else None)


def preselected_in(message: Message) -> tuple[str, ...]:
    """Ids of the tools that were selected for a user's message; anything that is not a list of texts counts as none."""
    return _ids(message.attributes.get(PRESELECTED) if isinstance(message, UserMessage) else None)


def _ids(listed: object) -> tuple[str, ...]:
    named = cast("list[object]", listed) if isinstance(listed, list | tuple) else []
    return tuple(one for one in named if isinstance(one, str))


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens. `input_tokens` counts all of the input; `cached_tokens` of them were read from the provider's cache.

    `written_tokens` were written to it. `estimated` says that a part was counted here, not by the provider.
    """

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    written_tokens: int = 0
    estimated: bool = False

    @property
    def uncached_tokens(self) -> int:
        """Input tokens that were not read from the cache."""
        return self.input_tokens - self.cached_tokens

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            cached_tokens=self.cached_tokens + other.cached_tokens,
            written_tokens=self.written_tokens + other.written_tokens,
            estimated=self.estimated or other.estimated,
        )


def problems(messages: Iterable[Message]) -> list[str]:
    """What a strict provider would refuse in a history: unpaired calls, orphan results, a system message inside."""
    found: list[str] = []
    open_calls: dict[str, str] = {}
    for place, message in enumerate(messages):
        if isinstance(message, ToolResult):
            if open_calls.pop(message.call_id, None) is None:
                found.append(f"message {place} answers {message.call_id!r:.80}, which is not open")
            continue
        found += [f"call {one!r:.80} of {name!r:.80} has no result" for one, name in open_calls.items()]
        open_calls = {}
        if isinstance(message, SystemMessage) and place:
            found.append(f"message {place} is a system message")
        if isinstance(message, AssistantMessage):
            open_calls = {call.id: call.name for call in message.calls}
            if len(open_calls) != len(message.calls):
                found.append(f"message {place} has two calls with one id")
    return found + [f"call {one!r:.80} of {name!r:.80} has no result" for one, name in open_calls.items()]
