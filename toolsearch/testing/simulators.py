"""Deterministic stand-ins for real services, so that an agent can call every tool of the demo catalog.

A result is made from the tool's id and the arguments alone: the same call gives the same JSON, names that end
in `id` come back as given, lists have two or three items, changes say what they changed.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from toolsearch.tool import Executor, Json, ToolSpec

_WORDS: Final = (
    "amber",
    "birch",
    "cedar",
    "delta",
    "ember",
    "fjord",
    "grove",
    "harbor",
    "iris",
    "juniper",
    "kelp",
    "lark",
)
_STATES: Final = ("open", "active", "pending", "done")


@dataclass(frozen=True, slots=True)
class Simulator:
    """Answers calls of one tool."""

    spec: ToolSpec

    def __call__(self, arguments: Mapping[str, Any], context: object = None) -> Json:
        """The tool's JSON result; `metadata["simulate"]` tells its kind."""
        del context
        seed = hashlib.sha256(f"{self.spec.id} {json.dumps(arguments, sort_keys=True, default=str)}".encode()).digest()
        kind = str(self.spec.metadata.get("simulate", "done"))
        return _KINDS.get(kind, _done)(self.spec, dict(arguments), seed)


class Simulators:
    """The executor of all simulated tools; `for_tool` gives the one that knows its tool."""

    def for_tool(self, spec: ToolSpec) -> Executor:
        """The simulator of one tool."""
        return Simulator(spec)


run: Final = Simulators()
"""What `python:toolsearch.testing.simulators:run` names."""


def _item(spec: ToolSpec, seed: bytes, number: int) -> Json:
    byte = seed[number % len(seed)]
    word = _WORDS[byte % len(_WORDS)]
    return {
        "id": f"{spec.namespace or 'item'}_{seed.hex()[number : number + 6]}",
        "name": f"{word} {byte}",
        "state": _STATES[byte % len(_STATES)],
        "amount": 100 * (1 + byte),
        "date": f"2026-{1 + byte % 12:02d}-{1 + byte % 28:02d}",
    }


def _list(spec: ToolSpec, arguments: Json, seed: bytes) -> Json:
    limit = arguments.get("limit")
    count = 2 + seed[0] % 2
    items = [_item(spec, seed, number) for number in range(min(count, limit) if isinstance(limit, int) else count)]
    return {"items": items, "total": len(items)}


def _record(spec: ToolSpec, arguments: Json, seed: bytes) -> Json:
    return {**_item(spec, seed, 0), **_echo(arguments)}


def _created(spec: ToolSpec, arguments: Json, seed: bytes) -> Json:
    return {**_echo(arguments), "id": _item(spec, seed, 0)["id"], "status": "created"}


def _removed(spec: ToolSpec, arguments: Json, seed: bytes) -> Json:
    del spec, seed
    return {**_echo(arguments), "status": "removed"}


def _done(spec: ToolSpec, arguments: Json, seed: bytes) -> Json:
    return {**_echo(arguments), "status": "ok", "reference": _item(spec, seed, 0)["id"]}


def _echo(arguments: Json) -> Json:
    """Plain arguments come back as they were given; large or nested ones do not."""
    return {
        key: value for key, value in arguments.items() if isinstance(value, str | int | float) and len(str(value)) < 200
    }


_KINDS: Final[Mapping[str, Callable[[ToolSpec, Json, bytes], Json]]] = {
    "list": _list,
    "record": _record,
    "created": _created,
    "removed": _removed,
    "done": _done,
}
