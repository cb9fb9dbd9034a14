"""Arguments as a model writes them, made ready for pydantic.

Pydantic's lax rules hold, with these on top, outside of pydantic models (a model's own configuration
rules inside it): true and false only from JSON booleans, numbers never from booleans, text from any
JSON value. Everywhere: an enum by value or by name, exactly and then in upper case; a member of a union
of models by its `type`.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from typing import Any, Final, cast, get_args, get_origin

from pydantic import BaseModel, RootModel, TypeAdapter, ValidationError

from toolsearch.catalog.classtypes import (
    declared_member,
    fields_of,
    is_model,
    is_union,
    peeled,
    tagged_members,
)
from toolsearch.tool import MAX_DEPTH

Path = tuple[str | int, ...]
TAG: Final = "type"


class Misfit(ValueError):
    """Where in an argument something is wrong, and what: (path, text) pairs."""

    def __init__(self, *problems: tuple[Path, str]) -> None:
        super().__init__(problems)
        self.problems = problems


@dataclass(frozen=True, slots=True)
class Place:
    """Where the walk is: the path in the argument, and whether a pydantic model surrounds it."""

    path: Path = ()
    own_rules: bool = False

    def at(self, step: str | int) -> Place:
        """One level further in.

        Raises:
            Misfit: nested deeper than MAX_DEPTH.
        """
        if len(self.path) >= MAX_DEPTH:
            raise Misfit((self.path[:3], f"is nested deeper than {MAX_DEPTH}"))
        return Place((*self.path, step), self.own_rules)


def prepared(annotation: Any, value: object, place: Place | None = None) -> object:
    """The value as pydantic should see it for this annotation.

    Raises:
        Misfit: the value breaks one of the rules above.
    """
    place = place or Place()
    bare, declared = peeled(annotation)
    if value is None or declared.validates:
        return value
    if is_union(bare):
        return _of_union(bare, declared.discriminator, value, place)
    if isinstance(bare, type) and issubclass(bare, Enum):
        return _member(bare, value)
    if is_model(bare):
        return _fields(bare, value, place)
    if isinstance(bare, type) and issubclass(bare, RootModel):
        return prepared(fields_of(cast(Any, bare))["root"], value, Place(place.path, own_rules=True))
    if not place.own_rules and bare in (bool, int, float, str):
        return _scalar(bare, value, place)
    return _items(bare, value, place)


def validated(adapter: TypeAdapter[Any], annotation: Any, value: object, place: Place | None = None) -> Any:
    """The Python value of an argument.

    Raises:
        Misfit: the value does not fit the annotation.
    """
    path = place.path if place else ()
    try:
        return adapter.validate_python(prepared(annotation, value, place))
    except ValidationError as error:
        problems = error.errors(include_url=False, include_context=False)
        raise Misfit(
            *(((*path, *one["loc"]), f"{one['msg']}, got {one['input']!r:.80}") for one in problems[:8])
        ) from None


def _scalar(bare: Any, value: object, place: Place) -> object:
    if bare is bool and not isinstance(value, bool):
        raise Misfit((place.path, f"must be true or false, got {value!r:.80}"))
    if bare in (int, float) and isinstance(value, bool):
        raise Misfit((place.path, f"must be a number, got {value!r}"))
    if bare is not str or isinstance(value, str):
        return value
    try:
        return json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        return value


def _member(cls: type[Enum], value: object) -> object:
    """The member of an enum that the value names; the value itself when none does."""
    if not isinstance(value, str) or any(one.value == value for one in cls):
        return value
    upper = value.upper()
    for name in (value, upper):
        if name in cls.__members__:
            return cls[name]
    return next((one for one in cls if one.value == upper), value)


def _items(bare: Any, value: Any, place: Place) -> Any:
    """Lists, sets, tuples and mappings, item by item."""
    origin, arguments = get_origin(bare), get_args(bare)
    if not isinstance(origin, type) or not arguments:
        return value
    pairs, items = _object(value), _list(value)
    if pairs is not None and issubclass(origin, Mapping) and len(arguments) == 2:
        return {key: prepared(arguments[1], item, place.at(key)) for key, item in pairs.items()}
    if items is None or not issubclass(origin, Collection):
        return value
    if origin is tuple and arguments[-1] is not ...:
        paired = zip(arguments, items, strict=False)
        done = [prepared(one, item, place.at(at)) for at, (one, item) in enumerate(paired)]
        return [*done, *items[len(done) :]]
    return [prepared(arguments[0], item, place.at(at)) for at, item in enumerate(items)]


def _fields(cls: Any, value: object, place: Place) -> object:
    pairs = _object(value)
    if pairs is None:
        return value
    inside = Place(place.path, own_rules=place.own_rules or issubclass(get_origin(cls) or cls, BaseModel))
    known = fields_of(cls)
    return {key: prepared(known[key], item, inside.at(key)) if key in known else item for key, item in pairs.items()}


def _of_union(bare: Any, discriminator: str | None, value: Any, place: Place) -> Any:
    members = [one for one in get_args(bare) if one is not type(None)]
    tagged, pairs = {} if discriminator else tagged_members(members), _object(value)
    if tagged and pairs is not None and not _plain_mapping(members, pairs):
        return _tagged(tagged, pairs, place)
    chosen = declared_member(members, discriminator or TAG, value)
    if chosen:
        return prepared(chosen, value, place)
    fitting = [one for one in members if _same_kind(one, value)] if len(members) > 1 else members
    return prepared(fitting[0], value, place) if len(fitting) == 1 else value


def _tagged(tagged: Mapping[str, Any], value: Mapping[str, object], place: Place) -> object:
    """The instance that the `type` in the value asks for."""
    chosen = tagged.get(tag) if isinstance(tag := value.get(TAG), str) else None
    if chosen is None:
        raise Misfit(((*place.path, TAG), f"must be one of {', '.join(map(repr, tagged))!s:.300}, got {tag!r:.80}"))
    rest = {key: item for key, item in value.items() if key != TAG}
    return validated(_adapter(chosen), chosen, rest, place)


@lru_cache(maxsize=4096)
def _adapter(model: Any) -> TypeAdapter[Any]:
    return TypeAdapter(model)


def _object(value: Any) -> Mapping[str, Any] | None:
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else None


def _list(value: Any) -> list[Any] | None:
    return cast("list[Any]", value) if isinstance(value, list | tuple) else None


def _plain_mapping(members: list[Any], value: Mapping[Any, object]) -> bool:
    """Whether a union also takes any mapping, and this one has no tag."""
    return TAG not in value and any(_same_kind(one, value) and not is_model(peeled(one)[0]) for one in members)


def _same_kind(annotation: Any, value: object) -> bool:
    """Whether annotation and value are both objects, or both lists."""
    bare = peeled(annotation)[0]
    origin = get_origin(bare) or bare
    if not isinstance(origin, type):
        return False
    if _object(value) is not None:
        return is_model(bare) or issubclass(origin, Mapping)
    return _list(value) is not None and issubclass(origin, Collection) and not issubclass(origin, Mapping | str | bytes)
