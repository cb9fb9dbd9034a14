"""Arguments are checked by the tool's own schema, in bounded time, with answers in plain words."""

from __future__ import annotations

from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.catalog.schemas import ROOTS
from toolsearch.catalog.patterns import found, longest_text
from toolsearch.catalog.validation import check_arguments
from toolsearch.tool import ToolSpec


def told(schema: Any, arguments: Any) -> str:
    """All problems in one text."""
    return " | ".join(check_arguments(ToolSpec(name="x", parameters=schema), arguments))


def test_missing_unknown_and_wrong() -> None:
    """The lines name keys, and a near name is proposed."""
    schema = {
        "type": "object",
        "properties": {"query": {"type": "string"}, "k": {"type": "integer", "maximum": 5}},
        "required": ["query"],
    }
    assert told(schema, {"query": "a", "k": 3}) == ""
    assert told(schema, {"quary": "a"}) == "missing: query | unknown: 'quary', perhaps 'query'"
    assert told(schema, {"query": "a", "k": 9}) == "k: 9 is greater than the maximum of 5"
    assert told(schema, {"query": "a", "other": 1}) == ""
    assert "unknown: 'other'" in told({**schema, "additionalProperties": False}, {"query": "a", "other": 1})
    assert told(schema, ["a"]) == "the arguments must be an object, not list"


def test_rules_that_no_provider_is_told_still_count() -> None:
    """Alternatives at the root are checked on the original schema."""
    schema = {"type": "object", "properties": {"a": {}, "b": {}}, "oneOf": [{"required": ["a"]}, {"required": ["b"]}]}
    assert told(schema, {"a": 1}) == ""
    assert told(schema, {"a": 1, "b": 2}) != ""
    assert (
        told({"type": "object", "allOf": [{"required": ["x"]}, {"properties": {"y": {}}}]}, {"y": 1})
        == "missing: x | unknown: 'y'"
    )


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from(["a", "b"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("abz"), inner, max_size=2),
    max_leaves=5,
)


@settings(max_examples=80, deadline=None)
@given(ROOTS, st.dictionaries(st.sampled_from("abz"), VALUES, max_size=3))
def test_the_verdict_is_that_of_the_reference(schema: Any, arguments: Any) -> None:
    """Valid schemas are judged as jsonschema judges them."""
    wanted = jsonschema.Draft202012Validator(schema).is_valid(arguments)
    assert (check_arguments(ToolSpec(name="x", parameters=schema), arguments) == []) is wanted


@pytest.mark.parametrize(
    "pattern",
    [
        "(a+)+$",
        "(a|a)*$",
        "(a?a)*b",
        r"(.*)\1",
        "^(a*)*$",
        "(" * 600 + ")" * 600,
        "[",
        "a?" * 40 + "a" * 40,
        r"\p{L}",
        "x" * 2000,
    ],
)
def test_patterns_that_could_run_for_ever(pattern: str) -> None:
    """They are not tried; the argument passes."""
    assert longest_text(pattern) == 0
    assert (
        told({"type": "object", "properties": {"a": {"type": "string", "pattern": pattern}}}, {"a": "a" * 40 + "!"})
        == ""
    )
    schema = {"type": "object", "patternProperties": {pattern: {"type": "integer"}}, "additionalProperties": False}
    assert told(schema, {"a" * 40 + "!": "x"}) == ""


def test_other_patterns_are_tried_on_texts_of_their_length() -> None:
    """Ordinary patterns decide; side by side repetitions only on short texts."""
    assert found("^[a-z]+$", "abc")
    assert not found("^[a-z]+$", "ABC")
    assert not found(r"^[^@\s]+@[^@\s]+\.[a-z]{2,}$", "nobody")
    assert longest_text("a*b*c*d*") < 200
    assert found("a*b*c*d*e", "a" * 10_000)


def test_hostile_schemas_end() -> None:
    """Doubling references, circles and repeated evaluation stop at the bound; broken schemas say so."""
    doubling = {f"d{i}": {"allOf": [{"$ref": f"#/$defs/d{i + 1}"}] * 2} for i in range(60)}
    assert "steps" in told(
        {"type": "object", "$ref": "#/$defs/d0", "$defs": {**doubling, "d60": {"type": "object"}}}, {}
    )
    assert "too deep" in told({"type": "object", "$ref": "#"}, {})
    nested: Any = {"properties": {"a": {}}}
    for _ in range(20):
        nested = {"allOf": [nested], "unevaluatedProperties": False}
    assert "steps" in told({"type": "object", **nested}, {"a": 1})
    assert "leads nowhere" in told({"type": "object", "properties": {"a": {"$ref": "#/$defs/none"}}}, {})
    assert "outside" in told({"type": "object", "properties": {"a": {"$ref": "https://other.example/a"}}}, {})
    assert told({"type": "dict", "properties": {"a": {"type": "str"}}}, {"a": 3}).startswith("a: 3 is not of type")


def test_hostile_arguments_end() -> None:
    """Too many values, levels or letters in a key are refused before anything is checked."""
    deep: Any = {}
    for _ in range(100_000):
        deep = {"a": deep}
    for arguments in (deep, {"a": [0] * 30_000}, {"k" * 2000: 1}, {3: 1}):
        assert len(check_arguments(ToolSpec(name="x"), arguments)) == 1
    items = [{"n": number} for number in range(6_000)]
    assert told({"type": "object", "properties": {"a": {"uniqueItems": True}}}, {"a": items}) == ""
    assert "differ" in told({"type": "object", "properties": {"a": {"uniqueItems": True}}}, {"a": [*items, items[0]]})
