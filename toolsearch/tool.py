"""What a tool is, for everybody in this project: a definition, and what may run it.

A `ToolSpec` knows no vendor. Formats live in `toolsearch.catalog`, one file each.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from enum import StrEnum
from functools import cache
from typing import Any, Final, Self, cast

from toolsearch.errors import InvalidTool, LimitExceeded

Json = dict[str, Any]
Executor = Callable[..., Any | Awaitable[Any]]
"""Runs one call: `executor(arguments, context)`, plain or asynchronous."""

SPEC_VERSION: Final = 1
MAX_DEPTH: Final = 64
"""Deepest nesting of a schema or of metadata."""
MAX_BYTES: Final = 1_000_000
"""Largest canonical JSON of one tool."""


class SearchBehavior(StrEnum):
    """Whether a tool must be searched for, or is shown in every request."""

    SEARCHABLE = "searchable"
    ALWAYS_VISIBLE = "always_visible"


class ReturnBehavior(StrEnum):
    """What happens after a tool ran: its result goes to the model, or ends the run."""

    TO_LLM = "to_llm"
    IMMEDIATE = "immediate"
    IMMEDIATE_IF_LAST = "immediate_if_last"


_PLAIN: Final = frozenset({str, int, float, bool, type(None)})
"""Types of values that need no copy."""


def _no_parameters() -> Json:
    return {"type": "object", "properties": {}}


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSpec:
    """A tool definition. Frozen; its JSON is byte-stable and carries every field.

    `id` is `namespace/name`, or `name` without a namespace, unless one is given. `parameters` is a
    JSON Schema (2020-12) or a pydantic model class. `groups` names who may see the tool; empty
    means everybody. `source` tells where its executor is found, such as `mcp:github`.

    Raises:
        InvalidTool: the name is empty or not text, or a field has the wrong type.
        LimitExceeded: the definition is nested deeper than MAX_DEPTH or larger than MAX_BYTES.
    """

    name: str
    description: str = ""
    parameters: Json = field(default_factory=_no_parameters)
    title: str | None = None
    output_schema: Json | None = None
    annotations: Json = field(default_factory=dict[str, Any])
    namespace: str = ""
    tags: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    examples: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    search: SearchBehavior = SearchBehavior.SEARCHABLE
    returns: ReturnBehavior = ReturnBehavior.TO_LLM
    source: str = ""
    metadata: Json = field(default_factory=dict[str, Any])
    id: str = ""
    _hash: str = field(default="", init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        set_ = object.__setattr__
        _check_texts(self)
        set_(self, "id", self.id or (f"{self.namespace}/{self.name}" if self.namespace else self.name))
        set_(self, "search", _behavior(self, "search", SearchBehavior))
        set_(self, "returns", _behavior(self, "returns", ReturnBehavior))
        for name in ("tags", "aliases", "examples", "groups"):
            set_(self, name, _texts(self, name))
        for name in ("parameters", "output_schema", "annotations", "metadata"):
            set_(self, name, _json_object(self, name))

    def to_json(self) -> str:
        """The canonical text: sorted keys, no spaces, every field that differs from its default."""
        body = {"v": SPEC_VERSION, **dict(_differing(self))}
        text = canonical(body, what=f"tool {self.id[:200]!r}")
        if len(text) > MAX_BYTES:
            raise LimitExceeded(f"tool {self.id[:200]!r} has {len(text)} characters of JSON; the bound is {MAX_BYTES}")
        if not self._hash:
            object.__setattr__(self, "_hash", hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest())
        return text

    @classmethod
    def from_json(cls, text: str) -> Self:
        """The tool that `to_json` wrote.

        Raises:
            InvalidTool: the text is not such JSON, or of a later version.
        """
        try:
            body: object = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise InvalidTool(f"not the JSON of a tool: {text[:80]!r} ({error})") from None
        if not isinstance(body, dict):
            raise InvalidTool(f"not the JSON of a tool: {text[:80]!r}")
        known = cast(Json, body)
        if known.pop("v", None) != SPEC_VERSION:
            raise InvalidTool(f"tool JSON of another version than {SPEC_VERSION}: {text[:80]!r}")
        try:
            return cls(**known)
        except TypeError as error:
            raise InvalidTool(f"tool JSON with unknown or missing fields: {error}") from None

    @property
    def content_hash(self) -> str:
        """SHA-256 of the canonical text, hexadecimal; kept once it is known."""
        if not self._hash:
            self.to_json()
        return self._hash

    def with_(self, **changes: Any) -> ToolSpec:
        """A copy with other values; a new name or namespace makes a new id unless one is given."""
        if "id" not in changes and ("name" in changes or "namespace" in changes):
            changes["id"] = ""
        return replace(self, **changes)


@dataclass(frozen=True, slots=True)
class Tool:
    """A definition together with what runs it."""

    spec: ToolSpec
    execute: Executor | None = None


_CANONICAL: Final = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def canonical(value: object, *, what: str) -> str:
    """One byte-stable JSON text for a value; NaN, infinity and live objects are refused.

    Raises:
        InvalidTool: the value holds something that JSON cannot, or text that is not Unicode.
    """
    try:
        text = _CANONICAL.encode(value)
        text.encode("utf-8")
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidTool(f"{what} holds a value that JSON cannot: {str(error)[:200]}") from None
    return text


def _differing(spec: ToolSpec) -> Iterator[tuple[str, Any]]:
    for name, default in _defaults():
        value = getattr(spec, name)
        if name in ("name", "id") or value != default:
            yield name, list(cast(tuple[str, ...], value)) if isinstance(value, tuple) else value


@cache
def _defaults() -> tuple[tuple[str, object], ...]:
    given = [one for one in fields(ToolSpec) if one.init]
    made = (one.default_factory() if callable(one.default_factory) else one.default for one in given)
    return tuple((one.name, default) for one, default in zip(given, made, strict=True))


def _check_texts(spec: ToolSpec) -> None:
    for name in ("name", "description", "namespace", "source", "id"):
        if not isinstance(getattr(spec, name), str):
            raise InvalidTool(f"{name} of a tool must be text, not {type(getattr(spec, name)).__name__}")
    if not spec.name.strip():
        raise InvalidTool("a tool needs a name that is not blank")
    title = cast(object, spec.title)
    if title is not None and not isinstance(title, str):
        raise InvalidTool(f"title of tool {spec.name[:200]!r} must be text or None")


def _behavior(spec: ToolSpec, name: str, kind: type[StrEnum]) -> StrEnum:
    value: object = getattr(spec, name)
    try:
        return kind(value)
    except ValueError:
        allowed = ", ".join(one.value for one in kind)
        raise InvalidTool(f"{name} of tool {spec.name[:200]!r} must be one of {allowed}, not {value!r:.80}") from None


def _texts(spec: ToolSpec, name: str) -> tuple[str, ...]:
    value: object = getattr(spec, name)
    if value == ():
        return ()
    if not isinstance(value, list | tuple | set | frozenset):
        raise InvalidTool(f"{name} of tool {spec.name[:200]!r} must be a list of texts, not {type(value).__name__}")
    items = list(cast("Iterable[object]", value))
    for item in items:
        if not isinstance(item, str):
            raise InvalidTool(f"{name} of tool {spec.name[:200]!r} must hold texts only, not {item!r:.80}")
    texts = cast("list[str]", items)
    return tuple(sorted(texts) if isinstance(value, set | frozenset) else texts)


def _json_object(spec: ToolSpec, name: str) -> Json | None:
    value: object = getattr(spec, name)
    if value is None and name == "output_schema":
        return None
    if isinstance(value, type) and hasattr(value, "model_json_schema"):
        value = cast(Any, value).model_json_schema()
    if not isinstance(value, dict | Mapping):
        raise InvalidTool(f"{name} of tool {spec.name[:200]!r} must be a JSON object, not {type(value).__name__}")
    if not value:
        return {}
    return cast(Json, _copied(cast(object, value), f"{name} of tool {spec.name[:200]!r}", MAX_DEPTH))


def _copied(value: object, what: str, depth: int) -> object:
    """A deep copy made of plain JSON values, so that nobody can change a frozen tool from outside."""
    if depth < 0:
        raise LimitExceeded(f"{what} is nested deeper than {MAX_DEPTH}")
    if isinstance(value, dict | Mapping):
        pairs = cast("Mapping[object, object]", value).items()
        return {
            key if type(key) is str else _key(key, what): item
            if type(item) in _PLAIN
            else _copied(item, what, depth - 1)
            for key, item in pairs
        }
    if isinstance(value, list | tuple):
        items = cast("list[object]", value)
        return [item if type(item) in _PLAIN else _copied(item, what, depth - 1) for item in items]
    return value


def _key(key: object, what: str) -> str:
    if not isinstance(key, str):
        raise InvalidTool(f"{what} has a key that is not text: {key!r:.80}")
    return key
