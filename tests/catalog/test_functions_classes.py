"""Methods as tools: static, class, instance and underscore ones, overrides, protocols."""

import functools
from abc import ABC, abstractmethod
from typing import Any, Protocol

import pytest

from toolsearch import tools_from
from toolsearch.catalog.functions import as_tool, tool, tool_at
from toolsearch.errors import InvalidTool


class Desk:
    """Every kind of method."""

    def __init__(self, owner: str = "Ann") -> None:
        self.owner = owner

    @tool
    def instance(self, a: int) -> str:
        """Instance."""
        return f"{self.owner}{a}"

    @tool
    @classmethod
    def outer_class(cls, a: int) -> str:
        """Class."""
        return f"{cls.__name__}{a}"

    @classmethod
    @tool
    def inner_class(cls, a: int) -> str:
        """Class."""
        return f"{cls.__name__}{a}"

    @tool
    @staticmethod
    def outer_static(a: int) -> int:
        """Static."""
        return a

    @staticmethod
    @tool
    def inner_static(a: int) -> int:
        """Static."""
        return a

    @tool
    def _hidden(self, a: int) -> str:
        """Underscore."""
        return f"_{self.owner}{a}"

    @tool
    def __mangled(self, a: int) -> str:
        """Two underscores."""
        return f"__{self.owner}{a}"

    @property
    def trap(self) -> int:
        """A property that must not run."""
        raise RuntimeError("touched")

    def undecorated(self) -> None:
        """Not a tool."""


class Subclass(Desk):
    """Inherits everything."""


class Base(ABC):
    """A base with definitions."""

    @tool(name="charge", tags=["money"])
    @abstractmethod
    def charge(self, amount: int) -> Any:
        """Charge an amount.

        Args:
            amount: in cents
        """

    @tool(name="old")
    def replaced(self, amount: int) -> str:
        """Old text."""
        return "old"


class Plain(Base):
    """Overrides without repeating the decorator, and with."""

    def charge(self, amount):  # type: ignore[no-untyped-def]
        """Ignored text."""
        return amount * 2

    @tool(name="new")
    def replaced(self, amount: str) -> str:
        """New text."""
        return "new"


class Stamped(Protocol):
    """A protocol with a definition."""

    @tool
    def stamp(self, text: str) -> str:
        """Stamp it."""
        ...


class Stamp(Stamped):
    """Implements the protocol by inheriting it."""

    def stamp(self, text: str) -> str:
        """Not read."""
        return text.upper()


def named(owner: object) -> dict[str, Any]:
    return {one.spec.name: one for one in tools_from(owner)}


@pytest.mark.parametrize(
    ("name", "result"),
    [
        ("instance", "Bob1"),
        ("outer_class", "Subclass1"),
        ("inner_class", "Subclass1"),
        ("outer_static", 1),
        ("inner_static", 1),
        ("_hidden", "_Bob1"),
        ("__mangled", "__Bob1"),
    ],
)
def test_every_kind_of_method_is_found_and_runs(name: str, result: object) -> None:
    """Static, class, instance and underscore methods are tools, inherited ones too, in either decorator order."""
    made = named(Subclass("Bob"))[name]
    assert list(made.spec.parameters["properties"]) == ["a"]
    assert made.execute({"a": 1}) == result


def test_methods_come_in_the_order_written() -> None:
    """Base classes first, and a property is never touched."""
    assert [one.spec.name for one in tools_from(Subclass())] == [
        "instance",
        "outer_class",
        "inner_class",
        "outer_static",
        "inner_static",
        "_hidden",
        "__mangled",
    ]


def test_decorated_methods_stay_callable() -> None:
    """The decorator leaves methods as they were."""
    assert Desk("Eve").instance(1) == "Eve1"
    assert Desk.outer_class(1) == "Desk1"
    assert Desk.outer_static(1) == 1


def test_a_bare_class_gives_definitions() -> None:
    """Without an instance, instance methods have no executor; static and class methods do."""
    found = named(Desk)
    assert found["instance"].execute is None
    assert found["instance"].spec == named(Desk())["instance"].spec
    assert found["outer_class"].execute({"a": 1}) == "Desk1"
    assert found["inner_static"].execute({"a": 1}) == 1


