"""The parameters of a Python function: names, types, defaults, descriptions, and who fills them."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from inspect import Parameter as Native
from types import SimpleNamespace
from typing import Annotated, Any, Final, NotRequired, Required, Unpack, get_args, get_origin, get_type_hints

from pydantic import Field
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined
from typing_extensions import is_typeddict

from toolsearch.catalog.injection import Injects, injection
from toolsearch.catalog.typeddicts import modern
from toolsearch.errors import InvalidTool

MISSING: Final = inspect.Parameter.empty
"""The default of a parameter that has none."""


class Unresolved(InvalidTool):
    """An annotation names something that is not defined, or not yet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """One parameter: `name` in Python, `shown` to the model.

    `default` is MISSING where there is none; a default that is made anew for each call is in `factory`.
    `optional` parameters are simply not passed on when absent (keys of an unpacked TypedDict).
    """

    name: str
    shown: str
    annotation: Any
    kind: Any
    default: Any = MISSING
    factory: Callable[[], Any] | None = None
    description: str = ""
    injects: Injects | None = None
    optional: bool = False


def parameters_of(
    function: Callable[..., Any], *, local: Mapping[str, Any], bound: bool, documented: Mapping[str, str]
) -> tuple[Parameter, ...]:
    """The parameters in order; `bound` leaves out the first, which is the object or class.

    `local` resolves names of annotations that are neither global nor built in; `documented` describes
    parameters that no `Field` describes.

    Raises:
        InvalidTool: an annotation cannot be resolved, or two parameters show one name.
    """
    natives = _natives(function, bound)
    names = {**_closure(function), **local}
    found: list[Parameter] = []
    for native in natives:
        found += _described(function, native, _resolved(function, native, names), documented)
    _check_names(function, found)
    return tuple(found)


def label(function: Callable[..., Any]) -> str:
    """How messages call a function: its qualified name, in quotes, cut."""
    return f"{getattr(function, '__qualname__', repr(function))!r:.120}"


def annotation_names(function: Callable[..., Any]) -> set[str]:
    """The identifiers that a function's annotations mention in text."""
    annotations = getattr(function, "__annotations__", {})
    texts = [one if isinstance(one, str) else repr(one) for one in annotations.values()]
    return {name for text in texts for name in re.findall(r"[^\W\d]\w*", text)}


def return_annotation(function: Callable[..., Any], local: Mapping[str, Any]) -> Any:
    """What the function says it returns; MISSING when it does not say or the name cannot be resolved."""
    text = getattr(function, "__annotations__", {}).get("return", MISSING)
    try:
        return text if text is MISSING else _hint(function, text, {**_closure(function), **local})
    except (NameError, TypeError, SyntaxError, AttributeError):
        return MISSING


def _natives(function: Callable[..., Any], bound: bool) -> list[Native]:
    try:
        natives = list(inspect.signature(function).parameters.values())
    except (ValueError, TypeError, NameError) as error:
        raise InvalidTool(f"{label(function)} cannot become a tool: its signature is unknown ({error})") from None
    if not bound:
        return natives
    if not natives or natives[0].kind is Native.KEYWORD_ONLY:
        raise InvalidTool(f"{label(function)} is a method without a first parameter; declare it @staticmethod")
    return natives if natives[0].kind is Native.VAR_POSITIONAL else natives[1:]


def _closure(function: Callable[..., Any]) -> dict[str, Any]:
    inner = inspect.unwrap(function)
    cells = getattr(inner, "__closure__", None) or ()
    names = getattr(getattr(inner, "__code__", None), "co_freevars", ())
    values: dict[str, Any] = {}
    for name, cell in zip(names, cells, strict=False):
        try:
            values[name] = cell.cell_contents
        except ValueError:  # the enclosing function has not assigned it yet
            continue
    return values


def _resolved(function: Callable[..., Any], native: Native, names: Mapping[str, Any]) -> Any:
    """The parameter's annotation with text resolved; Any when there is none."""
    if native.annotation is MISSING:
        return Any
    where = f"parameter {native.name!r:.80} of {label(function)}"
    try:
        hint = _hint(function, native.annotation, names)
        return hint if get_origin(hint) is Unpack else modern(hint)
    except NameError as error:
        raise Unresolved(
            f"{where} is annotated with {native.annotation!r:.80}, which cannot be resolved: {error}; "
            "define the name at module level, or before a function decorated with @tool"
        ) from None
    except (TypeError, SyntaxError, AttributeError, RecursionError) as error:
        raise InvalidTool(f"{where} has no usable annotation {native.annotation!r:.80}: {error!s:.200}") from None


