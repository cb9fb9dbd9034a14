"""Keywords of the wrong kind and of older drafts, put right or left out, so that a schema is valid for 2020-12."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final, cast

from toolsearch.catalog.schema_walk import LISTS, MAPS, ONE, rewritten
from toolsearch.tool import Json

TYPES: Final = ("object", "array", "string", "number", "integer", "boolean", "null")
"""The types of JSON Schema."""
OTHER_TYPES: Final = {
    "dict": "object", "map": "object", "list": "array", "tuple": "array", "set": "array", "str": "string",
    "text": "string", "date": "string", "datetime": "string", "float": "number", "double": "number",
    "decimal": "number", "int": "integer", "long": "integer", "bool": "boolean", "none": "null",
}  # fmt: skip
"""What people write instead of them."""

Say = Callable[[str], None]
"""Takes a sentence about what was changed."""


def shaped(schema: Any, say: Say) -> Any:
    """A copy valid for draft 2020-12; `say` is told of every change."""
    return rewritten(schema, lambda body, _: _shaped(body, say))


def _shaped(body: Any, say: Say) -> Any:
    if isinstance(body, bool):
        return body
    if not isinstance(body, dict):
        say("values that are no schemas opened")
        return {}
    return _sound(_modern(cast(Json, body), say), say)


def _sound(body: Json, say: Say) -> Json:
    kept: Json = {}
    for key, value in body.items():
        if key == "type":
            if (kinds := _types(value, say)) is not None:
                kept[key] = kinds
        elif _fits(key, value):
            kept[key] = value
        else:
            say(f"{key} of the wrong kind removed")
    return kept


def _modern(body: Json, say: Say) -> Json:
    """The keywords of draft 4 to 7 as those of 2020-12."""
    changed = dict(body)
    for bound, limit in (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")):
        if isinstance(changed.get(bound), bool):
            say(f"{bound} of draft 4 rewritten")
            if changed.pop(bound) and _number(changed.get(limit)):
                changed[bound] = changed.pop(limit)
    if isinstance(changed.get("items"), list):
        say("list of items rewritten as prefixItems")
        changed["prefixItems"] = changed.pop("items")
        rest = changed.pop("additionalItems", None)
        if rest is not None:
            changed["items"] = rest
    if isinstance(changed.get("required"), list):
        names = list(dict.fromkeys(name for name in cast("list[Any]", changed["required"]) if isinstance(name, str)))
        if names != changed["required"]:
            say("required put right")
            changed["required"] = names
    return changed


def types_of(value: Any) -> list[str]:
    """The types of JSON Schema that a value of `type` names, in any of the usual words; empty means any."""
    named = cast("list[Any]", value) if isinstance(value, list) else [value]
    lowered = [one.lower() for one in named if isinstance(one, str)]
    known = [OTHER_TYPES.get(one, one) for one in lowered]
    return list(dict.fromkeys(one for one in known if one in TYPES))


def _types(value: Any, say: Say) -> str | list[str] | None:
    known = types_of(value)
    if not known:
        say("unknown types removed")
        return None
    if isinstance(value, list):
        if known != value:
            say("types renamed")
        return known
    if known[0] != value:
        say("types renamed")
    return known[0]


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _count(value: Any) -> bool:
    return _number(value) and value >= 0 and int(value) == value


def _texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) for one in cast("list[Any]", value))


def _text_lists(value: Any) -> bool:
    return isinstance(value, dict) and all(_texts(one) for one in cast(Json, value).values())


def _text(value: Any) -> bool:
    return isinstance(value, str)


def _flag(value: Any) -> bool:
    return isinstance(value, bool)


def _members(value: Any) -> bool:
    return isinstance(value, list) and bool(cast("list[Any]", value))


_KINDS: Final[dict[str, Callable[[Any], bool]]] = {
    **dict.fromkeys(("title", "description", "$comment", "format", "pattern", "contentEncoding"), _text),
    **dict.fromkeys(("$ref", "$id", "$anchor", "$schema", "$dynamicRef", "$dynamicAnchor", "contentMediaType"), _text),
    **dict.fromkeys(("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"), _count),
    **dict.fromkeys(("minContains", "maxContains"), _count),
    **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), _number),
    **dict.fromkeys(("uniqueItems", "deprecated", "readOnly", "writeOnly"), _flag),
    **dict.fromkeys(("enum", "examples"), lambda value: isinstance(value, list)),
    **dict.fromkeys(LISTS, _members),
    **dict.fromkeys(MAPS, lambda value: isinstance(value, dict)),
    **dict.fromkeys(ONE, lambda value: isinstance(value, dict | bool)),
    "multipleOf": lambda value: _number(value) and value > 0,
    "required": _texts,
    "dependentRequired": _text_lists,
    "$vocabulary": lambda value: isinstance(value, dict),
}
"""Keyword -> whether a value is of its kind; other keywords take anything."""


def _fits(key: str, value: Any) -> bool:
    return key not in _KINDS or _KINDS[key](value)
