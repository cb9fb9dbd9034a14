"""A visible parameter ready for use: its validator, and what happens when the argument is absent."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from copy import deepcopy
from dataclasses import dataclass
from inspect import Parameter as Native
from typing import Any, Final

from pydantic import PydanticUndefinedAnnotation, PydanticUserError, TypeAdapter, ValidationError

from toolsearch.catalog.classtypes import names_none
from toolsearch.catalog.coercion import Misfit, validated
from toolsearch.catalog.signatures import MISSING, Parameter, Unresolved
from toolsearch.errors import InvalidTool, LimitExceeded

OMITTED: Final = object()
"""Stands for an argument that is not passed on at all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """One parameter that the model fills.

    `annotation` is that of the whole argument: a list for `*args`, a mapping for `**kwargs`. `fixed` is
    the checked default as written, MISSING where there is none.
    """

    parameter: Parameter
    annotation: Any
    adapter: TypeAdapter[Any]
    fixed: Any = MISSING

    @property
    def nullable(self) -> bool:
        """Whether the annotation names None."""
        return names_none(self.annotation)

    @property
    def required(self) -> bool:
        """Whether a call must bring the argument: it has no default and its type does not name None."""
        parameter = self.parameter
        starred = parameter.kind in (Native.VAR_POSITIONAL, Native.VAR_KEYWORD)
        return not (starred or parameter.optional or parameter.factory or self.nullable) and self.fixed is MISSING

    def takes_null(self) -> bool:
        """Whether an explicit null is a value here, and not a way to leave the argument out."""
        try:
            self.adapter.validate_python(None)
        except ValidationError:
            return False
        return True

    def absent(self) -> Any:
        """What is passed on when the argument is absent; a default is copied each time."""
        if self.parameter.factory:
            return self.parameter.factory()
        if self.fixed is not MISSING:
            return _fresh(self.adapter, self.annotation, self.fixed)
        return None if self.nullable and not self.parameter.optional else OMITTED


def slots_of(parameters: Iterable[Parameter], *, what: str) -> tuple[Slot, ...]:
    """The slots of the parameters that the model fills, in order; defaults are checked here.

    Raises:
        InvalidTool: a type that cannot be validated, or a default that does not fit its type.
        LimitExceeded: a type nested too deeply.
    """
    return tuple(_slot(one, f"parameter {one.name!r:.80} of {what}") for one in parameters if not one.injects)


def _slot(parameter: Parameter, where: str) -> Slot:
    annotation = parameter.annotation
    if parameter.kind is Native.VAR_POSITIONAL:
        annotation = list[annotation]
    elif parameter.kind is Native.VAR_KEYWORD:
        annotation = dict[str, annotation]
    adapter = _adapter(annotation, where)
    default = _called(parameter.factory, where) if parameter.factory else parameter.default
    return Slot(
        parameter=parameter,
        annotation=annotation,
        adapter=adapter,
        fixed=default if default is MISSING else _checked(adapter, annotation, default, where),
    )


def _adapter(annotation: Any, where: str) -> TypeAdapter[Any]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            return TypeAdapter(annotation)
    except (PydanticUndefinedAnnotation, NameError) as error:
        raise Unresolved(f"{where} has a type that mentions an undefined name: {error!s:.300}") from None
    except PydanticUserError as error:
        if error.code == "class-not-fully-defined":
            raise Unresolved(f"{where} has a type that is not fully defined: {error.message:.300}") from None
        raise InvalidTool(f"{where} has a type that pydantic cannot validate: {error.message:.300}") from None
    except (TypeError, ValueError, UserWarning, ImportError) as error:
        raise InvalidTool(f"{where} has a type that cannot be used: {error!s:.300}") from None
    except RecursionError:
        raise LimitExceeded(f"{where} has a type that is nested too deeply") from None


def _called(factory: Callable[[], Any], where: str) -> Any:
    try:
        return factory()
    except TypeError as error:
        raise InvalidTool(f"{where} has a default_factory that cannot be called alone: {error!s:.200}") from None


def _checked(adapter: TypeAdapter[Any], annotation: Any, default: Any, where: str) -> Any:
    """A copy of the default that nobody else holds, once it has been found to fit."""
    try:
        copy = deepcopy(default)
        _fresh(adapter, annotation, copy)
    except Misfit as misfit:
        raise InvalidTool(f"{where} has a default that does not fit: {misfit.problems[0][1]}") from None
    except (TypeError, RecursionError) as error:
        raise InvalidTool(f"{where} has a default that cannot be copied for each call: {error!s:.200}") from None
    return copy


def _fresh(adapter: TypeAdapter[Any], annotation: Any, default: Any) -> Any:
    """A new value of the default; None stays None whatever the type."""
    return None if default is None else validated(adapter, annotation, deepcopy(default))
