"""OpenAPI documents become tools: stable names, merged arguments, local references only."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolsearch.catalog.openapi import tools_from_openapi
from toolsearch.catalog.openapi_names import Place, operation_names
from toolsearch.catalog.sources import load
from toolsearch.errors import InvalidSource


def document(paths: Any, **more: Any) -> dict[str, Any]:
    """A small document."""
    return {"openapi": "3.0.3", "info": {"title": "The Boat Yard API", "version": "1"}, "paths": paths, **more}


def one(operation: Any, path: str = "/boats/{id}", **more: Any) -> Any:
    """The tool of the only operation."""
    return tools_from_openapi(document({path: {"post": operation}}, **more))[0]


def test_names_without_operation_ids() -> None:
    """Method and path give names that people can tell apart, though all summaries are equal."""
    paths = {f"/api/{noun}/": {"get": {"summary": "List."}, "post": {"summary": "Add."}} for noun in ("boats", "oars")}
    tools = tools_from_openapi(document({**paths, "/api/boats/{boat_id}/crew": {"get": {}}}))
    assert [tool.id for tool in tools] == [
        "boat_yard/get_api_boats",
        "boat_yard/post_api_boats",
        "boat_yard/get_api_oars",
        "boat_yard/post_api_oars",
        "boat_yard/get_api_boats_by_boat_id_crew",
    ]
    assert tools[-1].description == "GET /api/boats/{boat_id}/crew"


SEGMENTS = st.sampled_from(["boats", "oars", "{id}", "by_id", "a-b", "a_b", "a", "b", "é"])
PLACES = st.lists(
    st.builds(
        lambda method, parts, given: Place(method=method, path="/" + "/".join(parts), operation_id=given),
        st.sampled_from(["get", "post"]),
        st.lists(SEGMENTS, max_size=3),
        st.sampled_from(["", "", "list/all", "x"]),
    ),
    unique_by=lambda place: (place.method, place.path),
    max_size=12,
)


@settings(max_examples=100, deadline=None)
@given(PLACES)
def test_names_are_unique_and_stable(places: list[Place]) -> None:
    """Every operation has its own name, in any order, and one more operation changes only a name that clashes."""
    names = operation_names(places)
    assert len(set(names.values())) == len(places)
    assert operation_names(reversed(places)) == names
    fewer = operation_names(places[1:])
    assert all(
        names[place] == name or names[place].startswith(name) or place.operation_id for place, name in fewer.items()
    )


def test_parameters_and_body_are_merged() -> None:
    """Path, query, header and body properties in one object; clashes are told apart and led back by the metadata."""
    tool = one(
        {
            "operationId": "boats/move",
            "summary": "Move a boat",
            "deprecated": True,
            "tags": ["yard"],
            "parameters": [
                {"name": "id", "in": "path", "required": True, "schema": {"type": "integer"}},
                {"name": "filter[dry]", "in": "query", "description": "only dry ones", "schema": {"type": "boolean"}},
                {"name": "X-Trace", "in": "header", "schema": {"type": "string"}},
                {"name": "Authorization", "in": "header", "schema": {"type": "string"}},
                {"name": "sid", "in": "cookie", "schema": {"type": "string"}},
            ],
            "requestBody": {
                "required": True,
                "content": {
                    "text/plain": {"schema": {"type": "string"}},
                    "application/json": {"schema": {"$ref": "#/components/schemas/Move"}},
                },
            },
        },
        components={
            "schemas": {
                "Move": {
                    "type": "object",
                    "required": ["berth", "made"],
                    "properties": {
                        "id": {"type": "string", "nullable": True},
                        "berth": {"$ref": "#/components/schemas/Berth"},
                        "made": {"type": "string", "readOnly": True},
                    },
                },
                "Berth": {
                    "type": "object",
                    "properties": {"row": {"type": "integer", "minimum": 0, "exclusiveMinimum": True}},
                },
            }
        },
    )
    assert (tool.name, tool.tags, tool.annotations) == ("boats_move", ("yard", "deprecated"), {"readOnlyHint": False})
    properties = tool.parameters["properties"]
    assert list(properties) == ["id__path", "filter_dry", "X-Trace", "id", "berth"]
    assert properties["id"] == {"type": ["string", "null"]}
    assert properties["filter_dry"]["description"] == "only dry ones"
    assert tool.parameters["required"] == ["id__path", "berth"]
    assert tool.metadata["openapi"]["arguments"]["id__path"] == {"in": "path", "name": "id"}
    assert tool.metadata["openapi"]["arguments"]["filter_dry"] == {"in": "query", "name": "filter[dry]"}
    assert tool.metadata["openapi"]["content"] == "application/json"
    jsonschema.Draft202012Validator(tool.parameters).validate({"id__path": 1, "berth": {"row": 1}})


def test_bodies_that_are_no_plain_objects() -> None:
    """A list, a union or an open object is one argument."""
    for schema in ({"type": "array", "items": {}}, {"oneOf": [{"type": "object"}]}, {"type": "object"}):
        tool = one({"requestBody": {"content": {"application/json": {"schema": schema}}}})
        assert list(tool.parameters["properties"]) == ["body"]
        assert tool.metadata["openapi"]["arguments"]["body"]["whole"] is True


def test_parameters_of_the_path_are_inherited_and_replaced() -> None:
    """An operation's own parameter replaces the path's of the same name and place."""
    paths = {
        "/b/{id}": {
            "parameters": [
                {"name": "id", "in": "path", "required": True, "schema": {"type": "string"}},
                {"$ref": "#/components/parameters/Page"},
            ],
            "get": {"parameters": [{"name": "id", "in": "path", "required": True, "schema": {"type": "integer"}}]},
        }
    }
    page = {"name": "page", "in": "query", "schema": {"type": "integer"}, "example": 2}
    tool = tools_from_openapi(document(paths, components={"parameters": {"Page": page}}))[0]
    assert tool.parameters["properties"] == {"id": {"type": "integer"}, "page": {"type": "integer", "examples": [2]}}


def test_recursive_components_stay_references() -> None:
    """What an operation needs is carried along, the rest is not."""
    schemas = {
        "Tree": {
            "type": "object",
            "properties": {"kids": {"type": "array", "items": {"$ref": "#/components/schemas/Tree"}}},
        },
        "Other": {},
    }
    body = {
        "content": {
            "application/json": {
                "schema": {"type": "object", "properties": {"t": {"$ref": "#/components/schemas/Tree"}}}
            }
        }
    }
    tool = one({"requestBody": body}, components={"schemas": schemas})
    assert list(tool.parameters["$defs"]) == ["Tree"]
    assert tool.parameters["properties"]["t"] == {"$ref": "#/$defs/Tree"}


BROKEN: dict[str, Any] = {
    "remote reference": {"parameters": [{"$ref": "https://other.example/p.json"}]},
    "circle": {"parameters": [{"$ref": "#/components/parameters/A"}]},
    "no name": {"parameters": [{"in": "query"}]},
    "not a list": {"parameters": {"a": 1}},
    "dangling": {
        "requestBody": {"content": {"application/json": {"schema": {"type": "array", "items": {"$ref": "#/x"}}}}}
    },
}


@pytest.mark.parametrize("kind", BROKEN)
def test_one_broken_operation_never_loses_the_others(kind: str, tmp_path: Path) -> None:
    """The problem names method and path."""
    circle = {"parameters": {"A": {"$ref": "#/components/parameters/A"}}}
    path = tmp_path / "yard.json"
    path.write_text(
        json.dumps(document({"/a": {"get": {}}, "/b": {"get": BROKEN[kind]}, "/c": {"get": {}}}, components=circle))
    )
    found = load(path, keep_going=True)
    assert [tool.spec.name for tool in found.tools] == ["get_a", "get_c"]
    assert [problem.where for problem in found.problems] == ["yard.json GET /b"]
    with pytest.raises(InvalidSource, match="GET /b"):
        load(path)


def test_other_versions_are_refused() -> None:
    """Swagger 2 and documents without paths say so."""
    with pytest.raises(InvalidSource, match=r"OpenAPI 2\.0"):
        tools_from_openapi({"swagger": "2.0", "paths": {}})
    with pytest.raises(InvalidSource, match="no paths"):
        tools_from_openapi({"openapi": "3.1.0"})


def test_a_schema_that_draws_in_too_much_is_cut() -> None:
    """A body with a component graph beyond the bound keeps its names."""
    wide = {
        f"s{i}": {
            "type": "object",
            "properties": {f"p{j}": {"type": "string"} for j in range(600)}
            | {"n": {"$ref": f"#/components/schemas/s{i + 1}"}},
        }
        for i in range(99)
    }
    body = {
        "content": {
            "application/json": {"schema": {"type": "object", "properties": {"n": {"$ref": "#/components/schemas/s0"}}}}
        }
    }
    tool = one({"requestBody": body}, components={"schemas": {**wide, "s99": {}}})
    assert tool.parameters["properties"]["n"] == {"type": "object", "description": "a s0"}


def test_components_that_are_nested_without_end_are_cut() -> None:
    """A document deeper than any tool may be loses the depth, and not the build."""
    deep: Any = {"type": "string"}
    for _ in range(400):
        deep = {"type": "object", "properties": {"x": deep}}
    body = {"content": {"application/json": {"schema": {"properties": {"a": {"$ref": "#/components/schemas/deep"}}}}}}
    tool = one({"requestBody": body}, "/boats", components={"schemas": {"deep": deep}})
    assert tool.parameters["properties"] == {"a": {"type": "object", "description": "a deep"}}


def test_deleting_is_marked() -> None:
    """So that an agent asks somebody before it does."""
    tools = tools_from_openapi(document({"/boats": {"delete": {}, "put": {}, "get": {}}}))
    assert [tool.annotations.get("destructiveHint") for tool in tools] == [True, None, None]
