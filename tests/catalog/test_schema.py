"""Schemas leave for a provider in its normal form, whatever came in, and a report says what was changed."""

from __future__ import annotations

from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolsearch.catalog.schema import FORMS, repair
from toolsearch.catalog.schema_walk import subschemas
from toolsearch.errors import InvalidInput, InvalidTool, LimitExceeded

KEYWORDS = st.sampled_from(
    ["type", "properties", "required", "oneOf", "anyOf", "allOf", "$ref", "$defs", "definitions", "items", "enum",
     "additionalProperties", "const", "not", "if", "dependentSchemas", "prefixItems", "minimum", "exclusiveMinimum",
     "$anchor", "pattern", "default", "description", "a", "b"]
)  # fmt: skip
VALUES = st.recursive(
    st.sampled_from(
        [None, True, False, 0, 1.5, "x", "#", "#/properties/a", "#/$defs/a", "object", "array", "dict", "any", [], {},
         ["string", "null"], ["a"], [1], [{}], [{"required": ["a"]}], {"type": "string"}, {"$ref": "#/$defs/a"}]
    ),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(KEYWORDS, inner, max_size=3),
    max_leaves=8,
)  # fmt: skip


def only(schema: Any, provider: str = "openai") -> Any:
    """The repaired schema of the property `a`."""
    return repair({"type": "object", "properties": {"a": schema}}, provider).schema["properties"]["a"]


@settings(max_examples=150, deadline=None)
@given(st.dictionaries(KEYWORDS, VALUES, max_size=5), st.sampled_from(sorted(FORMS)))
def test_any_json_is_refused_or_becomes_valid(schema: dict[str, Any], provider: str) -> None:
    """No value raises anything but our errors, and what comes out is valid for draft 2020-12 with an object root."""
    try:
        out = repair(schema, provider).schema
    except InvalidInput:
        return
    jsonschema.Draft202012Validator.check_schema(out)
    assert out["type"] == "object"
    assert isinstance(out["properties"], dict)


@settings(max_examples=80, deadline=None)
@given(st.dictionaries(KEYWORDS, VALUES, max_size=5), st.sampled_from(sorted(FORMS)))
def test_repairing_again_changes_nothing(schema: dict[str, Any], provider: str) -> None:
    """The normal form is a fixed point."""
    try:
        out = repair(schema, provider).schema
    except InvalidInput:
        return
    assert repair(out, provider).schema == out


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ({"type": "dict"}, {"type": "object"}),
        ({"type": ["str", "none"]}, {"type": ["string", "null"]}),
        ({"type": "any"}, {}),
        ({"type": "string", "required": True}, {"type": "string"}),
        ({"minimum": 1, "exclusiveMinimum": True}, {"exclusiveMinimum": 1}),
        ({"minimum": 1, "exclusiveMinimum": False}, {"minimum": 1}),
        ({"type": "array", "items": [{"type": "string"}], "additionalItems": False},
         {"type": "array", "prefixItems": [{"type": "string"}], "items": {"not": {}}}),
        ({"type": "array"}, {"type": "array", "items": {}}),
        ({"anyOf": []}, {}),
        ({"minLength": -1, "pattern": 3, "enum": "x"}, {}),
        (True, {}),
        (False, {"not": {}}),
        ({"$ref": "#/properties/a/items", "type": "array", "items": {"$anchor": "x", "type": "string"}},
         {"$ref": "#/$defs/items", "type": "array", "items": {"type": "string"}}),
    ],
)  # fmt: skip
def test_malformed_and_older_keywords(given: Any, wanted: Any) -> None:
    """Older drafts are rewritten, other words for types are understood, values of the wrong kind are left out."""
    assert only(given) == wanted


def test_the_report_says_what_was_changed() -> None:
    """Each kind of change is one sentence; a schema in order has none."""
    assert repair({"type": "object", "properties": {"a": {"type": "string"}}}, "openai").changes == ()
    said = repair({"properties": {"a": {"type": "dict"}, "b": True}, "required": ["ghost"]}, "openai").changes
    assert said == (
        "types renamed",
        "root type added",
        "boolean schemas written out",
        "required names without a property removed",
    )


NODE = {"type": "object", "properties": {"next": {"$ref": "#/$defs/Node"}}}


def test_recursion_is_kept_or_bounded() -> None:
    """References stay where a provider takes them, and end after a few rounds where it does not."""
    schema = {"type": "object", "properties": {"n": {"$ref": "#/$defs/Node"}}, "$defs": {"Node": NODE}}
    assert repair(schema, "openai").schema["$defs"]["Node"] == NODE
    out = repair(schema, "gemini").schema
    assert not any("$ref" in one for one in subschemas(out))
    assert sum(1 for _ in subschemas(out)) < 20


