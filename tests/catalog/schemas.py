"""Small JSON Schemas of many shapes, for property tests."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

NAMES = st.from_regex(r"[a-z](_?[a-z]){0,8}", fullmatch=True)
LEAVES: st.SearchStrategy[Any] = st.one_of(
    st.sampled_from([True, False, {}, {"type": "string"}, {"type": ["integer", "null"]}, {"type": "array"},
                     {"type": ["array", "null"], "items": {"type": "string"}}, {"$ref": "#/$defs/Node"},
                     {"enum": ["a", None]}, {"type": "object"}, {"type": "object", "properties": {}}]),
    st.builds(lambda text: {"type": "string", "description": text}, st.text(max_size=20)),
)  # fmt: skip


def _deeper(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.one_of(
        st.builds(lambda p: {"type": "object", "properties": p}, st.dictionaries(NAMES, inner, max_size=3)),
        st.builds(lambda i: {"type": "array", "items": i}, inner),
        st.builds(lambda m: {"anyOf": m}, st.lists(inner, min_size=1, max_size=3)),
    )


NODE = {"type": "object", "properties": {"next": {"$ref": "#/$defs/Node"}, "label": {"type": "string"}}}


def _root(properties: dict[str, Any], required: list[str], more: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": required, "$defs": {"Node": NODE}, **more}


ROOTS = st.builds(
    _root,
    st.dictionaries(NAMES, st.recursive(LEAVES, _deeper, max_leaves=6), max_size=4),
    st.lists(NAMES, max_size=2, unique=True),
    st.sampled_from(
        [{}, {"oneOf": [{"required": ["a"]}, {"required": ["b"]}]}, {"allOf": [{"properties": {"z": {}}}]}]
    ),
)
