"""Calls: absence and null, defaults, aliases, hidden parameters, stars, and the errors a model reads."""

import threading
from collections.abc import Iterable, Iterator
from typing import Annotated, Any, NotRequired, Unpack

import pytest
from pydantic import Field, SecretStr
from typing_extensions import TypedDict

from toolsearch import Injected
from toolsearch.catalog.arguments import FunctionExecutor
from toolsearch.catalog.functions import as_tool, tool
from toolsearch.errors import InvalidTool, ToolArgumentsError


def returned(*values: Any, **named: Any) -> Any:
    return (*values, *named.values())


def schema(function: Any) -> dict[str, Any]:
    return as_tool(function).spec.parameters


def test_a_default_is_used_only_when_the_argument_is_absent() -> None:
    """Absence gives the default; a value, false ones too, does not."""

    def f(a: int = 3, b: str = "x", c: bool = True) -> Any:
        return a, b, c

    run = as_tool(f).execute
    assert run({}) == (3, "x", True)
    assert run({"a": 0, "b": "", "c": False}) == (0, "", False)
    assert "required" not in schema(f)


def test_null_counts_as_absent_unless_it_is_a_value() -> None:
    """For a type without None, null means left out; for one with None, and for any JSON, it is the value."""

    def f(a: int = 3, b: int | None = 4, c: Any = 5, d=6) -> Any:
        return a, b, c, d

    assert as_tool(f).execute(dict.fromkeys("abcd")) == (3, None, None, None)


def test_a_required_argument_must_be_there() -> None:
    """Absent and null read the same, and the text names parameter and tool."""

    def f(a: int) -> int:
        return a

    for arguments in ({}, {"a": None}):
        with pytest.raises(ToolArgumentsError) as caught:
            as_tool(f).execute(arguments)
        assert str(caught.value) == 'Required parameter "a" of tool "f" is missing'


def test_an_optional_argument_may_be_left_out() -> None:
    """A type that names None needs no default: absence is None."""

    def f(a: int | None, b: Annotated[str | None, Field(description="b")]) -> Any:
        return a, b

    assert as_tool(f).execute({}) == (None, None)
    assert "required" not in schema(f)


def test_a_default_of_none_makes_any_type_optional() -> None:
    """The old spelling `a: int = None` works, and shows no null."""

    def f(a: int = None) -> Any:  # type: ignore[assignment]  # noqa: RUF013
        return a

    assert as_tool(f).execute({}) is None
    assert as_tool(f).execute({"a": None}) is None
    assert schema(f)["properties"]["a"] == {"type": "integer"}


def test_a_default_is_copied_for_every_call() -> None:
    """A function that changes its default does not change the next call's."""

    def f(a: list[int] = [], b: dict[str, list[int]] = {"x": []}) -> Any:  # noqa: B006
        a.append(1)
        b["x"].append(1)
        return a, b

    run = as_tool(f).execute
    assert run({}) == run({}) == ([1], {"x": [1]})


def test_a_default_factory_is_called_for_every_call() -> None:
    """`Field(default_factory=...)` works in Annotated and as a default."""
    numbers: Iterator[int] = iter(range(100))

    fresh: Any = Field(default_factory=list)

    def f(a: Annotated[int, Field(default_factory=lambda: next(numbers))], b: list[int] = fresh) -> Any:
        return a, b

    run = as_tool(f).execute
    first, second = run({}), run({})
    assert first[0] < second[0]
    assert first[1] == []
    assert first[1] is not second[1]
    assert "required" not in schema(f)


@pytest.mark.parametrize("default", ["x", 1.5, [1]])
def test_a_default_that_does_not_fit_is_refused_when_the_tool_is_made(default: Any) -> None:
    """The decorator itself fails, naming function and parameter."""
    with pytest.raises(InvalidTool, match=r"'count' of .*f'.*default"):

        @tool
        def f(count: int = default) -> None: ...


def test_a_default_is_shown_only_where_sending_it_means_the_same() -> None:
    """A masked secret and an iterator are used, but not shown."""

    def f(secret: SecretStr = SecretStr("pw"), items: Iterable[int] = (1, 2), level: int = 3) -> Any:  # noqa: B008
        return secret.get_secret_value(), list(items), level

    properties = schema(f)["properties"]
    assert [name for name in properties if "default" in properties[name]] == ["level"]
    assert as_tool(f).execute({}) == as_tool(f).execute({}) == ("pw", [1, 2], 3)


def test_a_default_that_cannot_be_copied_is_refused() -> None:
    """Calls must not share a default."""

    def f(a: Any = threading.Lock()) -> None: ...  # noqa: B008

    with pytest.raises(InvalidTool, match="'a' of .*f'.*copied"):
        as_tool(f)


def test_a_default_in_field_is_checked_too() -> None:
    """A default in `Annotated[..., Field(default=...)]` is a default like any other."""

    def good(a: Annotated[int, Field(default=3)]) -> int:
        return a

    def bad(a: Annotated[int, Field(default=3, gt=5)]) -> int:
        return a

    assert as_tool(good).execute({}) == 3
    with pytest.raises(InvalidTool, match="'a' of .*bad"):
        as_tool(bad)


def test_an_alias_is_what_the_model_sees() -> None:
    """The alias is in schema and errors, and is mapped back before the call."""

    def f(from_: Annotated[int, Field(alias="from")], to: int = Field(2, alias="up to")) -> Any:
        return from_, to

    made = as_tool(f)
    assert list(made.spec.parameters["properties"]) == ["from", "up to"]
    assert made.execute({"from": 1, "up to": 5}) == (1, 5)
    with pytest.raises(ToolArgumentsError, match='"from"'):
        made.execute({"from": "x"})
    with pytest.raises(ToolArgumentsError, match="'from_'.*did you mean 'from'"):
        made.execute({"from": 1, "from_": 1})