def test_a_reference_bomb_is_refused() -> None:
    """Definitions that double at each level end at the bound instead of filling the memory."""
    defs: dict[str, Any] = {
        f"d{i}": {"type": "object", "properties": {key: {"$ref": f"#/$defs/d{i + 1}"} for key in "abcdefgh"}}
        for i in range(12)
    }
    schema = {"type": "object", "properties": {"a": {"$ref": "#/$defs/d0"}}, "$defs": {**defs, "d12": {}}}
    with pytest.raises(LimitExceeded):
        repair(schema, "gemini")
    assert len(repair(schema, "openai").schema["$defs"]) == 13


@pytest.mark.parametrize("reference", ["https://other.example/x.json", "x.json#/a", "#/$defs/none", "#nowhere"])
def test_remote_and_dangling_references(reference: str) -> None:
    """Nothing is fetched; the error names the reference."""
    with pytest.raises(InvalidTool, match="reference"):
        repair({"type": "object", "properties": {"a": {"$ref": reference}}}, "openai")


def test_references_by_anchor() -> None:
    """A named place in the schema is found."""
    schema = {
        "type": "object",
        "properties": {"a": {"$ref": "#pos"}},
        "$defs": {"P": {"$anchor": "pos", "type": "integer"}},
    }
    assert repair(schema, "gemini").schema["properties"]["a"] == {"type": "integer"}


def test_gemini_splits_types_and_keeps_null() -> None:
    """Items travel with the array branch, an enum with the text branch."""
    assert only({"type": ["array", "null"], "items": {"type": "string"}}, "gemini") == {
        "anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "null"}]
    }
    assert only({"type": ["string", "null"], "enum": ["a", None]}, "gemini") == {
        "anyOf": [{"type": "string", "enum": ["a"]}, {"type": "null"}]
    }


def test_property_names_are_not_keywords() -> None:
    """Parameters called like keywords stay as they are."""
    names = {"type": {"type": "string"}, "required": {"type": "integer"}, "items": {}, "$ref": {"type": "string"}}
    out = repair({"type": "object", "properties": names, "required": ["type"]}, "openai").schema
    assert out["properties"] == names
    assert out["required"] == ["type"]


@pytest.mark.parametrize("provider", sorted(FORMS))
def test_a_long_chain_of_definitions(provider: str) -> None:
    """Hundreds of types that refer from one to the next overflow nothing; written out, they end somewhere."""
    links = {f"d{n}": {"properties": {"x": {"$ref": f"#/$defs/d{n + 1}"}}} for n in range(400)}
    schema = {"type": "object", "properties": {"a": {"$ref": "#/$defs/d0"}}, "$defs": {**links, "d400": {}}}
    done = repair(schema, provider).schema
    assert len(done.get("$defs", ())) in (0, 401)
    assert "properties" in done["properties"]["a"] or done["properties"]["a"]["$ref"] == "#/$defs/d0"


def test_many_references_that_lead_astray_are_looked_for_once() -> None:
    """Two thousand definitions at the wrong place, and names that are alike, cost one walk and not one each."""
    many = range(2_000)
    astray = {"properties": {"s": {"definitions": {f"d{n}": {"x": {}} for n in many}}}}
    fill = {f"f{n}": {} for n in range(10_000)}
    named = {f"p{n}": {"$ref": f"#/definitions/d{n}"} for n in many}
    alike = {f"n{n}": {"$ref": f"#/$defs/d{n}/x"} for n in many}
    schema = {"properties": {**fill, **named, "q": astray, **alike}, "$defs": {f"d{n}": {"x": {}} for n in many}}
    assert len(repair(schema, "openai").schema["$defs"]) == 4_000


def test_alternatives_by_reference_keep_their_own_required() -> None:
    """What the root requires is added to the rule of the alternatives and does not replace it."""
    kinds = {name: {"properties": {name: {}}, "required": [name]} for name in ("a", "b")}
    schema = {"required": ["c"], "oneOf": [{"$ref": f"#/$defs/{name}"} for name in kinds], "$defs": kinds}
    assert repair(schema, "openai").rules == ("Give exactly one of: (a) or (b).",)


def test_a_vendors_extension_is_no_schema() -> None:
    """A reference in it is not followed."""
    assert only({"type": "string", "x-examples": {"$ref": "./a.json"}})["type"] == "string"
