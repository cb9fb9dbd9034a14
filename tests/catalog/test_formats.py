"""Definitions go out to every vendor and come back; what goes out is legal by the vendors' own types."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings

from tests.catalog.schemas import NAMES, ROOTS
from toolsearch.catalog.anthropic import from_anthropic, to_anthropic
from toolsearch.catalog.documents import from_definition
from toolsearch.catalog.gemini import from_gemini, to_gemini
from toolsearch.catalog.mcp import from_listing, from_mcp, to_mcp
from toolsearch.catalog.names import rule_of
from toolsearch.catalog.ollama import from_ollama, to_ollama
from toolsearch.catalog.openai_chat import from_openai, to_openai
from toolsearch.catalog.openai_responses import from_responses, to_responses
from toolsearch.catalog.sources import load
from toolsearch.errors import InvalidSource, InvalidTool
from toolsearch.tool import Json, SearchBehavior, ToolSpec

FORMATS: dict[str, tuple[Callable[[Mapping[str, Any]], ToolSpec], Callable[[ToolSpec], Json]]] = {
    "openai": (from_openai, to_openai),
    "responses": (from_responses, to_responses),
    "anthropic": (from_anthropic, to_anthropic),
    "gemini": (from_gemini, to_gemini),
    "ollama": (from_ollama, to_ollama),
    "mcp": (from_mcp, to_mcp),
}
each_format = pytest.mark.parametrize("form", FORMATS)


def schema_of(body: Json) -> Json:
    """Where a definition keeps its schema."""
    inner = body.get("function", body)
    keys = ("parameters", "input_schema", "inputSchema", "parametersJsonSchema")
    return next(inner[key] for key in keys if key in inner)


def nodes(value: Any) -> list[Any]:
    """Every object inside a JSON value."""
    if isinstance(value, dict):
        return [value, *(found for item in value.values() for found in nodes(item))]
    return [found for item in value for found in nodes(item)] if isinstance(value, list) else []


@each_format
@settings(max_examples=25, deadline=None)
@given(NAMES, ROOTS)
def test_definitions_round_trip(form: str, name: str, schema: Json) -> None:
    """A tool that went out and came back goes out the same again, and keeps name and description."""
    read, write = FORMATS[form]
    out = write(ToolSpec(name=name, description="Does it", parameters=schema))
    back = read(out)
    assert back.name == name
    assert back.description.startswith("Does it")
    assert schema_of(write(back)) == schema_of(out)
    assert from_definition(out) == back


@each_format
@settings(max_examples=25, deadline=None)
@given(ROOTS)
def test_what_goes_out_is_legal(form: str, schema: Json) -> None:
    """The root is an object without combinators, every reference resolves, required names exist, arrays have items."""
    out = schema_of(FORMATS[form][1](ToolSpec(name="x", parameters=schema)))
    jsonschema.Draft202012Validator.check_schema(out)
    assert out["type"] == "object"
    assert not {"oneOf", "anyOf", "allOf"} & set(out)
    assert set(out.get("required", [])) <= set(out["properties"])
    for node in nodes(out):
        if isinstance(node.get("$ref"), str):
            assert node["$ref"].removeprefix("#/$defs/") in out["$defs"]
        if node.get("type") == "array":
            assert "items" in node
        if form == "gemini":
            assert not isinstance(node.get("type"), list)
            assert "$ref" not in node


def test_vendors_types_accept_what_goes_out() -> None:
    """The SDKs' own types take a tool with nested, nullable and recursive parameters."""
    pydantic = pytest.importorskip("pydantic")
    schema = {"properties": {"a": {"type": ["string", "null"]}, "n": {"$ref": "#/$defs/N"}},
              "$defs": {"N": {"type": "object", "properties": {"n": {"$ref": "#/$defs/N"}}}}}  # fmt: skip
    spec = ToolSpec(name="x", namespace="a", description="d", parameters=schema)
    openai = pytest.importorskip("openai.types.chat")
    pydantic.TypeAdapter(openai.ChatCompletionFunctionToolParam).validate_python(to_openai(spec))
    responses = pytest.importorskip("openai.types.responses")
    pydantic.TypeAdapter(responses.FunctionToolParam).validate_python(to_responses(spec))
    anthropic = pytest.importorskip("anthropic.types")
    pydantic.TypeAdapter(anthropic.ToolParam).validate_python(to_anthropic(spec))
    gemini = pytest.importorskip("google.genai.types")
    gemini.FunctionDeclaration.model_validate(to_gemini(spec))
    pytest.importorskip("ollama").Tool.model_validate(to_ollama(spec))
    pytest.importorskip("mcp_types").Tool.model_validate(to_mcp(spec))


def test_namespaced_tools_of_equal_name_have_two_names() -> None:
    """Both tools can be told apart by every provider."""
    for _, write in FORMATS.values():
        written = [write(ToolSpec(name="send", namespace=server)) for server in ("a", "b")]
        first, second = (body.get("function", body)["name"] for body in written)
        assert first != second


