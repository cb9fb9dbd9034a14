"""Whether arguments fit a tool, in bounded time and in plain words.

The tool's own schema decides, as draft 2020-12. Nothing is fetched; patterns that could run for ever are not tried
(see `patterns`); the number of steps, values and levels is bounded.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from difflib import get_close_matches
from functools import lru_cache
from typing import Any, Final, cast

from toolsearch.catalog.patterns import found, longest_text
from toolsearch.catalog.schema_refs import hoisted
from toolsearch.catalog.schema_shape import shaped
from toolsearch.catalog.schema_walk import rewritten
from toolsearch.errors import InvalidInput, LimitExceeded
from toolsearch.tool import Json, ToolSpec, canonical

MAX_VALUES: Final = 20_000
"""Values in the arguments of one call."""
MAX_LEVELS: Final = 64
"""Nesting of the arguments of one call."""
MAX_KEY: Final = 1000
"""Characters of a key."""
MAX_STEPS: Final = 50_000
STEPS_FOR_A_VALUE: Final = 20
"""Keywords of schemas that one check may look at: at all, and more for each value of the arguments."""
MAX_PROBLEMS: Final = 10
COMPILED: Final = 2048
"""Schemas that are kept ready."""

_left: ContextVar[list[int]] = ContextVar("steps left")


def check_arguments(spec: ToolSpec, arguments: object) -> list[str]:
    """What is wrong with the arguments of a call, at most MAX_PROBLEMS lines; empty when they fit."""
    if not isinstance(arguments, Mapping):
        return [f"the arguments must be an object, not {type(arguments).__name__}"]
    given = dict(cast("Mapping[str, Any]", arguments))
    try:
        _left.set([MAX_STEPS + STEPS_FOR_A_VALUE * _size(given)])
        validator = _compiled(canonical(spec.parameters, what=f"tool {spec.id[:120]!r}"))
        return _problems(validator, given, spec.parameters)
    except InvalidInput as error:
        return [str(error)]
    except RecursionError:
        return ["the arguments or the schema are nested too deep to be checked"]


def _problems(validator: Any, given: Json, schema: Json) -> list[str]:
    told: list[str] = []
    missing: list[str] = []
    for error in validator.iter_errors(given):
        path = ".".join(str(step)[:80] for step in error.absolute_path)
        if error.validator == "required" and not path:
            missing += [name for name in _names(error.validator_value) if name not in given and name not in missing]
            continue
        line = _line(error, path)
        if line not in told:
            told.append(line)
        if len(told) >= MAX_PROBLEMS:
            break
    if missing:
        told.insert(0, f"missing: {', '.join(name[:80] for name in missing[:MAX_PROBLEMS])}")
    if told:
        told += _unknown(given, _names(schema.get("properties")))
    return told[:MAX_PROBLEMS]


def _line(error: Any, path: str) -> str:
    if error.validator in ("additionalProperties", "unevaluatedProperties") and not path:
        return "there are keys that the tool does not take"
    return f"{path}{': ' if path else ''}{' '.join(str(error.message).split())[:200]}"


def _unknown(given: Json, known: list[str]) -> Iterator[str]:
    for key in [key for key in given if key not in known][:MAX_PROBLEMS]:
        near = get_close_matches(key[:80], known, n=1)
        yield f"unknown: {key[:80]!r}" + (f", perhaps {near[0][:80]!r}" if near else "")


def _names(value: Any) -> list[str]:
    """The texts of a list, or the keys of a map."""
    items = list(cast("Mapping[Any, Any]", value)) if isinstance(value, list | dict) else []
    return [one for one in items if isinstance(one, str)]


def _size(arguments: Json) -> int:
    """How many values there are.

    Raises:
        LimitExceeded: too many, too deep, or a key that is too long.
    """
    waiting: list[tuple[Any, int]] = [(arguments, 0)]
    count = 0
    while waiting:
        value, level = waiting.pop()
        count += 1
        if count > MAX_VALUES or level > MAX_LEVELS:
            raise LimitExceeded(f"the arguments may hold {MAX_VALUES} values in {MAX_LEVELS} levels")
        if isinstance(value, Mapping):
            entries = cast("Mapping[Any, Any]", value)
            if not all(isinstance(key, str) and len(key) <= MAX_KEY for key in entries):
                raise LimitExceeded(f"keys must be texts of at most {MAX_KEY} characters")
            waiting += [(one, level + 1) for one in entries.values()]
        elif isinstance(value, list | tuple):
            waiting += [(one, level + 1) for one in cast("list[Any]", value)]
    return count


@lru_cache(maxsize=COMPILED)
def _compiled(schema: str) -> Any:
    from referencing import Registry

    body = hoisted(cast(Json, shaped(json.loads(schema), lambda _: None)))
    return _validator_class()(rewritten(body, _without_slow_patterns), registry=cast(Any, Registry)())


@lru_cache(maxsize=1)
def _validator_class() -> Any:
    from jsonschema import Draft202012Validator, validators

    own: dict[str, Any] = {"pattern": _pattern, "uniqueItems": _unique}
    table = cast("dict[str, Any]", {**Draft202012Validator.VALIDATORS, **own})
    return cast("Any", validators).extend(
        Draft202012Validator, validators={name: _stepping(check) for name, check in table.items()}
    )


def _stepping(check: Callable[..., Any]) -> Callable[..., Any]:
    def stepped(*arguments: Any) -> Any:
        left = _left.get()
        left[0] -= 1
        if left[0] < 0:
            raise LimitExceeded("the schema needs more steps than allowed to check these arguments")
        return check(*arguments)

    return stepped


def _without_slow_patterns(schema: Any, _: str) -> Any:
    """The schema without names by patterns that are too slow; the object is then open."""
    known = cast(Json, schema) if isinstance(schema, dict) else {}
    patterns = cast(Json, known.get("patternProperties", {}))
    if all(longest_text(one) >= MAX_KEY for one in patterns):
        return cast(Any, schema)
    dropped = ("patternProperties", "additionalProperties", "unevaluatedProperties")
    return {key: item for key, item in known.items() if key not in dropped}


def _pattern(validator: Any, pattern: str, instance: Any, _: Any) -> Iterator[Any]:
    from jsonschema import ValidationError

    if validator.is_type(instance, "string") and not found(pattern, instance):
        yield ValidationError(f"{instance[:80]!r} does not match {pattern[:80]!r}")


def _unique(validator: Any, wanted: bool, instance: Any, _: Any) -> Iterator[Any]:
    from jsonschema import ValidationError

    if not wanted or not validator.is_type(instance, "array"):
        return
    if len({json.dumps(one, sort_keys=True, default=str) for one in instance}) != len(instance):
        yield ValidationError("the items must differ from each other")
