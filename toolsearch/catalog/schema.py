"""Schemas as each provider takes them. The tool's own schema stays as it is and still checks the arguments."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, cast

from toolsearch.catalog.schema_refs import Inlined, hoisted, inlined
from toolsearch.catalog.schema_shape import shaped
from toolsearch.catalog.schema_walk import rewritten
from toolsearch.errors import InvalidInput, InvalidTool
from toolsearch.tool import Json

_COMBINATORS: Final = ("oneOf", "anyOf", "allOf")
_BY_TYPE: Final = {
    "array": ("items", "prefixItems", "minItems", "maxItems", "uniqueItems", "contains"),
    "object": ("properties", "required", "additionalProperties", "patternProperties", "minProperties", "maxProperties"),
    "string": ("minLength", "maxLength", "pattern", "format"),
    "number": ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
}


@dataclass(frozen=True, slots=True)
class Repaired:
    """A schema for a provider, what was changed, and rules that only a sentence can still tell the model."""

    schema: Json
    changes: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()


@dataclass(slots=True)
class _Report:
    changes: list[str] = field(default_factory=list[str])
    rules: list[str] = field(default_factory=list[str])

    def say(self, change: str) -> None:
        if change not in self.changes:
            self.changes.append(change)


def repair(schema: Json, provider: str) -> Repaired:
    """The schema in a provider's normal form.

    Raises:
        InvalidInput: the provider is not known.
        InvalidTool: a reference leads nowhere, or the root is no object.
        LimitExceeded: the schema is too large.
    """
    if provider not in FORMS:
        raise InvalidInput(f"no provider {provider[:40]!r}; known are {', '.join(FORMS)}")
    form, report = FORMS[provider], _Report()
    body = _root(cast(Json, shaped(schema, report.say)), report)
    resolved = form.references(body)
    if resolved != body:
        report.say("references resolved")
        resolved = cast(Json, shaped(resolved, report.say))  # a reference may lead to what was no schema before
    finished = rewritten(resolved, lambda value, key: _node(value, form, report, key))
    finished.setdefault("properties", {})
    return Repaired(finished, tuple(report.changes), tuple(report.rules))


@dataclass(frozen=True, slots=True)
class _Form:
    """How a provider differs: what it does with references, lists of types, and empty property maps."""

    references: Callable[[Json], Json]
    type_lists: bool = True
    empty_properties: bool = True


FORMS: Final[Mapping[str, _Form]] = {
    "openai": _Form(hoisted),
    "anthropic": _Form(hoisted),
    "mcp": _Form(hoisted),
    "gemini": _Form(inlined, type_lists=False, empty_properties=False),
    "ollama": _Form(inlined),
}


def _root(schema: Json, report: _Report) -> Json:
    """The root as one object schema."""
    body = dict(schema)
    given = body.get("type")
    if isinstance(given, list) and "object" in given:
        body["type"] = "object"
        report.say("root type narrowed to object")
    elif given is None:
        body["type"] = "object"
        report.say("root type added")
    elif given != "object":
        raise InvalidTool(f"the root of a tool's schema must be an object, not {given!r:.60}")
    if isinstance(body.get("$ref"), str) and "properties" not in body:
        body = {
            **inlined(body),
            "$defs": body.get("$defs", {}),
            "definitions": body.get("definitions", {}),
            "type": "object",
        }
        body = {key: value for key, value in body.items() if value != {} or key == "properties"}
    for key in _COMBINATORS:
        if key in body:
            body = _merged(body, key, report)
    if "properties" not in body:
        report.say("properties added")
    return {**body, "properties": body.get("properties", {})}


def _merged(body: Json, key: str, report: _Report) -> Json:
    """The root with the alternatives of one combinator folded into it; the rule is told in words."""
    work = Inlined(body)
    parts: list[Json] = [part for part in (_resolved(one, work) for one in body[key]) if isinstance(part, dict)]
    properties: Json = {}
    for part in parts:
        properties.update(part.get("properties", {}))
    properties.update(body.get("properties", {}))
    needed = [set(cast("list[str]", part.get("required", []))) for part in parts]
    common: set[str] = set()
    if needed:
        common = set[str].union(*needed) if key == "allOf" else set[str].intersection(*needed)
    required = [*body.get("required", []), *sorted(common - set(body.get("required", [])))]
    rest = {name: value for name, value in body.items() if name != key}
    report.say(f"root {key} merged")
    if key != "allOf" and any(needed):
        options = " or ".join("(" + ", ".join(sorted(names)) + ")" for names in needed if names)
        report.rules.append(f"Give {'exactly one' if key == 'oneOf' else 'at least one'} of: {options}.")
    return {**rest, "properties": properties, **({"required": required} if required else {})}


def _resolved(part: Any, work: Inlined) -> Any:
    return work.of(cast(Json, part)) if isinstance(part, dict) and "$ref" in part else cast(Any, part)


def _node(value: Any, form: _Form, report: _Report, key: str) -> Any:
    """A schema without booleans in places that providers refuse, and with types in the provider's form."""
    if isinstance(value, bool):
        if key in ("additionalProperties", "unevaluatedProperties", "unevaluatedItems", "additionalItems"):
            return value
        report.say("boolean schemas written out")
        return {} if value else {"not": {}}
    body: Json = value
    if not form.type_lists and isinstance(body.get("type"), list):
        report.say("lists of types split")
        body = _split(body)
    if body.get("type") == "array" and "items" not in body and "prefixItems" not in body:
        body = {**body, "items": {}}
        report.say("missing items added")
    if "required" in body and "properties" in body:
        body = _known_required(body, report)
    if not form.empty_properties and key and body.get("properties") == {}:
        body = {name: item for name, item in body.items() if name != "properties"}
        report.say("empty property maps removed")
    return body


def _known_required(body: Json, report: _Report) -> Json:
    kept = [name for name in body["required"] if name in body["properties"]]
    if kept == body["required"]:
        return body
    report.say("required names without a property removed")
    rest = {key: item for key, item in body.items() if key != "required"}
    return {**rest, "required": kept} if kept else rest


def _split(body: Json) -> Json:
    """`type: [a, b]` as `anyOf`, each branch with the keywords of its type."""
    kinds: list[str] = body["type"]
    special = {keyword for keywords in _BY_TYPE.values() for keyword in keywords}
    shared = {name: item for name, item in body.items() if name not in special and name not in ("type", "enum")}
    branches: list[Json] = []
    for kind in kinds:
        own = _BY_TYPE.get("number" if kind == "integer" else kind, ())
        branch: Json = {"type": kind, **{name: body[name] for name in own if name in body}}
        if "enum" in body and kind != "null":
            branch["enum"] = [one for one in body["enum"] if one is not None]
        branches.append(branch)
    return {**shared, **branches[0]} if len(branches) == 1 else {**shared, "anyOf": branches}
