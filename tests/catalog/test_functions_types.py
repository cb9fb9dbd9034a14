"""Types of parameters: what the model is shown, and what a call makes of its arguments."""

import datetime as dt
import typing
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from enum import Enum, IntEnum, StrEnum, auto
from typing import Annotated, Any, Literal, NamedTuple, NewType, NotRequired, Optional, Required
from uuid import UUID

import jsonschema
import pytest
from pydantic import BaseModel, BeforeValidator, Field, RootModel

from toolsearch.catalog.functions import as_tool
from toolsearch.errors import InvalidTool, ToolArgumentsError
from toolsearch.tool import Tool


class Color(StrEnum):
    """Texts as values."""

    RED = "red"
    DARK_BLUE = "dark-blue"


class Level(Enum):
    """Numbers as values."""

    LOW = auto()
    HIGH = auto()


class Bit(IntEnum):
    """A member that is false."""

    OFF = 0
    ON = 1


@dataclass
class Point:
    """A place.

    Attributes:
        x: to the right
    """

    x: int
    y: Annotated[int, Field(description="upwards")] = 0


@dataclass
class Line:
    """Points in order."""

    points: list[Point] = field(default_factory=list)


class Key(typing.TypedDict, total=False):
    """Where to look."""

    table: Required[str]
    rows: list[int]
    near: "Near"


class Near(typing.TypedDict):
    """A neighbour."""

    distance: Annotated[float, Field(description="in metres")]
    unit: NotRequired[str]


class Address(BaseModel):
    """Where somebody lives."""

    street: str = Field(description="and the number")
    zip_code: str = Field(alias="zip", default="")
    level: Level = Level.LOW


class Tree(BaseModel):
    """A model that contains itself."""

    value: int
    children: list["Tree"] = []


class Names(RootModel[list[Color]]):
    """A list with a name."""


class Pair(NamedTuple):
    """Two things."""

    left: int
    right: str


UserId = NewType("UserId", int)
U = UUID("12345678-1234-5678-1234-567812345678")


def made(annotation: Any) -> Tool:
    """A tool with one parameter of a type; it returns what it was given."""

    def f(value): ...

    def call(value):
        return value

    call.__annotations__ = {"value": annotation}
    return as_tool(call)


def call(annotation: Any, value: object) -> Any:
    return made(annotation).execute({"value": value})


CASES: list[tuple[Any, object, object]] = [
    (int, 5, 5),
    (int, "5", 5),
    (int, 1.0, 1),
    (UserId, "7", 7),
    (float, "1.5", 1.5),
    (float, 2, 2.0),
    (str, "a", "a"),
    (str, 5, "5"),
    (str, True, "true"),
    (str, {"a": [1]}, '{"a": [1]}'),
    (bool, False, False),
    (Any, {"a": 1}, {"a": 1}),
    (object, [1], [1]),
    (Optional[int], "3", 3),  # noqa: UP045
    (int | None, None, None),
    (int | str, "3", "3"),
    (Literal["a", 1], 1, 1),
    (list[int], ["1", 2], [1, 2]),
    (Sequence[str], [1], ["1"]),
    (set[int], [1, "1", 2], {1, 2}),
    (frozenset[str], ["a"], frozenset({"a"})),
    (tuple[int, str], ["1", 2], (1, "2")),
    (tuple[int, ...], [1, "2"], (1, 2)),
    (dict[str, int], {"a": "1"}, {"a": 1}),
    (dict[int, bool], {"1": True}, {1: True}),
    (Mapping[str, list[Color]], {"a": ["RED"]}, {"a": [Color.RED]}),
    (Pair, [1, "b"], Pair(1, "b")),
    (UUID, str(U), U),
    (Decimal, "1.10", Decimal("1.10")),
    (Decimal, 3, Decimal(3)),
    (dt.datetime, "2026-01-02T03:04:05Z", dt.datetime(2026, 1, 2, 3, 4, 5, tzinfo=dt.UTC)),
    (dt.date, "2026-01-02", dt.date(2026, 1, 2)),
    (dt.time, "03:04", dt.time(3, 4)),
    (dt.timedelta, "PT90S", dt.timedelta(seconds=90)),
    (Color, "red", Color.RED),
    (Color, "RED", Color.RED),
    (Color, "dark_blue", Color.DARK_BLUE),
    (Level, "LOW", Level.LOW),
    (Level, "high", Level.HIGH),
    (Level, 2, Level.HIGH),
    (Bit, "off", Bit.OFF),
    (list[Level], ["low"], [Level.LOW]),
    (Point, {"x": "1"}, Point(1, 0)),
    (Line, {"points": [{"x": 1, "y": 2}]}, Line([Point(1, 2)])),
    (Key, {"table": "t", "near": {"distance": "2"}}, {"table": "t", "near": {"distance": 2.0}}),
    (Address, {"street": "A 1", "zip": "9", "level": "high"}, Address(street="A 1", zip="9", level=Level.HIGH)),
    (Tree, {"value": 1, "children": [{"value": 2}]}, Tree(value=1, children=[Tree(value=2)])),
    (Names, ["RED"], Names([Color.RED])),
    (Annotated[int, Field(ge=1)], 1, 1),
    (Annotated[bool, BeforeValidator(lambda one: one == "yes")], "yes", True),
]