def test_an_override_inherits_the_definition() -> None:
    """Name, text and schema come from the decorated base; the override is what is called."""
    made = named(Plain())["charge"]
    assert made.spec.description == "Charge an amount."
    assert made.spec.tags == ("money",)
    assert made.spec.parameters["properties"]["amount"] == {"type": "integer", "description": "in cents"}
    assert made.execute({"amount": "4"}) == 8


def test_an_override_with_a_decorator_replaces_the_definition() -> None:
    """Only the new definition is left."""
    found = named(Plain())
    assert set(found) == {"charge", "new"}
    assert found["new"].spec.description == "New text."
    assert found["new"].execute({"amount": "x"}) == "new"


def test_an_override_further_down_inherits_the_nearest_definition() -> None:
    """The MRO decides whose definition counts."""

    class Lower(Plain):
        def replaced(self, amount: str) -> str:
            return "lowest"

    made = named(Lower())["new"]
    assert made.execute({"amount": "x"}) == "lowest"


def test_a_protocol_hands_its_definition_down() -> None:
    """A class that inherits a protocol has its tools."""
    made = named(Stamp())["stamp"]
    assert made.spec.description == "Stamp it."
    assert made.execute({"text": "a"}) == "A"


def test_an_override_with_other_parameters_is_refused() -> None:
    """An override that the inherited definition cannot call is named together with its base."""

    class Other(Base):
        def charge(self, cents: int) -> int:
            return cents

    with pytest.raises(InvalidTool, match=r"Other\.charge.*Base\.charge"):
        tools_from(Other())


def test_an_override_that_is_no_method_removes_the_tool() -> None:
    """A method set to None is gone."""

    class Without(Plain):
        charge = None  # type: ignore[assignment]

    assert set(named(Without())) == {"new"}


def test_a_bound_method_is_a_tool() -> None:
    """as_tool takes a method of an object, with its inherited definition, or without any."""
    assert as_tool(Plain().charge).spec.tags == ("money",)
    assert as_tool(Desk("Kim").instance).execute({"a": 2}) == "Kim2"
    assert as_tool(Desk.outer_class).execute({"a": 2}) == "Desk2"
    assert as_tool(Desk().undecorated).spec.parameters["properties"] == {}


def test_calls_go_through_a_wrapper_around_a_method() -> None:
    """functools.wraps keeps the definition of a method, and the wrapper runs."""

    def loud(function: Any) -> Any:
        @functools.wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            return function(*args, **kwargs) + "!"

        return wrapper

    class Voice:
        @loud
        @tool
        def say(self, text: str) -> str:
            """Say it."""
            return text

        @tool
        @functools.cache  # noqa: B019
        def count(self, n: int) -> int:
            """Count."""
            return n

    found = named(Voice())
    assert found["say"].execute({"text": "hey"}) == "hey!"
    assert found["count"].execute({"n": 3}) == 3


def test_nothing_decorated_is_an_error() -> None:
    """An object without tools is most likely the wrong object."""
    with pytest.raises(InvalidTool, match="@tool"):
        tools_from(object())


def test_private_methods_of_one_name_fail_naming_both() -> None:
    """Two classes' private methods are two tools with one name."""

    class Upper:
        @tool(name="same")
        def __private(self) -> None: ...

    class Lower(Upper):
        @tool(name="same")
        def __private(self) -> None: ...

    with pytest.raises(InvalidTool, match=r"Upper\.__private.*Lower\.__private"):
        tools_from(Lower())


def test_a_method_without_self_is_refused() -> None:
    """A method that forgot its first parameter is told to be static."""

    class Forgot:
        @tool
        def f() -> None: ...  # type: ignore[misc]

    with pytest.raises(InvalidTool, match="staticmethod"):
        tools_from(Forgot())


def test_sources_of_methods_lead_back() -> None:
    """Static and class methods are found again by their source; an instance method needs its object."""
    for name in ("outer_static", "inner_class", "outer_class"):
        spec = named(Subclass())[name].spec
        assert spec.source == f"python:{__name__}:Subclass.{name}"
        assert tool_at(spec.source).spec == spec
    assert tool_at(f"python:{__name__}:Subclass.outer_class").execute({"a": 1}) == "Subclass1"
    with pytest.raises(InvalidTool, match="instance"):
        tool_at(named(Subclass())["instance"].spec.source)
