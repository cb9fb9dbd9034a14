"""Python functions and methods as tools.

    @tool
    def refund(order: int, reason: Literal["damaged", "late"] = "damaged") -> str:
        \"\"\"Give the money of an order back.

Args:
            order: number of the order
            reason: why the customer gets it back
        \"\"\"

    refund(42)                                   # still the function
    as_tool(refund).spec                         # its definition
    as_tool(refund).execute({"order": "42"})     # checked, coerced, called

What a type becomes in the schema, and what a call accepts: an enum shows its values when they are texts
and its names otherwise, and takes either, also in lower case; a parameter whose type names None may be
left out; null for one that cannot be None counts as left out; unannotated parameters take any JSON;
`*args` is a list, `**kwargs` is any further key, `**kwargs: Unpack[SomeTypedDict]` the keys of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from importlib import import_module
from types import FrameType, FunctionType, MethodType, ModuleType
from typing import Any, TypeVar, Unpack, cast, overload

from toolsearch.catalog.arguments import FunctionExecutor, accepts
from toolsearch.catalog.classes import SOURCE, Method, bound_method, method_of, methods_of, source_of
from toolsearch.catalog.declarations import (
    Declaration,
    ToolOptions,
    caller,
    declaration_of,
    declare,
    local_names,
    plain,
)
from toolsearch.catalog.docstrings import Documentation, read_docstring
from toolsearch.catalog.parameters import parameters_schema, result_schema
from toolsearch.catalog.signatures import Parameter, Unresolved, label, parameters_of, return_annotation
from toolsearch.catalog.slots import slots_of
from toolsearch.errors import DuplicateTool, InvalidTool
from toolsearch.tool import Json, Tool, ToolSpec

F = TypeVar("F")


@overload
def tool(function: F, /, **options: Unpack[ToolOptions]) -> F: ...
@overload
def tool(function: None = None, /, **options: Unpack[ToolOptions]) -> Callable[[F], F]: ...
def tool(function: F | None = None, /, **options: Unpack[ToolOptions]) -> F | Callable[[F], F]:
    """Make a function or method a tool; it comes back unchanged, with its definition attached.

    Bare or with the options of `ToolOptions`. A function is checked at once, a method when `tools_from`
    meets its class, and a function whose annotations name something defined later when it is used.

        @tool(name="send_mail", tags=["mail"], description=["Send a mail.", "Never twice."])
        def send(to: Annotated[str, Field(description="address")], text: str = "") -> None: ...

    Raises:
        InvalidTool: see `as_tool`.
    """
    if function is not None:
        return _decorated(function, options, caller())
    return lambda function: _decorated(function, options, caller())


def as_tool(thing: object) -> Tool:
    """The tool that a function, bound method, `Tool` or `ToolSpec` is; a decorator is not needed.

    Also for functions wrapped by `pydantic.validate_call` or `functools.wraps`: calls go through the wrapper.

    Raises:
        InvalidTool: it cannot be one; the text names function and parameter.
        LimitExceeded: its schema is too deep or too large.
    """
    if isinstance(thing, Tool):
        return thing
    if isinstance(thing, ToolSpec):
        return Tool(thing)
    if isinstance(thing, MethodType):
        return _built(bound_method(thing))
    if isinstance(thing, type | staticmethod | classmethod | ModuleType) or not _is_function(thing):
        raise InvalidTool(f"{thing!r:.80} is not a function, method, Tool or ToolSpec; for classes use tools_from")
    function = cast("Callable[..., Any]", thing)
    declaration = declaration_of(function) or Declaration(local=local_names(function, caller()))
    return _built(_alone(function, declaration))


def tools_from(owner: object, *, namespace: str = "") -> tuple[Tool, ...]:
    """The decorated methods of an instance or a class, or functions of a module, in the order written.

    An override that does not repeat the decorator keeps the definition of its base and is what is
    called. Instance methods of a bare class have a definition and no executor. `namespace` is for tools
    that declare none.

    Raises:
        InvalidTool: nothing is decorated, or see `as_tool`.
        DuplicateTool: two methods have one name; the text names both.
    """
    found = list(_of_module(owner) if isinstance(owner, ModuleType) else methods_of(owner))
    if not found:
        raise InvalidTool(f"nothing in {owner!r:.80} is decorated with @tool")
    named: dict[str, tuple[Method, Tool]] = {}
    for method in found:
        made = _built(method, namespace)
        if made.spec.id in named:
            other = named[made.spec.id][0]
            raise DuplicateTool(
                f"{label(other.own)} and {label(method.own)} are both called {made.spec.id!r:.80}; rename one"
            )
        named[made.spec.id] = (method, made)
    return tuple(made for _, made in named.values())


def tool_at(source: str) -> Tool:
    """The tool that `ToolSpec.source` names: `python:module:qualified.name`.

    Imports the module, which runs its code: only for sources that you trust.

    Raises:
        InvalidTool: there is no such function, or it needs an instance or a local scope.
    """
    module, _, path = source.removeprefix(SOURCE).partition(":")
    if not source.startswith(SOURCE) or not module or not path:
        raise InvalidTool(f"not the source of a Python tool: {source!r:.120}; expected 'python:module:name'")
    try:
        return tool_in(import_module(module), path)
    except (ImportError, AttributeError, ValueError) as error:
        raise InvalidTool(f"no tool at {source!r:.120}: {error!s:.200}") from None


def tool_in(module: ModuleType, path: str) -> Tool:
    """The tool at `name` or `Class.name` of a module.

    Raises:
        AttributeError: nothing is there.
        InvalidTool: it is no function, or needs an instance.
    """
    owner: Any = module
    *outer, last = path.split(".")
    for name in outer:
        owner = getattr(owner, name)
    method = method_of(owner, owner, last) if isinstance(owner, type) else None
    found = method.call if method else getattr(owner, last)
    if found is None:
        raise InvalidTool(f"{path!r:.120} is a method of instances; bind one of them to the tool's id instead")
    return _built(method) if method else as_tool(found)


def _decorated(function: F, options: ToolOptions, frame: FrameType | None) -> F:
    declaration = declare(function, options, frame)
    inner = plain(function)
    outside, _, _ = getattr(inner, "__qualname__", "").rpartition(".")
    if inner is function and (not outside or outside.endswith("<locals>")):
        with suppress(Unresolved):
            _built(_alone(inner, declaration))
    return function


def _alone(function: Callable[..., Any], declaration: Declaration) -> Method:
    source = source_of(function.__module__, function.__qualname__)
    return Method(described=function, own=function, declaration=declaration, call=function, source=source)


def _is_function(thing: object) -> bool:
    return isinstance(thing, FunctionType) or (callable(thing) and hasattr(thing, "__wrapped__"))


def _of_module(module: ModuleType) -> Iterator[Method]:
    """The decorated functions that a module holds, each once."""
    found = {id(one): one for one in vars(module).values() if _is_function(one)}
    for function in found.values():
        declaration = declaration_of(function)
        if declaration:
            yield _alone(function, declaration)


def _built(method: Method, namespace: str = "") -> Tool:
    options = method.declaration.options
    documentation = read_docstring(method.described.__doc__)
    parameters = parameters_of(
        method.described, local=method.declaration.local, bound=method.bound, documented=documentation.parameters
    )
    if options.get("strict_docstring"):
        _check_documented(method, parameters, documentation)
    if method.call and method.own is not method.described and not accepts(method.call, parameters):
        raise InvalidTool(
            f"{label(method.own)} overrides {label(method.described)} and cannot be called with its parameters; "
            "give it the same parameters or decorate it with @tool"
        )
    slots = slots_of(parameters, what=label(method.described))
    spec = _spec(method, parameters_schema(slots, what=label(method.described)), documentation.text, namespace)
    if method.call is None:
        return Tool(spec)
    return Tool(spec, FunctionExecutor(tool=spec.name, call=method.call, parameters=parameters, slots=slots))


def _spec(method: Method, parameters: Json, text: str, namespace: str) -> ToolSpec:
    options = cast("dict[str, Any]", {**method.declaration.options})
    options.pop("strict_docstring", None)
    description = options.pop("description", None)
    if description is None:
        description = text or read_docstring(method.own.__doc__).text
    name = options.pop("name", method.described.__name__)
    if name == "<lambda>":
        raise InvalidTool(f"{label(method.described)} has no name; give one with @tool(name=...)")
    options["namespace"] = options.get("namespace") or namespace
    spec = ToolSpec(
        name=name,
        description=description if isinstance(description, str) else "\n".join(description),
        parameters=parameters,
        output_schema=result_schema(return_annotation(method.described, method.declaration.local)),
        source=method.source,
        **options,
    )
    spec.to_json()  # refuses what is too large or not JSON now, and not when it is indexed
    return spec


def _check_documented(method: Method, parameters: Iterable[Parameter], documentation: Documentation) -> None:
    names = {one.name for one in parameters}
    for name in documentation.parameters:
        if name not in names:
            raise InvalidTool(
                f"the docstring of {label(method.described)} describes {name!r:.80}, which is no parameter of it"
            )
    for one in parameters:
        if not one.injects and not one.description:
            raise InvalidTool(f"parameter {one.name!r:.80} of {label(method.described)} has no description")