@pytest.mark.parametrize(("annotation", "value", "expected"), CASES, ids=str)
def test_an_argument_becomes_a_value_of_the_type(annotation: Any, value: object, expected: object) -> None:
    """The function receives a value of the annotated type."""
    result = call(annotation, value)
    assert result == expected
    assert type(result) is type(expected)


@pytest.mark.parametrize("annotation", dict.fromkeys(str(one) for one, _, _ in CASES))
def test_every_schema_is_valid(annotation: str) -> None:
    """What the model is shown is a JSON Schema of 2020-12 without titles or marks of ours."""
    tool = made(next(one for one, _, _ in CASES if str(one) == annotation))
    jsonschema.Draft202012Validator.check_schema(tool.spec.parameters)
    assert '"title"' not in tool.spec.to_json()
    assert "x-toolsearch" not in tool.spec.to_json()


@pytest.mark.parametrize(
    ("annotation", "value"),
    [
        (int, 5.5),
        (int, "five"),
        (int, True),
        (float, False),
        (bool, "true"),
        (bool, 1),
        (bool | None, "no"),
        (list[bool], ["yes"]),
        (list[int], "1,2"),
        (Color, "green"),
        (Level, "middle"),
        (Literal["a"], "b"),
        (Point, {"y": 1}),
        (Key, {}),
        (UUID, "u"),
        (dt.date, "tomorrow"),
        (Annotated[int, Field(ge=1)], 0),
    ],
    ids=str,
)
def test_an_argument_that_does_not_fit_is_refused(annotation: Any, value: object) -> None:
    """The error names tool and parameter and shows the value."""
    with pytest.raises(ToolArgumentsError, match=r'parameter "value[^"]*" of tool "call": '):
        call(annotation, value)


def test_a_list_of_one_type_stays_itself() -> None:
    """A text is not a list of characters."""
    with pytest.raises(ToolArgumentsError):
        call(list[str], "abc")


@pytest.mark.parametrize(
    ("annotation", "schema"),
    [
        (Color, {"type": "string", "enum": ["red", "dark-blue"], "description": "Texts as values."}),
        (Level, {"type": "string", "enum": ["LOW", "HIGH"], "description": "Numbers as values."}),
    ],
)
def test_an_enum_shows_texts_or_names(annotation: Any, schema: object) -> None:
    """Values that are texts are shown; numbers say nothing, so names are shown instead."""
    parameters = made(annotation).spec.parameters
    assert parameters["properties"]["value"] == {"$ref": f"#/$defs/{annotation.__name__}"}
    assert parameters["$defs"] == {annotation.__name__: schema}


def test_classes_and_fields_keep_their_descriptions() -> None:
    """Docstrings of classes, `Field` and Attributes sections describe objects and their fields."""

    def f(point: Point, key: Key, address: Address) -> None: ...

    defs = as_tool(f).spec.parameters["$defs"]
    assert defs["Point"]["description"] == "A place."
    assert defs["Point"]["properties"]["x"]["description"] == "to the right"
    assert defs["Point"]["properties"]["y"]["description"] == "upwards"
    assert defs["Key"]["description"] == "Where to look."
    assert defs["Key"]["required"] == ["table"]
    assert defs["Near"]["properties"]["distance"]["description"] == "in metres"
    assert defs["Address"]["properties"]["street"]["description"] == "and the number"
    assert "zip" in defs["Address"]["properties"]


def test_a_property_called_title_is_kept() -> None:
    """Only the titles that pydantic makes up are dropped, not fields of that name."""

    class Book(BaseModel):
        title: str

    def f(title: str, book: Book) -> None: ...

    parameters = as_tool(f).spec.parameters
    assert parameters["properties"]["title"] == {"type": "string"}
    assert parameters["$defs"]["Book"]["properties"] == {"title": {"type": "string"}}


def test_a_recursive_model_refers_to_itself() -> None:
    """Definitions are kept, so that a model may contain itself."""
    parameters = made(Tree).spec.parameters
    assert parameters["properties"]["value"] == {"$ref": "#/$defs/Tree"}
    assert parameters["$defs"]["Tree"]["properties"]["children"]["items"] == {"$ref": "#/$defs/Tree"}


def test_a_deep_argument_is_refused() -> None:
    """A recursive model does not let a model's answer exhaust the stack."""
    value: dict[str, Any] = {"value": 1}
    for _ in range(5000):
        value = {"value": 1, "children": [value]}
    with pytest.raises(ToolArgumentsError, match="nested deeper than 64"):
        call(Tree, value)


@pytest.mark.parametrize("annotation", [typing.Callable[[int], int], type("Odd", (), {}), 5, "no such", "("])
def test_a_type_that_cannot_be_shown_is_refused(annotation: Any) -> None:
    """The error names function and parameter."""
    with pytest.raises(InvalidTool, match=r"parameter 'value' of .*made.*call"):
        made(annotation)


def test_a_typed_dict_that_contains_itself() -> None:
    """Where pydantic cannot take it, the way out is stated; elsewhere it works."""
    import sys

    if sys.version_info >= (3, 12):
        pytest.skip("pydantic takes it")
    with pytest.raises(InvalidTool, match="typing_extensions"):
        made(Chain)


class Chain(typing.TypedDict):
    """Contains itself."""

    after: "list[Chain]"
