"""Schemas of an OpenAPI document as JSON Schema 2020-12, with the components that they need."""

from __future__ import annotations

from typing import Any, Final, cast

from toolsearch.catalog.schema_refs import Hoisted, resolve
from toolsearch.catalog.schema_shape import shaped, types_of
from toolsearch.catalog.schema_walk import rewritten
from toolsearch.errors import InvalidTool, LimitExceeded
from toolsearch.tool import Json

MAX_CHAIN: Final = 20
"""References that lead from one to the next."""
_FOREIGN: Final = ("nullable", "example", "xml", "externalDocs", "discriminator", "writeOnly")
"""Keywords of OpenAPI 3.0 that JSON Schema says otherwise, or not at all."""


def followed(document: Json, value: Any, what: str) -> Json:
    """An object of the document; where it is a reference, what that leads to.

    Raises:
        InvalidTool: it is neither, or the reference leads nowhere, outside, or in a circle.
    """
    for _ in range(MAX_CHAIN):
        if not isinstance(value, dict):
            raise InvalidTool(f"{what} must be an object, not {value!r:.60}")
        body = cast(Json, value)
        if not isinstance(body.get("$ref"), str):
            return cast(Any, body)
        value = resolve(document, body["$ref"])
    raise InvalidTool(f"{what} is a reference that goes in a circle")


def with_components(document: Json, schema: Json) -> Json:
    """The schema with everything that it refers to under `$defs`.

    A schema that draws in too much keeps its first level, and further down says only that there is an object.

    Raises:
        InvalidTool: a reference leads nowhere or outside.
    """
    work = Hoisted(document)
    try:
        body = work.whole(schema)
    except LimitExceeded:
        return upgraded(_cut(schema))
    return upgraded({**body, "$defs": work.definitions} if work.definitions else body)


def upgraded(schema: Json) -> Json:
    """OpenAPI 3.0's dialect as 2020-12. Properties that are read-only are left out."""
    changed = rewritten(schema, lambda body, _: _upgraded(cast(Json, body)) if isinstance(body, dict) else body)
    return cast(Json, shaped(changed, lambda _: None))


def _upgraded(body: Json) -> Json:
    changed = {key: item for key, item in body.items() if key not in _FOREIGN and not key.startswith("x-")}
    if "example" in body and "examples" not in body:
        changed["examples"] = [body["example"]]
    properties = changed.get("properties")
    if isinstance(properties, dict):
        hidden = {name for name, one in cast(Json, properties).items() if _read_only(one)}
        if hidden:
            changed["properties"] = {name: one for name, one in cast(Json, properties).items() if name not in hidden}
            if isinstance(changed.get("required"), list):
                changed["required"] = [name for name in changed["required"] if name not in hidden]
    return _nullable(changed) if body.get("nullable") is True else changed


def _read_only(schema: Any) -> bool:
    return isinstance(schema, dict) and cast(Json, schema).get("readOnly") is True


def _nullable(body: Json) -> Json:
    kinds = types_of(body.get("type"))
    if not kinds:
        return {"anyOf": [body, {"type": "null"}]} if body else body
    changed = {**body, "type": [*kinds, "null"] if "null" not in kinds else kinds}
    if isinstance(body.get("enum"), list) and None not in body["enum"]:
        changed["enum"] = [*body["enum"], None]
    return changed


def _cut(schema: Json) -> Json:
    return cast(Json, rewritten(schema, lambda body, _: _without_reference(body)))


def _without_reference(body: Any) -> Any:
    known = cast(Json, body) if isinstance(body, dict) else {}
    if not isinstance(known.get("$ref"), str):
        return cast(Any, body)
    rest = {key: item for key, item in known.items() if key != "$ref"}
    return {"type": "object", "description": f"a {known['$ref'].rpartition('/')[2]}", **rest}
