"""The tools of a class or an object: decorated methods, found through the MRO."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import FunctionType, MethodType
from typing import Any, Final

from toolsearch.catalog.declarations import Declaration, declaration_of, plain

SOURCE: Final = "python:"
"""Scheme of the source of a Python function: `python:module:qualified.name`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Method:
    """One tool of a class.

    `described` is the decorated function: signature and docstring come from it. `own` is the function
    found first in the MRO, and `call` is that one bound; None for an instance method of a bare class.
    """

    described: Callable[..., Any]
    own: Callable[..., Any]
    declaration: Declaration
    call: Callable[..., Any] | None
    bound: bool = False
    source: str = ""


def methods_of(owner: Any) -> Iterator[Method]:
    """The tools of an instance or class, base classes first, each in the order it was written.

    Nothing but functions, static and class methods is touched, so no property runs.
    """
    cls: type = owner if isinstance(owner, type) else type(owner)
    names = dict.fromkeys(name for one in reversed(cls.__mro__) for name in vars(one))
    for name in names:
        method = method_of(owner, cls, name)
        if method:
            yield method


def method_of(owner: Any, cls: type, name: str) -> Method | None:
    """The tool behind one attribute: the first definition in the MRO, the first decorated declaration.

    An override without a decorator so keeps what its base declared, and one with a decorator replaces it.
    """
    found = [vars(one)[name] for one in cls.__mro__ if name in vars(one)]
    if not found or not _is_method(found[0]):
        return None
    decorated = next(((one, mark) for one in found if _is_method(one) and (mark := declaration_of(one))), None)
    if decorated is None:
        return None
    described, declaration = decorated
    instance = not isinstance(found[0], staticmethod | classmethod)
    return Method(
        described=plain(described),
        own=plain(found[0]),
        declaration=declaration,
        call=None if instance and isinstance(owner, type) else getattr(owner, name),
        bound=not isinstance(described, staticmethod),
        source=source_of(cls.__module__, f"{cls.__qualname__}.{name}"),
    )


def bound_method(method: MethodType) -> Method:
    """The tool that a bound method is, with what the class of its object declares for it."""
    owner, function = method.__self__, method.__func__
    cls = owner if isinstance(owner, type) else type(owner)
    name = next((n for one in cls.__mro__ for n, v in vars(one).items() if plain(v) is function), "")
    found = method_of(owner, cls, name)
    if found and found.own is function:
        return found
    source = source_of(cls.__module__, f"{cls.__qualname__}.{name}") if name else ""
    declaration = declaration_of(function) or Declaration()
    return Method(described=function, own=function, declaration=declaration, call=method, bound=True, source=source)


def source_of(module: str, path: str) -> str:
    """How a definition names the place of its function."""
    return f"{SOURCE}{module}:{path}"


def _is_method(value: object) -> bool:
    return isinstance(value, FunctionType | staticmethod | classmethod) or hasattr(value, "__wrapped__")
