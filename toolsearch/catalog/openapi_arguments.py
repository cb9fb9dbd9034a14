"""The arguments of an operation: parameters and body in one object, without clashes."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import Any, Final, cast

from toolsearch.catalog.openapi_schemas import followed, upgraded, with_components
from toolsearch.errors import InvalidTool
from toolsearch.tool import Json

PLACES: Final = ("path", "query", "header")
"""Where a parameter may be; cookies belong to the client."""
CLIENTS_HEADERS: Final = frozenset({"accept", "content-type", "authorization"})
"""Headers that the specification keeps for the client."""
BODY: Final = "body"


@dataclass(frozen=True, slots=True, kw_only=True)
class Arguments:
    """The schema of all arguments, and where each one goes.

    `placement["arguments"]` maps an argument to `{in, name}`, in being path, query, header or body; a body with
    `whole` is the argument itself. `placement["content"]` is the body's media type.
    """

    schema: Json
    placement: Json


@dataclass(frozen=True, slots=True, kw_only=True)
class _Argument:
    name: str
    place: str
    schema: Json
    required: bool = False
    whole: bool = False


def arguments_of(document: Json, operation: Json, parameters: list[Any]) -> Arguments:
    """The arguments of an operation; `parameters` holds the path's, then its own, which replace equal ones.

    Raises:
        InvalidTool: a parameter or the body is broken.
    """
    found: dict[tuple[str, str], _Argument] = {}
    for value in parameters:
        one = _parameter(document, value)
        if one is not None:
            found[one.place, one.name] = one
    content, body = _body(document, operation.get("requestBody"))
    named = _named([*found.values(), *body])
    schema: Json = {"type": "object", "properties": {name: one.schema for name, one in named.items()}}
    if required := [name for name, one in named.items() if one.required]:
        schema["required"] = required
    placement: Json = {"arguments": {name: _placed(one) for name, one in named.items()}}
    if content:
        placement["content"] = content
    return Arguments(schema=with_components(document, schema), placement=placement)


def _named(arguments: list[_Argument]) -> dict[str, _Argument]:
    """Arguments by the names that the model sees: legal everywhere, and each once."""
    plain = [re.sub(r"[^A-Za-z0-9_.-]+", "_", one.name).strip("_")[:60] or one.place for one in arguments]
    count = Counter(plain)
    named: dict[str, _Argument] = {}
    for name, one in sorted(zip(plain, arguments, strict=True), key=lambda pair: pair[1].place != BODY):
        if (count[name] > 1 and one.place != BODY) or name in named:
            name = f"{name}__{one.place}"
        while name in named:
            name += "_"
        named[name] = one
    order = {id(one): position for position, one in enumerate(arguments)}
    return dict(sorted(named.items(), key=lambda pair: order[id(pair[1])]))


def _placed(one: _Argument) -> Json:
    return {"in": one.place, "name": one.name, **({"whole": True} if one.whole else {})}


def _parameter(document: Json, value: Any) -> _Argument | None:
    body = followed(document, value, "a parameter")
    name, place = body.get("name"), body.get("in")
    if not isinstance(name, str) or not isinstance(place, str):
        raise InvalidTool(f"a parameter needs the texts name and in: {body!r:.120}")
    if place not in PLACES or (place == "header" and name.lower() in CLIENTS_HEADERS):
        return None
    schema = body.get("schema")
    if schema is None and isinstance(body.get("content"), dict):
        schema = _media(document, body["content"])[1]
    required = body.get("required") is True or place == "path"
    return _Argument(name=name, place=place, schema=_described(schema, body), required=required)


def _described(schema: Any, body: Json) -> Json:
    """The schema of a parameter with the parameter's own description."""
    known: Json = dict(cast(Json, schema)) if isinstance(schema, dict) else {}
    text = body.get("description")
    if isinstance(text, str) and text:
        known["description"] = text
    if "example" in body and "example" not in known:
        known["example"] = body["example"]
    return known


def _body(document: Json, value: Any) -> tuple[str, list[_Argument]]:
    if value is None:
        return "", []
    body = followed(document, value, "a request body")
    if not isinstance(body.get("content"), dict) or not body["content"]:
        return "", []
    content, schema = _media(document, body["content"])
    needed = body.get("required") is True
    known = _flat(document, schema)
    if known is None:
        whole = _Argument(name=BODY, place=BODY, schema=_described(schema, body), required=needed, whole=True)
        return content, [whole]
    required = cast("list[Any]", known["required"]) if isinstance(known.get("required"), list) else []
    inner = upgraded({"properties": known["properties"]})["properties"]
    return content, [
        _Argument(name=name, place=BODY, schema=cast(Json, one), required=needed and name in required)
        for name, one in cast(Json, known["properties"]).items()
        if name in inner
    ]


def _flat(document: Json, schema: Any) -> Json | None:
    """The schema of a body when it is a plain object with properties, whose members can stand for themselves."""
    known = followed(document, schema, "the schema of a body") if isinstance(schema, dict) else {}
    if any(key in known for key in ("oneOf", "anyOf", "allOf", "additionalProperties", "patternProperties")):
        closed = known.get("additionalProperties") is False and len({"oneOf", "anyOf", "allOf"} & set(known)) == 0
        if not closed:
            return None
    properties: object = known.get("properties")
    if not isinstance(properties, dict) or not properties or known.get("type", "object") != "object":
        return None
    return known if all(isinstance(one, dict) for one in cast(Json, properties).values()) else None


def _media(document: Json, content: Json) -> tuple[str, Any]:
    """The media type to send, JSON before all, and its schema."""
    kinds = sorted(content, key=lambda kind: 0 if "json" in kind.lower() else 1 if "form" in kind.lower() else 2)
    media = followed(document, content[kinds[0]], f"the content {kinds[0][:60]!r}") if kinds else {}
    return (kinds[0] if kinds else ""), media.get("schema")
