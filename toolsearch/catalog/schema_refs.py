"""References inside a schema: every `$ref` is moved to root `$defs`, or written out in place.

Only references into the schema itself are followed; nothing is ever fetched.
"""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, cast
from urllib.parse import unquote

from toolsearch.catalog.schema_walk import subschemas
from toolsearch.errors import InvalidTool, LimitExceeded
from toolsearch.tool import Json

MAX_NODES: Final = 50_000
"""Nodes of a schema after its references are resolved."""
MAX_INLINED: Final = 3
"""How often a recursive definition is written out inside itself."""
MAX_CHAIN: Final = 30
"""Definitions that are written out one inside the other."""
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
    waiting: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    """Names of definitions that are still to be moved, and their references."""
    numbers: Counter[str] = field(default_factory=Counter[str])
    """How often a name had to be told apart by a number."""
    nodes: int = 0

    def whole(self, schema: Json) -> Json:
        """The schema with its references pointing to root `$defs`, and all that it refers to in `definitions`.

        Raises:
            InvalidTool: a reference leads nowhere or outside.
            LimitExceeded: it has more than MAX_NODES nodes, or is nested too deep.
        """
        targets = Targets(self.root)
        try:
            body: Json = self.node(schema)
            while self.waiting:
                name, reference = self.waiting.pop()
                self.definitions[name] = self.node(targets.of(reference))
        except RecursionError:
            raise LimitExceeded("a schema is nested too deep for its references to be resolved") from None
        return body

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
        if is_data(key):
            return item
        if key in NAMED and isinstance(item, dict):
            return {name: self.node(one) for name, one in cast(Json, item).items()}
        return self.node(item)

    def name(self, reference: str) -> str:
        """The name of a reference's definition, which is to be moved after the first mention."""
        if reference not in self.names:
            last = re.sub(r"[^A-Za-z0-9_]+", "_", reference.rsplit("/", 1)[-1]).strip("_") or "root"
            name = last
            while name in self.definitions:
                self.numbers[last] += 1
                name = f"{last}_{self.numbers[last] + 1}"
            self.names[reference] = name
            self.definitions[name] = {}
            self.waiting.append((name, reference))
        return self.names[reference]


def is_data(key: str) -> bool:
    """Whether what stands under a keyword is no schema: data, or an extension of some vendor."""
    return key in DATA_KEYS or key.startswith("x-")


def hoisted(schema: Json) -> Json:
    """The schema with all used definitions under root `$defs`, unused ones left out.

    Raises:
        InvalidTool: a reference leads nowhere or outside.
        LimitExceeded: it has more than MAX_NODES nodes, or is nested too deep.
    """
    work = Hoisted(schema)
    body = work.whole(schema)
    return {**body, "$defs": work.definitions} if work.definitions else body


def inlined(schema: Json) -> Json:
    """The schema with every reference written out; see `Inlined`. Raises as `Inlined.of` does."""
    return Inlined(schema).of(schema)


class Inlined:
    """Writes out references into `root`, for any of its schemas.

    A recursive one ends as "any" after MAX_INLINED rounds, and so does a chain of more than MAX_CHAIN.
    """

    def __init__(self, root: Json) -> None:
        self._targets = Targets(root)
        self._nodes = 0

    def of(self, schema: Json) -> Json:
        """A schema with its references written out.

        Raises:
            InvalidTool: a reference leads nowhere or outside.
            LimitExceeded: all schemas together have more than MAX_NODES nodes, or are nested too deep.
        """
        try:
            return self._node(schema, ())
        except RecursionError:
            raise LimitExceeded("a schema is nested too deep for its references to be written out") from None

    def _node(self, value: Any, path: tuple[str, ...]) -> Any:
        self._nodes = counted(self._nodes)
        if isinstance(value, list):
            return [self._node(item, path) for item in cast("list[Any]", value)]
        if not isinstance(value, dict):
            return value
        body = cast(Json, value)
        reference = body.get("$ref")
        dropped = _DROPPED | {"$ref"} if isinstance(reference, str) else _DROPPED
        found = {key: self._below(key, item, path) for key, item in body.items() if key not in dropped}
        if not isinstance(reference, str) or path.count(reference) >= MAX_INLINED or len(path) >= MAX_CHAIN:
            return found
        target: Any = self._node(self._targets.of(reference), (*path, reference))
        return {**cast(Json, target), **found} if isinstance(target, dict) else target

    def _below(self, key: str, item: Any, path: tuple[str, ...]) -> Any:
        if is_data(key):
            return item
        if key in NAMED and isinstance(item, dict):
            return {name: self._node(one, path) for name, one in cast(Json, item).items()}
        return self._node(item, path)


def resolve(root: Json, reference: str) -> Any:
    """What a local reference points to. Raises as `Targets.of` does."""
    return Targets(root).of(reference)


class Targets:
    """What the local references of one schema point to (RFC 6901, percent-encoded)."""

    def __init__(self, root: Json) -> None:
        self._root = root

    def of(self, reference: str) -> Any:
        """What a reference points to.

        Raises:
            InvalidTool: it leads nowhere or outside.
            LimitExceeded: what is not where it should be is looked for among more than MAX_NODES nodes.
        """
        if not reference.startswith("#"):
            raise InvalidTool(
                f"the reference {reference[:120]!r} leads outside of the schema; only local ones are followed"
            )
        if len(reference) > 1 and "/" not in reference:
            found, target = reference[1:] in self._anchors, self._anchors.get(reference[1:])
        else:
            parts = [unquote(part).replace("~1", "/").replace("~0", "~") for part in reference[1:].split("/")[1:]]
            found, target = _followed(self._root, parts)
            if not found and len(parts) == 2:
                found, target = tuple(parts) in self._strays, self._strays.get((parts[0], parts[1]))
        if not found:
            raise InvalidTool(f"the reference {reference[:120]!r} leads nowhere")
        return target

    @cached_property
    def _anchors(self) -> dict[str, Any]:
        anchors: dict[str, Any] = {}
        for nodes, one in enumerate(subschemas(self._root)):
            counted(nodes)
            if isinstance(one, dict) and isinstance(name := cast(Json, one).get("$anchor"), str):
                anchors.setdefault(name, cast(Json, one))
        return anchors

    @cached_property
    def _strays(self) -> dict[tuple[str, str], Any]:
        """Definitions that a careless converter left further down, though references say they are at the root."""
        strays: dict[tuple[str, str], Any] = {}
        waiting: deque[Any] = deque([self._root])
        nodes = 0
        while waiting:
            nodes = counted(nodes)
            here = waiting.popleft()
            if isinstance(here, Mapping):
                known = cast("Mapping[str, Any]", here)
                for kind in ("$defs", "definitions"):
                    listed: Any = known.get(kind)
                    for name, one in cast(Json, listed).items() if isinstance(listed, dict) else ():
                        strays.setdefault((kind, name), one)
                waiting += known.values()
            elif isinstance(here, list):
                waiting += cast("list[Any]", here)
        return strays


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


def counted(nodes: int) -> int:
    """One more node.

    Raises:
        LimitExceeded: that is one too many.
    """
    if nodes >= MAX_NODES:
        raise LimitExceeded(f"a schema may have {MAX_NODES} nodes after its references are resolved")
    return nodes + 1