def test_two_parameters_cannot_show_one_name() -> None:
    """An alias that is another parameter's name is refused, naming both."""

    def f(a: int, b: Annotated[int, Field(alias="a")]) -> None: ...

    with pytest.raises(InvalidTool, match="'a' and 'b'"):
        as_tool(f)


def test_star_args_are_a_list() -> None:
    """`*args: T` shows a list of T, spread in the call after the positional ones."""

    def f(a: int, b: int = 2, *rest: int, c: int = 3) -> Any:
        return a, b, rest, c

    made = as_tool(f)
    assert made.spec.parameters["properties"]["rest"] == {"type": "array", "items": {"type": "integer"}}
    assert made.spec.parameters["required"] == ["a"]
    assert made.execute({"a": 1, "rest": ["4", 5], "c": 6}) == (1, 2, (4, 5), 6)
    assert made.execute({"a": 1}) == (1, 2, (), 3)


def test_star_kwargs_take_any_further_key() -> None:
    """`**kwargs: T` opens the schema for keys of T, which never replace a named parameter."""

    def f(a_: Annotated[int, Field(alias="a")], **rest: int) -> Any:
        return a_, rest

    made = as_tool(f)
    assert made.spec.parameters["additionalProperties"] == {"type": "integer"}
    assert made.execute({"a": 1, "x": "2"}) == (1, {"x": 2})
    with pytest.raises(ToolArgumentsError, match='"rest.x"'):
        made.execute({"a": 1, "x": "no"})
    with pytest.raises(ToolArgumentsError, match="'a_'"):
        made.execute({"a": 1, "a_": 2})


def test_unannotated_parameters_take_any_json() -> None:
    """Without an annotation the schema says nothing, and the value comes as it is."""

    def f(a, b="x", *args, **kwargs):
        return a, b, args, kwargs

    made = as_tool(f)
    assert made.spec.parameters["properties"]["a"] == {}
    assert made.spec.parameters["additionalProperties"] is True
    arguments = {"a": [1, {"b": None}], "args": [1], "more": True}
    assert made.execute(arguments) == ([1, {"b": None}], "x", (1,), {"more": True})


def test_positional_only_parameters_are_passed_by_position() -> None:
    """The model names them like any other."""

    def f(a: int, b: int = 2, /, c: int = 3) -> Any:
        return a, b, c

    assert as_tool(f).execute({"a": 1, "c": 4}) == (1, 2, 4)


class Options(TypedDict):
    """Keyword arguments."""

    size: int
    color: NotRequired[Annotated[str, Field(description="a color", alias="colour")]]


def test_an_unpacked_typed_dict_is_its_keys() -> None:
    """`**kwargs: Unpack[SomeTypedDict]` shows each key; absent ones are not passed on."""

    def f(**options: Unpack[Options]) -> Any:
        return options

    made = as_tool(f)
    assert made.spec.parameters["required"] == ["size"]
    assert made.spec.parameters["properties"]["colour"] == {"type": "string", "description": "a color"}
    assert made.execute({"size": "3"}) == {"size": 3}
    assert made.execute({"size": 3, "colour": "red"}) == {"size": 3, "color": "red"}


def test_other_unpackings_are_refused() -> None:
    """The error names function and parameter."""

    def f(*args: *tuple[int, str]) -> None: ...

    with pytest.raises(InvalidTool, match=r"'args' of .*f'.*TypedDict"):
        as_tool(f)


def test_an_unknown_argument_is_refused_with_near_names() -> None:
    """A model that misspells a parameter is told the right one."""

    def f(city: str = "", unit: str = "") -> None: ...

    def none() -> None: ...

    with pytest.raises(ToolArgumentsError, match="no parameter 'citty'; did you mean 'city'"):
        as_tool(f).execute({"citty": "Paris"})
    with pytest.raises(ToolArgumentsError, match="takes none"):
        as_tool(none).execute({"x": 1})


def test_all_faults_of_a_call_are_told_together() -> None:
    """So that the model can mend them in one go."""

    def f(a: int, b: int, c: bool = True) -> None: ...

    with pytest.raises(ToolArgumentsError, match=r'"a".*missing.*"b".*integer.*"c".*true or false'):
        as_tool(f).execute({"b": "x", "c": "yes"})


def test_error_texts_are_bounded() -> None:
    """Huge values, names and numbers of faults do not make huge texts."""

    def f(a: int = 0, b: list[int] = [], **rest: int) -> None: ...  # noqa: B006

    huge = {"a": "x" * 10**6, "b": ["y" * 1000] * 1000, **{"k" * 10**5 + str(n): "z" for n in range(100)}}
    with pytest.raises(ToolArgumentsError) as caught:
        as_tool(f).execute(huge)
    assert len(str(caught.value)) < 2000


@pytest.mark.parametrize("arguments", [None, [1], "text", 3])
def test_arguments_must_be_an_object(arguments: Any) -> None:
    """Anything but an object is an argument error."""
    with pytest.raises(ToolArgumentsError, match="must be an object"):
        as_tool(returned).execute(arguments)


def test_arguments_can_be_checked_without_a_call() -> None:
    """`check` gives the Python values and calls nothing."""

    def f(a: int, hidden: Annotated[Any, Injected], b: list[int] = []) -> None:  # noqa: B006
        raise AssertionError("called")

    executor = as_tool(f).execute
    assert isinstance(executor, FunctionExecutor)
    assert executor.check({"a": "1"}) == {"a": 1, "b": []}


def test_errors_of_the_function_come_as_they_are() -> None:
    """The executor does not dress up what the function raises."""

    def f() -> None:
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        as_tool(f).execute({})
