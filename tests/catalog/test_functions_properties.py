"""What must hold for any signature: schema and executor agree about arguments."""

import inspect
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum, StrEnum
from typing import Any, Literal

import jsonschema
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy
from pydantic import BaseModel
from typing_extensions import TypedDict

from toolsearch.catalog.functions import as_tool
from toolsearch.errors import InvalidTool, ToolArgumentsError
from toolsearch.tool import Tool, ToolSpec


class Word(StrEnum):
    YES = "yes"
    NO = "no"


class Number(Enum):
    ONE = 1
    TWO = 2


class Leaf(BaseModel):
    size: int
    word: Word = Word.YES


class Node(BaseModel):
    left: "Node | Leaf | None" = None
    size: float = 0


@dataclass
class Spot:
    number: Number
    tags: list[str]


class Bag(TypedDict, total=False):
    flag: bool


PLAIN: list[Any] = [
    int,
    float,
    str,
    bool,
    Word,
    Number,
    Literal["a", "b"],
    Leaf,
    Node,
    Spot,
    Bag,
    Any,
    Leaf | Spot | Node,
]
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-9, 9)
    | st.floats(-9, 9)
    | st.sampled_from(["a", "ONE", "yes", "Leaf", "Node", "5"]),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(st.sampled_from(["size", "left", "type", "number", "tags", "flag", "x"]), inner, max_size=4)
    ),
    max_leaves=6,
)
TYPES: SearchStrategy[Any] = st.recursive(
    st.sampled_from(PLAIN),
    lambda inner: inner.flatmap(lambda one: st.sampled_from([list[one], dict[str, one], tuple[one, one], one | None])),
    max_leaves=4,
)
KINDS = sorted(inspect._ParameterKind)
BOUNDED = settings(
    deadline=None, max_examples=40, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much]
)


def function(parameters: list[inspect.Parameter]) -> Callable[..., Any]:
    """A function with these parameters that returns what it was bound to."""
    signature = inspect.Signature(parameters)

    def f(*args: Any, **kwargs: Any) -> Any:
        return signature.bind(*args, **kwargs).arguments

    f.__signature__ = signature  # type: ignore[attr-defined]
    return f


@st.composite
def signatures(draw: st.DrawFn) -> Tool:
    """A tool with one to four parameters of any kind and type, some with a default."""
    kinds = sorted(draw(st.lists(st.sampled_from(KINDS), min_size=1, max_size=4)))
    parameters: list[inspect.Parameter] = []
    open_default = False
    for at, kind in enumerate(kinds):
        starred = kind in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
        if starred and kind in kinds[:at]:
            continue
        annotation = draw(TYPES)
        keyword = kind is inspect.Parameter.KEYWORD_ONLY
        default: Any = inspect.Parameter.empty
        if not starred and ((open_default and not keyword) or draw(st.booleans())):
            default, open_default = None, open_default or not keyword
        parameters.append(inspect.Parameter(f"p{at}", kind, annotation=annotation, default=default))
    return as_tool(function(parameters))


def names(tool: Tool) -> SearchStrategy[str]:
    return st.sampled_from([*tool.spec.parameters["properties"], "other"])


def arguments_of(tool: Tool) -> SearchStrategy[dict[str, Any]]:
    """Arguments that often fit: made from the schema where that is easy, any JSON otherwise."""
    properties = tool.spec.parameters["properties"]
    fitting = {name: fitting_values(part, tool.spec.parameters) | JSON for name, part in properties.items()}
    return st.fixed_dictionaries({}, optional=fitting) | st.dictionaries(names(tool), JSON, max_size=4)


def fitting_values(schema: Any, root: Any, depth: int = 3) -> SearchStrategy[Any]:
    """Values that a schema allows."""
    if "$ref" in schema:
        return fitting_values(root["$defs"][schema["$ref"].removeprefix("#/$defs/")], root, depth - 1)
    if "anyOf" in schema:
        branches = (
            schema["anyOf"]
            if depth > 0
            else [one for one in schema["anyOf"] if "$ref" not in one] or schema["anyOf"][-1:]
        )
        return st.one_of(*(fitting_values(one, root, depth) for one in branches))
    if "const" in schema or "enum" in schema:
        return st.sampled_from([schema["const"]] if "const" in schema else schema["enum"])
    if schema.get("type") == "object":
        parts = {key: fitting_values(one, root, depth - 1) for key, one in schema.get("properties", {}).items()}
        required = {key: parts.pop(key) for key in schema.get("required", [])}
        return st.fixed_dictionaries(required, optional=parts if depth > 0 else {})
    if schema.get("type") == "array":
        if "prefixItems" in schema:
            return st.tuples(*(fitting_values(one, root, depth) for one in schema["prefixItems"])).map(list)
        return st.lists(fitting_values(schema.get("items", {}), root, depth - 1), max_size=2)
    simple = {
        "integer": st.integers() | st.integers(-9, 9).map(float),
        "number": st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(2**60), 2**60),
        "string": st.text(max_size=5),
        "boolean": st.booleans(),
        "null": st.none(),
    }
    return simple.get(schema.get("type", ""), JSON)


@BOUNDED
@given(st.data())
def test_arguments_that_fit_the_schema_are_accepted(data: st.DataObject) -> None:
    """Whatever JSON Schema calls valid, the executor takes, and the function can be called with it."""
    tool = data.draw(signatures())
    arguments = data.draw(arguments_of(tool))
    validator = jsonschema.Draft202012Validator(tool.spec.parameters)
    if validator.is_valid(arguments):
        tool.execute(arguments)
    else:
        with suppress(ToolArgumentsError):
            tool.execute(arguments)


@BOUNDED
@given(st.data())
def test_values_made_from_the_schema_are_accepted(data: st.DataObject) -> None:
    """Complete arguments, made from the schema alone, always run."""
    tool = data.draw(signatures())
    parameters = tool.spec.parameters
    arguments = data.draw(fitting_values(parameters, parameters))
    jsonschema.validate(arguments, parameters)
    tool.execute(arguments)


@BOUNDED
@given(signatures())
def test_definitions_of_functions_are_valid_and_round_trip(tool: Tool) -> None:
    """Every generated schema is JSON Schema, and the definition's text reads back the same."""
    jsonschema.Draft202012Validator.check_schema(tool.spec.parameters)
    assert ToolSpec.from_json(tool.spec.to_json()) == tool.spec


@BOUNDED
@given(TYPES, JSON)
def test_a_default_is_refused_or_used(annotation: Any, default: Any) -> None:
    """A default either fits its type, and then is a value of it, or the tool is refused."""
    parameter = inspect.Parameter("a", inspect.Parameter.KEYWORD_ONLY, annotation=annotation, default=default)
    with suppress(InvalidTool):
        assert "a" in as_tool(function([parameter])).execute({})
