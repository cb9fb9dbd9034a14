"""`typing.TypedDict` for pydantic on Python 3.11.

There pydantic wants the class of typing_extensions, because the one of `typing` forgets which keys are
required once annotations are text. The same keys are declared again; values stay plain dictionaries.
"""

from __future__ import annotations

import sys
from types import UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    NotRequired,
    Required,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

from typing_extensions import TypedDict


def modern(annotation: Any) -> Any:
    """The annotation with every `typing.TypedDict` in it replaced by an equal one that pydantic takes."""
    return annotation if sys.version_info >= (3, 12) else _modern(annotation, ())


def _modern(annotation: Any, within: tuple[Any, ...]) -> Any:
    if is_typeddict(annotation) and type(annotation).__module__ == "typing":
        return _declared_again(annotation, within)
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is None or origin is Literal or not arguments:
        return annotation
    if origin is Annotated:
        inner, *metadata = arguments
        return Annotated[(_modern(inner, within), *metadata)]  # pyright: ignore[reportInvalidTypeArguments]
    changed = tuple(_modern(one, within) for one in arguments)
    if changed == arguments:
        return annotation
    return Union[changed] if origin in (Union, UnionType) else origin[changed]  # noqa: UP007


def _declared_again(old: Any, within: tuple[Any, ...]) -> Any:
    if old in within:
        raise TypeError(f"{old.__name__} contains itself: declare it with typing_extensions.TypedDict")
    hints = get_type_hints(old, include_extras=True)
    keys = {name: _key(hint, name in old.__required_keys__, (*within, old)) for name, hint in hints.items()}
    new: Any = TypedDict(old.__name__, keys)  # pyright: ignore[reportGeneralTypeIssues, reportArgumentType]
    new.__doc__, new.__module__ = old.__doc__, old.__module__
    return new


def _key(hint: Any, required: bool, within: tuple[Any, ...]) -> Any:
    if get_origin(hint) in (Required, NotRequired):
        required, hint = get_origin(hint) is Required, get_args(hint)[0]
    hint = _modern(hint, within)
    return Required[hint] if required else NotRequired[hint]
