"""Conversations as JSON and back, for stores and for pausing a run."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar, cast

from toolsearch.conversation import (
    AssistantMessage,
    Media,
    Message,
    Part,
    Reference,
    SystemMessage,
    Text,
    ToolCall,
    ToolResult,
    UserMessage,
)
from toolsearch.errors import InvalidInput
from toolsearch.tool import Json

T = TypeVar("T")


def stored(text: str, version: int, what: str, read: Callable[[Json], T]) -> T:
    """What `read` makes of a stored JSON object, whose `v` says which version wrote it.

    Raises:
        InvalidInput: the text is something else than `what`, or of another version.
    """
    try:
        body: Any = json.loads(text)
        if body["v"] != version:
            raise InvalidInput(f"{what} of format {body['v']!r:.40}; this version reads {version}")
        return read(body)
    except InvalidInput:
        raise
    except (ValueError, KeyError, TypeError, AttributeError, IndexError, RecursionError) as error:
        raise InvalidInput(f"not {what}: {text[:80]!r} ({type(error).__name__}: {error!s:.80})") from None


def message_json(message: Message) -> Json:
    """One message as a JSON object; fields that say nothing are left out."""
    if isinstance(message, SystemMessage):
        return {"role": "system", "text": message.text}
    if isinstance(message, UserMessage):
        content = _content_json(message.content)
        attributes = message.attributes
        return _lean({"role": "user", "content": content, "summary": message.summary, "attributes": attributes})
    if isinstance(message, AssistantMessage):
        calls = [{"id": one.id, "name": one.name, "arguments": one.arguments} for one in message.calls]
        return _lean({"role": "assistant", "text": message.text, "calls": calls, "verbatim": message.verbatim})
    return _lean(
        {
            "role": "tool",
            "call_id": message.call_id,
            "name": message.name,
            "content": _content_json(message.content),
            "is_error": message.is_error,
            "attributes": message.attributes,
        }
    )


def message_of(body: Mapping[str, Any]) -> Message:
    """The message of a JSON object.

    Raises:
        InvalidInput: its role is unknown.
        KeyError, TypeError: a field is missing or unknown.
    """
    role = body["role"]
    if role == "system":
        return SystemMessage(body["text"])
    if role == "user":
        content, summary = _content_of(body.get("content", ())), bool(body.get("summary", False))
        return UserMessage(content, summary=summary, attributes=body.get("attributes"))
    if role == "assistant":
        calls = tuple(ToolCall(one["id"], one["name"], one["arguments"]) for one in body.get("calls", ()))
        return AssistantMessage(body.get("text", ""), calls, dict(body.get("verbatim", {})))
    if role == "tool":
        return ToolResult(
            body["call_id"],
            body["name"],
            _content_of(body.get("content", ())),
            is_error=bool(body.get("is_error", False)),
            attributes=body.get("attributes"),
        )
    raise InvalidInput(f"a message of the unknown role {role!r:.40}")


def _content_json(content: Iterable[Part]) -> list[Any]:
    return [_part_json(part) for part in content]


def _part_json(part: Part) -> Any:
    if isinstance(part, Text):
        return part.text
    if isinstance(part, Reference):
        return {"reference": part.name}
    return _lean({"media_type": part.media_type, "data": part.data, "uri": part.uri, "name": part.name})


def _content_of(content: Any) -> tuple[Part, ...]:
    return tuple(_part_of(one) for one in content)


def _part_of(body: Any) -> Part:
    if isinstance(body, str):
        return Text(body)
    known = cast("dict[str, Any]", body)
    return Reference(known["reference"]) if "reference" in known else Media(**known)


def _lean(body: Json) -> Json:
    return {key: value for key, value in body.items() if value not in ("", (), [], {}, False)}
