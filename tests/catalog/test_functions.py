"""Functions become tools: the decorator, the definition, the way back to the function."""

import functools
import inspect
from typing import Annotated, Any

import pytest
from pydantic import BaseModel, Field, validate_call

from toolsearch import ReturnBehavior, SearchBehavior, Tool, ToolSpec, tools_from
from toolsearch.catalog.functions import as_tool, tool, tool_at
from toolsearch.errors import DuplicateTool, InvalidTool, LimitExceeded

GOOGLE = """Send a mail.

More about it.

Note:
    Never twice.

Args:
    to: who gets it
    text (str): what it says,
        on two lines

Returns:
    The number of the mail.
"""
NUMPY = """Send a mail.

Parameters
----------
to : str
    who gets it
text
    what it says,
    on two lines

Returns
-------
int
    The number of the mail.
"""
SPHINX = """Send a mail.

:param to: who gets it
:param str text: what it says,
    on two lines
:returns: The number of the mail.
"""


@tool
def plain(a: int, b: int = 2) -> int:
    """Add."""
    return a + b


@tool
async def later(a: int) -> int:
    """Wait."""
    return a + 1


@tool
def other_plain() -> None:
    """Do nothing."""


def test_a_decorated_function_is_still_the_function() -> None:
    """The decorator returns the very same object, callable as before."""

    def add(a: int, b: int) -> int:
        return a + b

    assert tool(add) is add
    assert tool(name="sum")(add) is add
    assert inspect.isfunction(plain)
    assert plain(1) == 3


def test_the_decorator_is_among_the_public_names() -> None:
    """`toolsearch.tool` is the decorator, although a module of the package has that name."""
    import toolsearch
    import toolsearch.tool

    assert toolsearch.tool is tool
    assert toolsearch.tools_from is tools_from


def test_name_and_description_come_from_the_function() -> None:
    """Without options the name is the function's and the description its docstring."""
    spec = as_tool(plain).spec
    assert (spec.name, spec.description, spec.id) == ("plain", "Add.", "plain")
    assert spec.parameters == {
        "type": "object",
        "properties": {"a": {"type": "integer"}, "b": {"type": "integer", "default": 2}},
        "required": ["a"],
        "additionalProperties": False,
    }


def test_every_option_reaches_the_definition() -> None:
    """Options become fields of the definition; lines of a description are joined by newline."""
    options: Any = {
        "name": "send",
        "title": "Send",
        "namespace": "mail",
        "tags": ["a"],
        "aliases": ["post"],
        "examples": ["mail it"],
        "groups": ["staff"],
        "annotations": {"readOnlyHint": False},
        "search": SearchBehavior.ALWAYS_VISIBLE,
        "returns": ReturnBehavior.IMMEDIATE,
        "metadata": {"cost": 1},
    }

    @tool(**options, description=["One.", "Two."])
    def anything() -> None: ...

    spec = as_tool(anything).spec
    assert spec.description == "One.\nTwo."
    assert spec.id == "mail/send"
    for name, value in options.items():
        assert getattr(spec, name) == (tuple(value) if isinstance(value, list) else value)


def test_an_unknown_option_is_refused() -> None:
    """A misspelt option names itself and lists the known ones."""
    with pytest.raises(InvalidTool, match="'nmae'.*name, title"):
        tool(nmae="x")(lambda: None)  # pyright: ignore


def test_a_wrong_option_is_refused_at_once() -> None:
    """A text where a list of tags belongs is an error of the decorator."""
    with pytest.raises(InvalidTool, match="tags"):

        @tool(tags="mail")
        def f() -> None: ...


def test_a_lambda_needs_a_name() -> None:
    """A function without a name of its own must be given one."""
    with pytest.raises(InvalidTool, match="name="):
        as_tool(lambda: None)
    assert as_tool(tool(name="nothing")(lambda: None)).spec.name == "nothing"


@pytest.mark.parametrize("docstring", [GOOGLE, NUMPY, SPHINX], ids=["google", "numpy", "sphinx"])
def test_docstrings_describe_tool_and_parameters(docstring: str) -> None:
    """Three styles are told apart; sections on results stay out of the description."""

    def send(to: str, text: str) -> int: ...

    send.__doc__ = docstring
    spec = as_tool(send).spec
    assert spec.description.startswith("Send a mail.")
    assert "number" not in spec.description
    assert ("Never twice." in spec.description) == (docstring is GOOGLE)
    assert spec.parameters["properties"]["to"]["description"] == "who gets it"
    assert spec.parameters["properties"]["text"]["description"] == "what it says, on two lines"


def test_a_field_describes_before_the_docstring() -> None:
    """`Field(description=...)` counts first, a bare text in Annotated second, the docstring last."""

    def f(a: Annotated[int, Field(description="field")], b: Annotated[int, "text"], c: int, d: int = Field(3, ge=1)):
        """Do.

        Args:
            a: doc
            b: doc
            c: doc
        """

    properties = as_tool(f).spec.parameters["properties"]
    assert [properties[name].get("description") for name in "abcd"] == ["field", "text", "doc", None]
    assert properties["d"] == {"type": "integer", "default": 3, "minimum": 1}


def test_a_strict_docstring_must_match() -> None:
    """With strict_docstring a stray or a missing description is an error; otherwise it is not."""

    def stray(a: int) -> None:
        """Do.

        Args:
            a: the a
            b: the b
        """

    def missing(a: int) -> None:
        """Do."""

    as_tool(stray)
    with pytest.raises(InvalidTool, match="stray.*'b'"):
        tool(strict_docstring=True)(stray)
    with pytest.raises(InvalidTool, match=r"'a' of .*missing.*no description"):
        tool(strict_docstring=True)(missing)


