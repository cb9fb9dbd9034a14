"""Where the subschemas of a JSON Schema are, so that names of properties are never taken for keywords."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final, cast

from toolsearch.tool import Json

ONE: Final = frozenset(
    {"items", "additionalItems", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames"}
    | {"unevaluatedItems", "unevaluatedProperties", "contentSchema"}
)
"""Keywords whose value is a schema; `items` may also be a list of them, before draft 2020-12."""
LISTS: Final = frozenset({"oneOf", "anyOf", "allOf", "prefixItems"})
"""Keywords whose value is a list of schemas."""
MAPS: Final = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"})
"""Keywords whose value maps free names to schemas."""

Change = Callable[[Any, str], Any]
"""`change(schema, keyword)` gives the schema that takes its place; keyword "" is the root."""


def rewritten(schema: Any, change: Change, keyword: str = "") -> Any:
    """A copy in which every subschema, inner ones first, and then the schema itself was changed."""
    if not isinstance(schema, dict):
        return change(schema, keyword)
    return change({key: _below(key, item, change) for key, item in cast(Json, schema).items()}, keyword)


def subschemas(schema: Any) -> Iterator[Any]:
    """The schema and every schema inside it; may be objects or booleans."""
    waiting: list[Any] = [schema]
    while waiting:
        here = waiting.pop()
        yield here
        if isinstance(here, dict):
            for key, item in cast(Json, here).items():
                waiting += _inside(key, item)


def _below(key: str, item: Any, change: Change) -> Any:
    if key in MAPS and isinstance(item, dict):
        return {name: rewritten(one, change, key) for name, one in cast(Json, item).items()}
    if isinstance(item, list) and (key in LISTS or key == "items"):
        return [rewritten(one, change, key) for one in cast("list[Any]", item)]
    return rewritten(item, change, key) if key in ONE else cast(Any, item)


def _inside(key: str, item: Any) -> list[Any]:
    if key in MAPS and isinstance(item, dict):
        return list(cast(Json, item).values())
    if isinstance(item, list) and (key in LISTS or key == "items"):
        return cast("list[Any]", item)
    return [item] if key in ONE else []
