"""Unions of models in a JSON Schema: a `type` that tells the members apart, where none was declared."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, cast

from toolsearch.errors import InvalidTool
from toolsearch.tool import Json

CLASS_MARK: Final = "x-toolsearch-class"
"""Key under which a definition carries the name of its class until `tell_apart` has run."""
_REF: Final = "#/$defs/"


def tell_apart(schema: Json, *, what: str) -> Json:
    """The schema with tagged unions: each member gets a required `type`, constant, the name of its class.

    A union whose members all declare their own literal `type` stays as it is.

    Raises:
        InvalidTool: a member has another field of that name, or two classes share one name.
    """
    definitions: dict[str, Json] = schema.get("$defs", {})
    variants: dict[str, str] = {}
    for union in _unions(schema):
        members = [one for one in map(_target, cast("list[object]", union["anyOf"])) if one in definitions]
        classes = [one for one in members if CLASS_MARK in definitions[one]]
        if len(classes) < 2 or all(_own_tag(definitions[one]) for one in classes):
            continue
        _check([definitions[one] for one in classes], what)
        for name in classes:
            variants.setdefault(name, _free_name(f"{name}Variant", definitions, variants))
        union["anyOf"] = [_redirected(one, variants, classes) for one in cast("list[Json]", union["anyOf"])]
        if isinstance(union.get("default"), dict):
            del union["default"]
    for name, variant in variants.items():
        definitions[variant] = _with_tag(definitions[name])
    return _pruned(schema)


def _unions(node: object) -> Iterator[Json]:
    """Every schema in it that has an `anyOf`."""
    if isinstance(node, dict):
        found = cast(Json, node)
        if isinstance(found.get("anyOf"), list):
            yield found
        for value in found.values():
            yield from _unions(value)
    elif isinstance(node, list):
        for value in cast("list[object]", node):
            yield from _unions(value)


def _target(branch: object) -> str:
    reference = cast(Json, branch).get("$ref") if isinstance(branch, dict) else None
    return reference.removeprefix(_REF) if isinstance(reference, str) else ""


def _own_tag(definition: Json) -> bool:
    tag = definition.get("properties", {}).get("type", {})
    return "const" in tag or "enum" in tag


def _check(members: list[Json], what: str) -> None:
    names = [member[CLASS_MARK] for member in members]
    for member in members:
        if "type" in member.get("properties", {}):
            raise InvalidTool(
                f"{what}: {member[CLASS_MARK]!r:.80} is in a union and has a field 'type' already, so that none can "
                "be added to tell the members apart; declare one with Field(discriminator=...) or rename the field"
            )
    if len(set(names)) < len(names):
        raise InvalidTool(f"{what}: two members of a union are called {max(names, key=names.count)!r:.80}; rename one")


def _free_name(name: str, definitions: dict[str, Json], variants: dict[str, str]) -> str:
    while name in definitions or name in variants.values():
        name += "_"
    return name


def _redirected(branch: Json, variants: dict[str, str], classes: list[str]) -> Json:
    name = _target(branch)
    return {**branch, "$ref": _REF + variants[name]} if name in classes else branch


def _with_tag(definition: Json) -> Json:
    tag = {"type": "string", "const": definition[CLASS_MARK]}
    properties = {"type": tag, **definition.get("properties", {})}
    return {**definition, "properties": properties, "required": ["type", *definition.get("required", [])]}


def _pruned(schema: Json) -> Json:
    """The schema without definitions that nothing refers to any more."""
    definitions: dict[str, Json] = schema.get("$defs", {})
    kept: set[str] = set()
    waiting: list[object] = [{key: value for key, value in schema.items() if key != "$defs"}]
    while waiting:
        for name in _references(waiting.pop()):
            if name in definitions and name not in kept:
                kept.add(name)
                waiting.append(definitions[name])
    rest = {key: value for key, value in schema.items() if key != "$defs"}
    return {**rest, "$defs": {name: definitions[name] for name in definitions if name in kept}} if kept else rest


def _references(node: object) -> Iterator[str]:
    if isinstance(node, dict):
        found = cast(Json, node)
        if isinstance(found.get("$ref"), str):
            yield found["$ref"].removeprefix(_REF)
        for value in found.values():
            yield from _references(value)
    elif isinstance(node, list):
        for value in cast("list[object]", node):
            yield from _references(value)
