"""The definition of a tool: its fields, its checks, its text."""

import json
from dataclasses import FrozenInstanceError, fields
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from toolsearch import ReturnBehavior, SearchBehavior, ToolSpec
from toolsearch.errors import InvalidTool, LimitExceeded
from toolsearch.tool import MAX_DEPTH, Tool, canonical

TEXT = st.text(st.characters(codec="utf-8"), max_size=8)
NAME = TEXT.filter(lambda text: bool(text.strip()))
TEXTS = st.lists(TEXT, max_size=3).map(tuple)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.dictionaries(TEXT, VALUES, max_size=3)
SPECS = st.builds(
    ToolSpec,
    name=NAME,
    description=TEXT,
    parameters=OBJECTS,
    title=st.none() | TEXT,
    output_schema=st.none() | OBJECTS,
    annotations=OBJECTS,
    namespace=TEXT,
    tags=TEXTS,
    aliases=TEXTS,
    examples=TEXTS,
    groups=TEXTS,
    search=st.sampled_from(SearchBehavior),
    returns=st.sampled_from(ReturnBehavior),
    source=TEXT,
    metadata=OBJECTS,
    id=TEXT,
)


@settings(deadline=None, max_examples=60)
@given(SPECS)
def test_every_field_round_trips_byte_for_byte(spec: ToolSpec) -> None:
    """Reading a definition's text gives the same definition, and that the same text and hash."""
    text = spec.to_json()
    again = ToolSpec.from_json(text)
    assert again == spec
    assert again.to_json() == text
    assert again.content_hash == spec.content_hash
    for one in fields(ToolSpec):
        assert repr(getattr(again, one.name)) == repr(getattr(spec, one.name)) or isinstance(
            getattr(spec, one.name), dict
        )


@settings(deadline=None, max_examples=50)
@given(st.dictionaries(TEXT, VALUES, min_size=2, max_size=5))
def test_the_order_of_keys_does_not_matter(metadata: dict[str, Any]) -> None:
    """Equal definitions have equal texts, whatever order their keys were given in."""
    turned = dict(reversed(metadata.items()))
    assert ToolSpec(name="a", metadata=metadata).to_json() == ToolSpec(name="a", metadata=turned).to_json()


@settings(deadline=None, max_examples=30)
@given(SPECS, SPECS)
def test_the_hash_tells_definitions_apart(one: ToolSpec, other: ToolSpec) -> None:
    """Different texts have different hashes, equal ones equal hashes."""
    assert (one.content_hash == other.content_hash) == (one.to_json() == other.to_json())


@settings(deadline=None, max_examples=200)
@given(
    st.text(max_size=40) | VALUES.map(json.dumps) | OBJECTS.map(lambda one: json.dumps({"v": 1, "name": "a", **one}))
)
def test_any_text_reads_or_is_refused(text: str) -> None:
    """No text makes anything but a definition or InvalidTool."""
    try:
        spec = ToolSpec.from_json(text)
    except (InvalidTool, LimitExceeded):
        return
    assert ToolSpec.from_json(spec.to_json()) == spec


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{",
        "[" * 100_000,
        '{"name": "a"}',
        '{"v": 2, "name": "a"}',
        '{"v": 1}',
        '{"v": 1, "name": 3}',
        '{"v": 1, "name": "a", "tags": "b"}',
        '{"v": 1, "name": "a", "colour": "b"}',
        '{"v": 1, "name": "a", "search": "sometimes"}',
        '{"v": 1, "name": "a", "returns": []}',
        '{"v": 1, "name": "a", "metadata": {"x": NaN}}',
    ],
)
def test_text_that_is_no_definition_is_refused(text: str) -> None:
    """Broken JSON, other versions, unknown fields and wrong values are one kind of error."""
    with pytest.raises(InvalidTool):
        ToolSpec.from_json(text).to_json()


def test_the_id_is_namespace_and_name() -> None:
    """Unless one is given; a copy with a new name gets a new id."""
    spec = ToolSpec(name="b", namespace="a")
    assert spec.id == "a/b"
    assert ToolSpec(name="b").id == "b"
    assert ToolSpec(name="b", namespace="a", id="z").id == "z"
    assert spec.with_(name="c").id == "a/c"
    assert spec.with_(description="c").id == "a/b"


def test_a_pydantic_model_may_be_the_parameters() -> None:
    """`parameters=Model` becomes its JSON Schema."""

    class Arguments(BaseModel):
        city: str = Field(description="where")

    schema = ToolSpec(name="weather", parameters=Arguments, metadata={"x": 1}).parameters  # type: ignore[arg-type]
    assert schema["properties"]["city"]["description"] == "where"
    assert schema["required"] == ["city"]


def test_a_definition_is_frozen() -> None:
    """Neither the fields nor the values that were passed in can change it."""
    tags, metadata = ["a"], {"x": [1]}
    spec = ToolSpec(name="a", tags=tags, metadata=metadata)  # type: ignore[arg-type]
    tags.append("b")
    metadata["x"].append(2)
    assert (spec.tags, spec.metadata) == (("a",), {"x": [1]})
    with pytest.raises(FrozenInstanceError):
        spec.name = "b"  # type: ignore[misc]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("name", ""),
        ("name", " \n"),
        ("name", None),
        ("description", 3),
        ("title", 3),
        ("tags", "a"),
        ("tags", [1]),
        ("groups", {"a": 1}),
        ("parameters", []),
        ("parameters", {1: 2}),
        ("output_schema", "x"),
        ("metadata", None),
        ("search", "sometimes"),
        ("returns", 3),
        ("id", 3),
    ],
)
def test_a_wrong_field_is_refused(field: str, value: Any) -> None:
    """The error names the field."""
    with pytest.raises(InvalidTool, match=field):
        ToolSpec(**{"name": "a", field: value})


@pytest.mark.parametrize("value", [object(), {1, 2}, float("nan"), float("inf"), b"a", "\ud800"], ids=repr)
def test_a_value_that_json_cannot_hold_is_refused(value: Any) -> None:
    """The text of a definition is strict JSON in UTF-8."""
    with pytest.raises(InvalidTool, match="JSON"):
        ToolSpec(name="a", metadata={"x": value}).to_json()


def test_a_definition_nested_too_deeply_is_refused() -> None:
    """The bound holds before anything recurses."""
    value: Any = {}
    for _ in range(10_000):
        value = {"properties": value}
    with pytest.raises(LimitExceeded, match=str(MAX_DEPTH)):
        ToolSpec(name="a", parameters=value)


def test_a_definition_too_large_is_refused() -> None:
    """A description of 10 MB does not get into a catalog."""
    with pytest.raises(LimitExceeded, match="1000000"):
        ToolSpec(name="a", description="x" * 10_000_000).to_json()


def test_canonical_text_is_sorted_and_compact() -> None:
    """Sorted keys, no spaces, text as it is."""
    assert canonical({"b": 1, "a": "é"}, what="it") == '{"a":"é","b":1}'


def test_a_tool_is_a_definition_and_an_executor() -> None:
    """The executor is kept apart and may be missing."""
    assert Tool(ToolSpec(name="a")).execute is None
