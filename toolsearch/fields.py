"""The fields of a tool that are searched, their weights, and the texts they are made of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final, cast

from toolsearch.tool import ToolSpec

MAX_PARAMETERS: Final = 2_000
"""Most parameters, nested ones included, whose texts are read."""

WEIGHTS: Final[Mapping[str, float]] = MappingProxyType(
    {
        "name": 3.0,
        "title": 1.0,
        "namespace": 1.0,
        "description": 1.0,
        "parameter names": 0.5,
        "parameter descriptions": 0.7,
        "tags": 1.0,
        "aliases": 2.0,
        "examples": 0.7,
    }
)
"""What one word weighs in each field."""


def field_texts(spec: ToolSpec) -> dict[str, tuple[str, ...]]:
    """The texts of each field of WEIGHTS."""
    parameters = list(_parameters(spec))
    described = (schema.get("description") for _, schema in parameters)
    return {
        "name": (spec.name,),
        "title": (spec.title or "",),
        "namespace": (spec.namespace,),
        "description": (spec.description,),
        "parameter names": tuple(name for name, _ in parameters),
        "parameter descriptions": tuple(text for text in described if isinstance(text, str)),
        "tags": spec.tags,
        "aliases": spec.aliases,
        "examples": spec.examples,
    }


def _parameters(spec: ToolSpec) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Name and schema of every parameter, nested ones included; at most MAX_PARAMETERS."""
    left = MAX_PARAMETERS
    waiting: list[object] = [spec.parameters]
    while waiting and left:
        schema = waiting.pop()
        if isinstance(schema, list):
            waiting += reversed(cast("list[object]", schema))
        if not isinstance(schema, dict):
            continue
        known = cast("dict[str, Any]", schema)
        named = _object(known.get("properties"))
        for name, body in list(named.items())[:left]:
            left -= 1
            yield name, _object(body)
        inner = (known.get(key) for key in ("items", "anyOf", "oneOf", "allOf", "prefixItems"))
        waiting += reversed([*named.values(), *inner, *_object(known.get("$defs")).values()])


def _object(value: object) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}