def test_tools_and_definitions_pass_through() -> None:
    """A Tool is itself, and a ToolSpec a tool without an executor."""
    spec = ToolSpec(name="x")
    made = Tool(spec)
    assert as_tool(made) is made
    assert as_tool(spec) == Tool(spec, None)


@pytest.mark.parametrize(
    "thing", [3, "plain", ToolSpec, len, None, functools.partial(plain, 1)], ids=lambda one: type(one).__name__
)
def test_other_things_are_no_tools(thing: object) -> None:
    """What is not a function is refused with the way out."""
    with pytest.raises(InvalidTool, match="tools_from"):
        as_tool(thing)


def test_a_class_cannot_be_decorated() -> None:
    """The decorator is for functions, and says what to use for classes."""
    with pytest.raises(InvalidTool, match="tools_from"):
        tool(dict)


def test_calls_go_through_wrappers() -> None:
    """A functools.wraps wrapper keeps the definition, and is what runs."""

    def doubled(function: Any) -> Any:
        @functools.wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            return 2 * function(*args, **kwargs)

        return wrapper

    made = as_tool(doubled(tool(name="add")(lambda a: a)))
    assert made.spec.name == "add"
    assert list(made.spec.parameters["properties"]) == ["a"]
    assert made.execute({"a": 4}) == 8


def test_cached_functions_are_wrappers_too() -> None:
    """functools.cache makes a callable that is no function; its definition stays."""
    made = as_tool(functools.cache(plain))
    assert made.spec.name == "plain"
    assert made.execute({"a": 1}) == 3


def test_functions_validated_by_pydantic_are_tools() -> None:
    """`validate_call` keeps name, signature and constraints, and calls go through it."""

    @validate_call
    def grow(size: Annotated[int, Field(ge=1)]) -> int:
        """Grow."""
        return size * 2

    made = as_tool(grow)
    assert made.spec.description == "Grow."
    assert made.spec.parameters["properties"]["size"] == {"type": "integer", "minimum": 1}
    assert made.execute({"size": "3"}) == 6


async def _awaited(value: Any) -> Any:
    return await value


def test_an_asynchronous_function_gives_an_awaitable() -> None:
    """The executor calls; waiting is the caller's."""
    import asyncio

    assert asyncio.run(_awaited(as_tool(later).execute({"a": 1}))) == 2


def test_the_source_leads_back_to_the_tool() -> None:
    """A definition's source finds the same definition and function again."""
    spec = as_tool(plain).spec
    assert spec.source == f"python:{__name__}:plain"
    found = tool_at(spec.source)
    assert found.spec == spec
    assert found.execute({"a": 1}) == 3


@pytest.mark.parametrize(
    "source", ["mcp:github", "python:", "python:json", "python:json:nowhere", "python:no_such_module:f", "python::f"]
)
def test_a_source_that_leads_nowhere_is_named(source: str) -> None:
    """The error repeats the source."""
    with pytest.raises(InvalidTool, match=source):
        tool_at(source)


def test_a_local_function_has_a_source_that_says_so() -> None:
    """A function inside another cannot be found again, and the error names it."""

    def inner() -> None: ...

    with pytest.raises(InvalidTool, match="<locals>"):
        tool_at(as_tool(inner).spec.source)


def test_a_module_gives_its_decorated_functions() -> None:
    """tools_from takes a module too, and skips what is not decorated."""
    import sys

    found = tools_from(sys.modules[__name__], namespace="mine")
    assert [one.spec.id for one in found] == ["mine/plain", "mine/later", "mine/other_plain"]


def test_a_result_that_is_an_object_has_a_schema() -> None:
    """A model as return type becomes the output schema; other types have none."""

    class Tree(BaseModel):
        """A tree."""

        name: str
        children: list["Tree"] = []

    def grow() -> Tree: ...

    def count() -> list[int]: ...

    output = as_tool(grow).spec.output_schema
    assert output is not None
    assert output["type"] == "object"
    assert output["properties"]["name"] == {"type": "string"}
    assert as_tool(count).spec.output_schema is None


def test_an_unknown_return_type_does_no_harm() -> None:
    """Only parameters must be resolved; a result nobody can describe is left undescribed."""

    def f(a: int) -> "Nowhere": ...  # noqa: F821

    assert as_tool(f).spec.output_schema is None


def test_a_schema_nested_too_deeply_is_refused() -> None:
    """A type nested deeper than a definition may be is a clear error, not a crash."""
    deep: Any = int
    for _ in range(300):
        deep = list[deep]

    def f(a: deep) -> None: ...

    with pytest.raises(LimitExceeded, match="deep"):
        as_tool(f)


def test_a_schema_too_large_is_refused() -> None:
    """A definition beyond the bound on its JSON is refused when the tool is made."""

    def f(a: int) -> None: ...

    f.__doc__ = "x" * 1_000_001
    with pytest.raises(LimitExceeded, match="1000000"):
        as_tool(f)


def test_two_functions_of_one_name_fail_naming_both() -> None:
    """Duplicates in one object are refused with both places."""

    class Both:
        @tool(name="same")
        def first(self) -> None: ...

        @tool(name="same")
        def second(self) -> None: ...

    with pytest.raises(DuplicateTool, match=r"Both\.first.*Both\.second.*'same'"):
        tools_from(Both())
