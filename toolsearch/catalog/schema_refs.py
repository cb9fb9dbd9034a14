"""References inside a schema: every `$ref` is moved to root `$defs`, or written out in place.

Only references into the schema itself are followed; nothing is ever fetched.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, cast
from urllib.parse import unquote

from toolsearch.catalog.schema_walk import subschemas
from toolsearch.errors import InvalidTool, LimitExceeded
from toolsearch.tool import Json

MAX_NODES: Final = 50_000
"""Nodes of a schema after its references are resolved."""
MAX_INLINED: Final = 3
"""How often a recursive definition is written out inside itself."""
DATA_KEYS: Final = frozenset({"enum", "const", "default", "examples", "example", "required"})
"""Keywords whose value is data, not a schema."""
NAMED: Final = frozenset({"properties", "patternProperties", "dependentSchemas"})
"""Keywords whose value maps free names to schemas."""
_DROPPED: Final = frozenset(
    {"$defs", "definitions", "$schema", "$id", "$anchor", "$dynamicAnchor", "$dynamicRef", "$vocabulary", "$comment"}
)


@dataclass(slots=True)
class Hoisted:
    """Moves definitions to the root. `definitions` maps a new name to its schema."""

    root: Json
    definitions: Json = field(default_factory=dict[str, Any])
    names: dict[str, str] = field(default_factory=dict[str, str])
    nodes: int = 0

    def node(self, value: Any) -> Any:
        """The value with its references pointing to root `$defs`."""
        self.nodes = counted(self.nodes)
        if isinstance(value, list):
            return [self.node(item) for item in cast("list[Any]", value)]
        if not isinstance(value, dict):
            return value
        body = cast(Json, value)
        found = {key: self.below(key, item) for key, item in body.items() if key not in _DROPPED}
        if isinstance(body.get("$ref"), str):
            found["$ref"] = f"#/$defs/{self.name(body['$ref'])}"
        return found

    def below(self, key: str, item: Any) -> Any:
        """The value of one keyword; maps of named schemas keep every name."""
        if key in DATA_KEYS:
            return item
        if key in NAMED and isinstance(item, dict):
            return {name: self.node(one) for name, one in cast(Json, item).items()}
        return self.node(item)

    def name(self, reference: str) -> str:
        """The name of a reference's definition, which is moved at the first mention."""
        if reference not in self.names:
            target = resolve(self.root, reference)
            last = re.sub(r"[^A-Za-z0-9_]+", "_", reference.rsplit("/", 1)[-1]).strip("_") or "root"
            name, number = last, 2
            while name in self.definitions:
                name, number = f"{last}_{number}", number + 1
            self.names[reference] = name
            self.definitions[name] = {}
            self.definitions[name] = self.node(target)
        return self.names[reference]


def hoisted(schema: Json) -> Json:
    """The schema with all used definitions under root `$defs`, unused ones left out.

    Raises:
        InvalidTool: a reference leads nowhere or outside.
        LimitExceeded: it has more than MAX_NODES nodes.
    """
    work = Hoisted(schema)
    body: Json = work.node(schema)
    return {**body, "$defs": work.definitions} if work.definitions else body


def inlined(schema: Json) -> Json:
    """The schema with every reference written out; a recursive one ends as "any" after MAX_INLINED rounds.

    Raises:
        InvalidTool: a reference leads nowhere or outside.
        LimitExceeded: it has more than MAX_NODES nodes.
    """
    return _Inlined(schema).node(schema, ())


@dataclass(slots=True)
class _Inlined:
    root: Json
    nodes: int = 0

    def node(self, value: Any, path: tuple[str, ...]) -> Any:
        self.nodes = counted(self.nodes)
        if isinstance(value, list):
            return [self.node(item, path) for item in cast("list[Any]", value)]
        if not isinstance(value, dict):
            return value
        body = cast(Json, value)
        reference = body.get("$ref")
        dropped = _DROPPED | {"$ref"} if isinstance(reference, str) else _DROPPED
        found = {key: self.below(key, item, path) for key, item in body.items() if key not in dropped}
        if not isinstance(reference, str) or path.count(reference) >= MAX_INLINED:
            return found
        target: Any = self.node(resolve(self.root, reference), (*path, reference))
        return {**cast(Json, target), **found} if isinstance(target, dict) else target

    def below(self, key: str, item: Any, path: tuple[str, ...]) -> Any:
        if key in DATA_KEYS:
            return item
        if key in NAMED and isinstance(item, dict):
            return {name: self.node(one, path) for name, one in cast(Json, item).items()}
        return self.node(item, path)


def resolve(root: Json, reference: str) -> Any:
    """What a local reference points to (RFC 6901, percent-encoded).

    Raises:
        InvalidTool: it leads nowhere or outside.
    """
    if not reference.startswith("#"):
        raise InvalidTool(
            f"the reference {reference[:120]!r} leads outside of the schema; only local ones are followed"
        )
    if len(reference) > 1 and "/" not in reference:
        return _anchored(root, reference)
    parts = [unquote(part).replace("~1", "/").replace("~0", "~") for part in reference[1:].split("/")[1:]]
    found, target = _followed(root, parts)
    if not found and len(parts) == 2 and parts[0] in ("$defs", "definitions"):
        found, target = _nested(root, parts)
    if not found:
        raise InvalidTool(f"the reference {reference[:120]!r} leads nowhere")
    return target


def _anchored(root: Json, reference: str) -> Any:
    for nodes, one in enumerate(subschemas(root)):
        counted(nodes)
        if isinstance(one, dict) and cast(Json, one).get("$anchor") == reference[1:]:
            return cast(Json, one)
    raise InvalidTool(f"the reference {reference[:120]!r} leads nowhere")


def _followed(root: Any, parts: list[str]) -> tuple[bool, Any]:
    here: Any = root
    for key in parts:
        if isinstance(here, Mapping) and key in here:
            here = cast("Mapping[str, Any]", here)[key]
        elif isinstance(here, list) and key.isdigit() and int(key) < len(cast("list[Any]", here)):
            here = cast("list[Any]", here)[int(key)]
        else:
            return False, None
    return True, here


def _nested(root: Any, parts: list[str]) -> tuple[bool, Any]:
    """Definitions that a careless converter left further down, though the reference says they are at the root."""
    waiting: list[Any] = [root]
    nodes = 0
    while waiting:
        nodes = counted(nodes)
        here = waiting.pop(0)
        if isinstance(here, Mapping):
            found, target = _followed(here, parts)
            if found:
                return True, target
            waiting += cast("Mapping[str, Any]", here).values()
        elif isinstance(here, list):
            waiting += cast("list[Any]", here)
    return False, None


def counted(nodes: int) -> int:
    """One more node.

    Raises:
        LimitExceeded: that is one too many.
    """
    if nodes >= MAX_NODES:
        raise LimitExceeded(f"a schema may have {MAX_NODES} nodes after its references are resolved")
    return nodes + 1
