"""Unions of models: a `type` tells the members apart where none was declared."""

from dataclasses import dataclass
from typing import Annotated, Any, Literal

import jsonschema
import pytest
from pydantic import BaseModel, Discriminator, Field
from typing_extensions import TypedDict

from toolsearch.catalog.functions import as_tool, tool
from toolsearch.errors import InvalidTool, ToolArgumentsError


class Cat(BaseModel):
    """A cat."""

    name: str


class Dog(BaseModel):
    """A dog, with the same fields as a cat."""

    name: str
    friend: "Cat | Dog | None" = None


@dataclass
class Bird:
    """A bird."""

    name: str


class Fish(TypedDict):
    """A fish."""

    name: str


class Home(BaseModel):
    """A nested field and a list of them."""

    first: Cat | Dog
    others: list[Cat | Bird] = []


class Circle(BaseModel):
    kind: Literal["circle"]
    inside: Cat | Dog | None = None


class Square(BaseModel):
    kind: Literal["square"]


class Red(BaseModel):
    type: Literal["red"]
    pet: Cat | Dog | None = None


class Blue(BaseModel):
    type: Literal["blue"]


class Typed(BaseModel):
    type: str


@tool
def keep(
    pet: Cat | Dog | None = None,
    pets: list[Cat | Dog | Bird] = [],  # noqa: B006
    by_name: dict[str, Cat | Dog] | None = None,
    home: Home | None = None,
    mixed: Cat | Dog | list[Cat] | str | None = None,
) -> Any:
    """Keep pets."""
    return pet or pets or by_name or home or mixed


KEEP = as_tool(keep)
DOG = {"type": "Dog", "name": "a", "friend": {"type": "Cat", "name": "b"}}


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"pet": DOG}, Dog(name="a", friend=Cat(name="b"))),
        ({"pet": {"type": "Cat", "name": "a"}}, Cat(name="a")),
        ({"pets": [{"type": "Bird", "name": "a"}, DOG]}, [Bird("a"), Dog(name="a", friend=Cat(name="b"))]),
        ({"by_name": {"x": DOG}}, {"x": Dog(name="a", friend=Cat(name="b"))}),
        (
            {"home": {"first": {"type": "Cat", "name": "a"}, "others": [{"type": "Bird", "name": "c"}]}},
            Home(first=Cat(name="a"), others=[Bird("c")]),
        ),
        ({"mixed": [{"name": "a"}]}, [Cat(name="a")]),
        ({"mixed": "text"}, "text"),
        ({"mixed": DOG}, Dog(name="a", friend=Cat(name="b"))),
    ],
    ids=str,
)
def test_the_type_chooses_the_member(arguments: dict[str, Any], expected: object) -> None:
    """At the top, in lists, mappings and nested fields; models with equal fields are told apart."""
    jsonschema.validate(arguments, KEEP.spec.parameters)
    result = KEEP.execute(arguments)
    assert result == expected
    assert type(result) is type(expected)


@pytest.mark.parametrize("wrong", [{"name": "a"}, {"type": "Cow", "name": "a"}, {"type": 3, "name": "a"}])
def test_a_missing_or_unknown_type_is_refused(wrong: dict[str, Any]) -> None:
    """Schema and executor agree that the type is required, and the error lists the choices."""
    for arguments, path in (({"pet": wrong}, "pet.type"), ({"home": {"first": wrong}}, "home.first.type")):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(arguments, KEEP.spec.parameters)
        with pytest.raises(ToolArgumentsError, match=f"\"{path}\".*'Cat', 'Dog'"):
            KEEP.execute(arguments)


def test_faults_inside_a_member_name_the_path() -> None:
    """An error inside the chosen member says where."""
    with pytest.raises(ToolArgumentsError, match='"pets.1.name"'):
        KEEP.execute({"pets": [DOG, {"type": "Bird"}]})


def test_a_model_outside_of_unions_needs_no_type() -> None:
    """The same class may stand alone elsewhere, without a type."""

    def f(alone: Cat, either: Cat | Dog) -> Any:
        return alone, either

    made = as_tool(f)
    assert "type" not in made.spec.parameters["$defs"]["Cat"]["properties"]
    arguments = {"alone": {"name": "a"}, "either": {"type": "Cat", "name": "b"}}
    jsonschema.validate(arguments, made.spec.parameters)
    assert made.execute(arguments) == (Cat(name="a"), Cat(name="b"))


def test_typed_dicts_of_a_union_stay_dictionaries() -> None:
    """The type chooses the checks; the function gets the declared keys only."""

    def f(it: Fish | Cat) -> Any:
        return it

    assert as_tool(f).execute({"it": {"type": "Fish", "name": "a"}}) == {"name": "a"}


@pytest.mark.parametrize("mark", [Field(discriminator="kind"), Discriminator("kind")], ids=["field", "marker"])
def test_a_declared_discriminator_is_used(mark: Any) -> None:
    """No type is added where one is declared, and unions inside its members still get theirs."""

    def f(shape: Annotated[Circle | Square, mark]) -> Any:
        return shape

    made = as_tool(f)
    assert "type" not in made.spec.parameters["$defs"]["Square"]["properties"]
    arguments = {"shape": {"kind": "circle", "inside": DOG}}
    jsonschema.validate(arguments, made.spec.parameters)
    assert made.execute(arguments) == Circle(kind="circle", inside=Dog(name="a", friend=Cat(name="b")))


def test_members_that_all_declare_a_literal_type_are_left_alone() -> None:
    """A literal `type` of their own is a discriminator already."""

    def f(color: Red | Blue) -> Any:
        return color

    made = as_tool(f)
    assert set(made.spec.parameters["$defs"]) >= {"Red", "Blue"}
    assert made.execute({"color": {"type": "blue"}}) == Blue(type="blue")
    red = {"type": "red", "pet": {"type": "Cat", "name": "a"}}
    assert made.execute({"color": red}) == Red(type="red", pet=Cat(name="a"))


@pytest.mark.parametrize("annotation", [Cat | Typed, list[Cat | Typed], dict[str, Red | Cat]], ids=str)
def test_a_field_called_type_is_refused(annotation: Any) -> None:
    """Where a member has another field of that name, the error names it and the way out."""

    def f(it): ...

    f.__annotations__ = {"it": annotation}
    with pytest.raises(InvalidTool, match=r"f'.*'(Typed|Red)'.*'type'.*discriminator"):
        as_tool(f)


def test_a_nested_field_called_type_is_refused() -> None:
    """The check reaches fields of models."""

    class Outer(BaseModel):
        inner: Cat | Typed

    def f(it: Outer) -> None: ...

    with pytest.raises(InvalidTool, match="'Typed'.*'type'"):
        as_tool(f)


def test_two_classes_of_one_name_in_a_union_are_refused() -> None:
    """The type is the class name, so the names must differ."""
    twin = type("Cat", (BaseModel,), {"__annotations__": {"age": int}, "__module__": "elsewhere"})

    def f(it): ...

    f.__annotations__ = {"it": Cat | twin}
    with pytest.raises(InvalidTool, match="called 'Cat'"):
        as_tool(f)


def test_a_default_of_a_union_is_used() -> None:
    """An instance may be the default; it is copied, and not shown where it would not be valid."""

    def f(pet: Cat | Dog = Dog(name="x")) -> Any:  # noqa: B008
        return pet

    made = as_tool(f)
    assert made.execute({}) == Dog(name="x")
    assert made.execute({}) is not made.execute({})
    assert "default" not in made.spec.parameters["properties"]["pet"]