def test_root_rule_is_told_in_words() -> None:
    """A rule that no provider's schema can say goes into the description."""
    schema = {"type": "object", "properties": {"a": {}, "b": {}}, "oneOf": [{"required": ["a"]}, {"required": ["b"]}]}
    assert "exactly one of: (a) or (b)" in to_anthropic(ToolSpec(name="x", parameters=schema))["description"]


def test_mcp_keeps_what_only_it_knows() -> None:
    """Title, output schema, annotations and _meta survive; a flag makes the tool always visible; a hint is an alias."""
    body = {"name": "n", "title": "N", "description": "d", "inputSchema": {"type": "object", "properties": {}},
            "outputSchema": {"type": "object"}, "annotations": {"readOnlyHint": True},
            "_meta": {"anthropic/alwaysLoad": True, "anthropic/searchHint": "other word"}}  # fmt: skip
    spec = from_mcp(body, "srv")
    assert (spec.id, spec.source, spec.aliases) == ("srv/n", "mcp:srv", ("other word",))
    assert spec.search is SearchBehavior.ALWAYS_VISIBLE
    assert to_mcp(spec.with_(namespace="")) == body


BAD = [
    {"name": "no_schema"},
    {"name": "null_schema", "inputSchema": None},
    {"name": "list_schema", "inputSchema": []},
    {"name": "root_string", "inputSchema": {"type": "string"}},
    {"description": "nameless", "inputSchema": {"type": "object"}},
    {"name": "", "inputSchema": {"type": "object"}},
    {"name": 42, "inputSchema": {"type": "object"}},
    "just text",
    {"name": "deep", "inputSchema": json.loads('{"a":' * 200 + "{}" + "}" * 200)},
]


@pytest.mark.parametrize("bad", BAD, ids=range(len(BAD)))
def test_one_bad_tool_never_loses_the_others(bad: Any) -> None:
    """Nine good tools are there, the bad one is a problem with a reason."""
    good = [{"name": f"good_{i}", "inputSchema": {"type": "object"}} for i in range(9)]
    specs, problems = from_listing([*good[:4], bad, *good[4:]], "srv")
    assert len(specs) == 9
    assert [problem.where for problem in problems] == ["srv tool 4"]
    assert problems[0].reason


def test_gemini_subset_is_read() -> None:
    """Upper-case types and `nullable` become JSON Schema."""
    body = {"name": "x", "parameters": {"type": "OBJECT", "properties": {"a": {"type": "STRING", "nullable": True}}}}
    spec = from_gemini(body)
    assert spec.parameters == {"type": "object", "properties": {"a": {"type": ["string", "null"]}}}


def test_gemini_parameter_may_be_called_nullable() -> None:
    """Names of parameters are no keywords of the subset."""
    schema = {"type": "OBJECT", "properties": {"nullable": {"type": "BOOLEAN", "nullable": True}}}
    spec = from_gemini({"name": "add_column", "parameters": schema})
    assert spec.parameters == {"type": "object", "properties": {"nullable": {"type": ["boolean", "null"]}}}


def test_documents_of_any_vendor(tmp_path: Path) -> None:
    """Lists, listings and declarations are recognised by their shape."""
    spec = ToolSpec(name="x", description="d")
    bodies: list[Any] = [
        [write(spec) for _, write in [FORMATS["openai"]]],
        {"tools": [to_mcp(spec)]},
        [{"functionDeclarations": [to_gemini(spec)]}],
        to_anthropic(spec),
        {"tools": [{"name": "x", "description": "d", "parameters": {"type": "object"}}]},
    ]
    for number, body in enumerate(bodies):
        path = tmp_path / f"{number}.json"
        path.write_text(json.dumps(body))
        assert [tool.spec.name for tool in load(path).tools] == ["x"]


@pytest.mark.parametrize("text", ["{}", '{"a": 1}', "3", '{"tools": 3}', "{nope"])
def test_other_documents_are_refused(tmp_path: Path, text: str) -> None:
    """What holds no tools says so."""
    (tmp_path / "x.json").write_text(text)
    with pytest.raises(InvalidSource, match=r"x\.json"):
        load(tmp_path / "x.json")


def test_dangling_references_flag_only_their_tool() -> None:
    """The way out refuses the one tool and names the reference."""
    with pytest.raises(InvalidTool, match="Missing"):
        to_openai(ToolSpec(name="x", parameters={"type": "object", "properties": {"a": {"$ref": "#/$defs/Missing"}}}))


@settings(max_examples=60, deadline=None)
@given(NAMES)
def test_written_names_follow_the_rules(name: str) -> None:
    """Whatever the id, the exposed name is legal for the provider."""
    for form, (_, write) in FORMATS.items():
        body = write(ToolSpec(name=f"{name}. /{name * 20}é", namespace="серверы"))
        provider = "openai" if form == "responses" else form
        assert rule_of(provider).takes(body.get("function", body)["name"])
