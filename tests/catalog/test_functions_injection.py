"""Parameters that the host fills in at run time and the model never sees."""

from dataclasses import dataclass
from typing import Annotated, Any

import pytest

from toolsearch import Injected
from toolsearch.catalog.functions import as_tool
from toolsearch.errors import ToolArgumentsError, ToolExecutionError


@dataclass
class Session:
    """Something that the host declares as injected."""

    user: str

    @staticmethod
    def __toolsearch_injected__(context: Any) -> Any:
        return context["session"]


class MemoryId:
    """A marker that the host declares."""

    @staticmethod
    def __toolsearch_injected__(context: Any) -> Any:
        return context.get("memory_id")


def test_injected_parameters_are_hidden_and_filled() -> None:
    """Marked parameters and declared types are no part of the schema, wherever they stand."""

    def f(
        session: Session,
        a: int,
        context: Annotated[dict[str, Any], Injected],
        key: Annotated[str, Injected("session")],
        memory: Annotated[str | None, MemoryId],
        maybe: Session | None = None,
    ) -> Any:
        return session, a, context["memory_id"], key, memory, maybe

    made = as_tool(f)
    context = {"session": Session("Ann"), "memory_id": "m1"}
    assert list(made.spec.parameters["properties"]) == ["a"]
    assert made.execute({"a": 1}, context) == (Session("Ann"), 1, "m1", Session("Ann"), "m1", Session("Ann"))


def test_a_key_may_be_an_attribute_of_the_context() -> None:
    """`Injected("key")` reads mappings and objects."""

    def f(user: Annotated[str, Injected("user")]) -> str:
        return user

    assert as_tool(f).execute({}, Session("Ann")) == "Ann"
    with pytest.raises(ToolExecutionError, match="'user'"):
        as_tool(f).execute({}, {"other": 1})


@pytest.mark.parametrize("stars", [False, True])
def test_a_model_cannot_fill_a_hidden_parameter(stars: bool) -> None:
    """A hidden parameter's name is an unknown argument, with `**kwargs` too."""

    def closed(user: Annotated[str, Injected] = "nobody") -> str:
        return user

    def open_(user: Annotated[str, Injected] = "nobody", **rest: Any) -> str:
        return user

    with pytest.raises(ToolArgumentsError, match="no parameter 'user'"):
        as_tool(open_ if stars else closed).execute({"user": "root"}, "Ann")


def test_without_a_context_hidden_parameters_fall_back() -> None:
    """Default, then None; else the call fails, and it is not the model's fault."""

    def f(a: Annotated[str, Injected] = "x", b: Annotated[str | None, Injected] = None) -> Any:
        return a, b

    def none(a: Annotated[str | None, Injected]) -> Any:
        return a

    def needs(a: Annotated[str, Injected]) -> None: ...

    assert as_tool(f).execute({}) == ("x", None)
    assert as_tool(none).execute({}) is None
    with pytest.raises(ToolExecutionError, match="'a' of tool 'needs'") as caught:
        as_tool(needs).execute({})
    assert not isinstance(caught.value, ToolArgumentsError)


def test_hidden_parameters_may_have_any_type() -> None:
    """A type without a schema is fine where the model does not see it."""

    def f(a: Annotated[type, Injected], b: int) -> Any:
        return a, b

    assert as_tool(f).execute({"b": 1}, int) == (int, 1)