def _hint(function: Callable[..., Any], annotation: Any, names: Mapping[str, Any]) -> Any:
    holder: Any = SimpleNamespace(__annotations__={"it": annotation})
    globals_: dict[str, Any] = getattr(inspect.unwrap(function), "__globals__", {})
    return get_type_hints(holder, globalns=globals_, localns=dict(names), include_extras=True)["it"]


def _described(
    function: Callable[..., Any], native: Native, hint: Any, documented: Mapping[str, str]
) -> Iterator[Parameter]:
    """The parameter itself, or one for each key of `**kwargs: Unpack[SomeTypedDict]`."""
    where = f"parameter {native.name!r:.80} of {label(function)}"
    if get_origin(hint) is not Unpack:
        yield _parameter(
            Parameter(name=native.name, shown="", annotation=hint, kind=native.kind), native.default, documented
        )
        return
    keys = modern(get_args(hint)[0])
    if native.kind is not Native.VAR_KEYWORD or not is_typeddict(keys):
        raise InvalidTool(f"{where} unpacks {keys!r:.80}; only **kwargs: Unpack[SomeTypedDict] can be shown to a model")
    for name, annotation in get_type_hints(keys, include_extras=True).items():
        if get_origin(annotation) in (Required, NotRequired):
            annotation = get_args(annotation)[0]
        optional = name not in keys.__required_keys__
        one = Parameter(name=name, shown="", annotation=annotation, kind=Native.KEYWORD_ONLY, optional=optional)
        yield _parameter(one, MISSING, documented)


def _parameter(bare: Parameter, default: Any, documented: Mapping[str, str]) -> Parameter:
    """The parameter with what its `Field`, its default and the docstring say; the first of them counts."""
    annotation, metadata = bare.annotation, list[Any]()
    if get_origin(annotation) is Annotated:
        annotation, *metadata = get_args(annotation)
    fields = [one for one in (default, *metadata) if isinstance(one, FieldInfo)]
    texts = [one for one in metadata if isinstance(one, str)]
    said = [text for text in (*(one.description for one in fields), *texts, documented.get(bare.name)) if text]
    defaults = [one.default for one in fields if one.default is not PydanticUndefined]
    plain = default if not isinstance(default, FieldInfo) else MISSING
    return replace(
        bare,
        shown=next((name for one in fields if (name := _alias(one))), bare.name),
        annotation=_annotated(annotation, [*metadata, *(f for f in fields if f is default)]),
        default=plain if plain is not MISSING else next(iter(defaults), MISSING),
        factory=next((one.default_factory for one in fields if one.default_factory), None),
        description=next(iter(said), ""),
        injects=injection(bare.annotation),
    )


def _alias(field: FieldInfo) -> str | None:
    return field.validation_alias if isinstance(field.validation_alias, str) else field.alias


def _annotated(annotation: Any, metadata: list[Any]) -> Any:
    """The type with its constraints only: name, default and description are the parameter's own."""
    kept: list[Any] = []
    for one in metadata:
        if not isinstance(one, FieldInfo):
            kept.append(one)
            continue
        kept.extend(one.metadata)
        if one.discriminator or one.examples or one.json_schema_extra:
            kept.append(
                Field(discriminator=one.discriminator, examples=one.examples, json_schema_extra=one.json_schema_extra)
            )
    return Annotated[(annotation, *kept)] if kept else annotation  # pyright: ignore[reportInvalidTypeArguments]


def _check_names(function: Callable[..., Any], parameters: list[Parameter]) -> None:
    seen: dict[str, Parameter] = {}
    for one in parameters:
        if one.injects or one.kind is Native.VAR_KEYWORD:
            continue
        if one.shown in seen:
            raise InvalidTool(
                f"parameters {seen[one.shown].name!r:.80} and {one.name!r:.80} of {label(function)} "
                f"are both shown as {one.shown!r:.80}; give one another alias"
            )
        seen[one.shown] = one
