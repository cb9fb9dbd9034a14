"""What annotations say about classes: which are models, their fields, and the unions of them."""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Mapping
from functools import lru_cache
from typing import (
    Annotated,
    Any,
    ClassVar,
    Final,
    Literal,
    NamedTuple,
    NewType,
    NotRequired,
    Required,
    Union,
    cast,
    get_args,
    get_origin,
    get_type_hints,
)

from pydantic import BaseModel, BeforeValidator, Discriminator, PlainValidator, RootModel, WrapValidator
from pydantic.fields import FieldInfo
from typing_extensions import TypeAliasType, is_typeddict

_TRANSPARENT: Final = (Required, NotRequired, Final, ClassVar)
_VALIDATORS: Final = (BeforeValidator, PlainValidator, WrapValidator)


class Declared(NamedTuple):
    """What the metadata around a type says: its union's discriminator, and whether a validator comes first."""

    discriminator: str | None = None
    validates: bool = False


def peeled(annotation: Any) -> tuple[Any, Declared]:
    """The type under aliases, NewTypes and Annotated, and what was declared around it."""
    metadata: list[Any] = []
    while True:
        origin = get_origin(annotation)
        if origin is Annotated:
            annotation, *more = get_args(annotation)
            metadata += more
        elif origin in _TRANSPARENT:
            annotation = get_args(annotation)[0]
        elif isinstance(annotation, NewType):
            annotation = annotation.__supertype__
        elif isinstance(annotation, TypeAliasType):
            annotation = annotation.__value__
        else:
            return annotation, _declared(metadata)


def _declared(metadata: list[Any]) -> Declared:
    flat = [part for one in metadata for part in ([one, *one.metadata] if isinstance(one, FieldInfo) else [one])]
    discriminators = [one.discriminator for one in flat if isinstance(one, FieldInfo | Discriminator)]
    named: Any = next((one for one in discriminators if one), None)
    named = named.discriminator if isinstance(named, Discriminator) else named
    validates = callable(named) or any(isinstance(one, _VALIDATORS) for one in flat)
    return Declared(named if isinstance(named, str) else None, validates)


def is_model(annotation: Any) -> bool:
    """Whether it is a pydantic model, a dataclass or a TypedDict: a JSON object with known keys."""
    origin: Any = get_origin(annotation) or annotation
    if not isinstance(origin, type):
        return False
    plain_model = issubclass(origin, BaseModel) and not issubclass(origin, RootModel)
    return plain_model or dataclasses.is_dataclass(cast(object, origin)) or is_typeddict(cast(object, origin))


@lru_cache(maxsize=4096)
def fields_of(model: Any) -> Mapping[str, Any]:
    """The annotation of each key that a model takes, aliases included; empty when names cannot be resolved."""
    cls: Any = get_origin(model) or model
    if issubclass(cls, BaseModel):
        found: dict[str, Any] = {}
        for name, info in cls.model_fields.items():
            alias = info.validation_alias if isinstance(info.validation_alias, str) else info.alias
            annotation = cast(Any, info.annotation)
            found |= {name: Annotated[annotation, info], alias or name: Annotated[annotation, info]}
        return found
    try:
        return get_type_hints(cls, include_extras=True)
    except (NameError, TypeError, SyntaxError):
        return {}


def is_union(bare: Any) -> bool:
    """Whether a peeled type is a union, written either way."""
    return get_origin(bare) in (Union, types.UnionType)


def names_none(annotation: Any) -> bool:
    """Whether a type is None, or a union with None in it."""
    bare = peeled(annotation)[0]
    return bare is None or bare is type(None) or (is_union(bare) and any(map(names_none, get_args(bare))))


def tagged_members(members: list[Any]) -> dict[str, Any]:
    """The models of a union by the `type` that tells them apart; empty where none has to be added."""
    models = [bare for one in members if is_model(bare := peeled(one)[0])]
    if len(models) < 2 or all(literals(one, "type") for one in models):
        return {}
    return {one.__name__: one for one in models}


def declared_member(members: list[Any], key: str, value: object) -> Any:
    """The member whose literal field `key` has the value's content; None when none has."""
    given = cast("Mapping[str, object]", value).get(key) if isinstance(value, Mapping) else None
    return next((one for one in members if given in literals(peeled(one)[0], key)), None) if given else None


def literals(model: Any, key: str) -> tuple[Any, ...]:
    """The values that a field annotated with Literal takes; nothing for other fields."""
    annotation = fields_of(model).get(key) if is_model(model) else None
    bare = peeled(annotation)[0]
    return get_args(bare) if get_origin(bare) is Literal else ()
