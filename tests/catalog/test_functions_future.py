"""Annotations as text: module names, local classes, names defined later, and names that are nowhere."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, TypedDict

import pytest
from pydantic import BaseModel, Field

from toolsearch import Injected, tools_from
from toolsearch.catalog.functions import as_tool, tool
from toolsearch.errors import InvalidTool


@tool
def early(a: Annotated[Later | None, Field(alias="it")] = None, ctx: Annotated[Any, Injected] = None) -> Later | None:
    """Mentions a class that is defined below."""
    return a


@dataclass
class Later:
    """Defined after the function."""

    x: int


class Keys(TypedDict, total=False):
    """Keys as text."""

    a: int


def test_text_annotations_are_resolved() -> None:
    """Aliases, markers and classes work when annotations are text."""
    made = as_tool(early)
    assert list(made.spec.parameters["properties"]) == ["it"]
    assert made.execute({"it": {"x": "1"}}) == Later(1)


def test_local_classes_are_resolved_where_the_function_is_decorated() -> None:
    """The decorator looks at the local names around it."""

    @dataclass
    class Local:
        x: int

    @tool
    def f(a: list[Local], b: Keys) -> Any:
        return a, b

    assert as_tool(f).execute({"a": [{"x": 1}], "b": {"a": "2"}}) == ([Local(1)], {"a": 2})


def test_local_classes_are_resolved_without_a_decorator() -> None:
    """as_tool looks at the names around its call."""

    class Local(BaseModel):
        x: int

    def f(a: Local) -> Any:
        return a

    assert as_tool(f).execute({"a": {"x": 1}}) == Local(x=1)


def test_methods_of_local_classes_see_local_names() -> None:
    """The body of a class and the function around it both count."""

    class Outside(BaseModel):
        x: int

    class Owner:
        class Inside(BaseModel):
            y: int

        @tool
        def f(self, a: Outside, b: Inside) -> Any:
            return a, b

    made = tools_from(Owner())[0]
    assert made.execute({"a": {"x": 1}, "b": {"y": 2}}) == (Outside(x=1), Owner.Inside(y=2))


def test_a_name_that_is_nowhere_is_named() -> None:
    """Decorating is allowed, since the name may come; making the tool names function, parameter and name."""

    @tool
    def f(a: int, b: list[Nowhere]) -> None: ...  # noqa: F821

    with pytest.raises(InvalidTool, match=r"parameter 'b' of .*f'.*Nowhere"):
        as_tool(f)


def test_an_unresolved_result_does_no_harm() -> None:
    """Only parameters must be known."""

    @tool
    def f(a: int) -> Nowhere:  # noqa: F821
        return a

    assert as_tool(f).execute({"a": 1}) == 1
