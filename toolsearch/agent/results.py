"""What a tool returned, as the model gets to see it."""

from __future__ import annotations

import inspect
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, cast

from pydantic_core import to_jsonable_python

from toolsearch.conversation import Content, Media, Part, Reference, Text, Usage, parts
from toolsearch.errors import ToolErrorForModel, UnsupportedContent
from toolsearch.tool import Executor, Json, canonical

SUCCESS: Final = "Success"


@dataclass(frozen=True, slots=True)
class ToolReturn:
    """A tool may return this to choose its content itself, or to add attributes that the model does not see.

    `usage` are tokens that the tool itself spent; they are added to the run's.

    Raises:
        InvalidTool: an attribute is not JSON.
    """

    content: Any
    attributes: Json = field(default_factory=dict[str, Any])
    is_error: bool = False
    usage: Usage | None = None

    def __post_init__(self) -> None:
        canonical(self.attributes, what="the attributes of a result")


def returns_nothing(executor: Executor) -> bool:
    """Whether a function is declared to return None."""
    function: Any = getattr(executor, "call", executor)
    try:
        return inspect.signature(function).return_annotation in (None, "None", type(None))
    except (ValueError, TypeError):
        return False


def content_of(value: Any, *, nothing: bool = False) -> tuple[Part, ...]:
    """A value as content: text as it is, None as null (or Success for a tool that returns nothing), the rest as JSON.

    Raises:
        ToolErrorForModel: the value is neither content nor JSON; the text names its type.
    """
    if value is None:
        return (Text(SUCCESS if nothing else "null"),)
    if isinstance(value, str):
        return (Text(value),)
    if isinstance(value, Text | Media):
        return (value,)
    items: list[object] = list(cast("Any", value)) if isinstance(value, list | tuple) else []
    shown = [Text(one) if isinstance(one, str) else one for one in items if isinstance(one, str | Text | Media)]
    if len(shown) == len(items) and any(isinstance(one, Text | Media) for one in items):
        return tuple(shown)
    try:
        return (Text(json.dumps(_plain(value), ensure_ascii=False, allow_nan=False)),)
    except (TypeError, ValueError, RecursionError) as error:
        text = (
            f"the tool returned a {type(cast('object', value)).__name__}, which cannot be shown as JSON: {error!s:.120}"
        )
        raise ToolErrorForModel(text) from None


def _plain(value: Any) -> Any:
    """What pydantic knows how to write as JSON, dataclasses, models, dates and numbers of all kinds among it."""
    return to_jsonable_python(value, fallback=_other)


def _other(value: Any) -> Any:
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json")
    if isinstance(value, Mapping):
        return dict(cast("Mapping[Any, Any]", value))
    raise TypeError(f"{type(value).__name__} is not JSON")


def cut(content: tuple[Part, ...], limit: int) -> tuple[Part, ...]:
    """Content with at most `limit` characters of text; a notice says how much is missing."""
    total = sum(len(part.text) for part in content if isinstance(part, Text))
    if total <= limit:
        return content
    left, kept = limit, list[Part]()
    for part in content:
        if not isinstance(part, Text):
            kept.append(part)
        elif left > 0:
            kept.append(Text(part.text[:left]))
            left -= len(part.text)
    return (*kept, Text(f"[The result was cut: {limit} of {total} characters are shown.]"))


def fitting(content: Content, media: tuple[str, ...], *, mark: bool, model: str) -> tuple[Part, ...]:
    """Content that a model takes; what it does not is replaced by a marker when `mark` is set.

    Raises:
        UnsupportedContent: it names the content and the model.
    """
    found: list[Part] = []
    for part in parts(content):
        if isinstance(part, Text | Reference) or part.kind in media:
            found.append(part)
        elif mark:
            found.append(Text(f"[{part.media_type} {part.name or part.uri or 'content'} cannot be shown]"))
        else:
            raise UnsupportedContent(
                f"{part.media_type} cannot be sent to {model}; it takes {', '.join(media) or 'text'}"
            )
    return tuple(found)
