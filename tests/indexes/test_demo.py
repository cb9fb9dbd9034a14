"""The demo catalog and its judged requests keep their promises."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import jsonschema
import pytest

from toolsearch.evaluation.judged import read_queries
from toolsearch.testing.simulators import run
from toolsearch.tool import ToolSpec

DEMO = Path(__file__).parent.parent.parent / "indexes" / "demo"
LINES = [line for file in sorted((DEMO / "tools").glob("*.jsonl")) for line in file.read_text("utf-8").splitlines()]
TOOLS = [ToolSpec.from_json(line) for line in LINES]
QUERIES = read_queries(DEMO / "requests.jsonl")


def example(schema: dict[str, object]) -> object:
    """A value that fits a parameter's schema, as far as the demo's schemas go."""
    if "enum" in schema:
        return schema["enum"][0]  # type: ignore[index]
    kind = schema.get("type")
    if kind == "object":
        properties: dict[str, dict[str, object]] = schema.get("properties", {})  # type: ignore[assignment]
        return {name: example(body) for name, body in properties.items()}
    if kind == "array":
        return [example(schema["items"])]  # type: ignore[arg-type]
    return {"string": "x_1", "integer": 2, "number": 1.5, "boolean": True}[str(kind)]


def test_the_catalog_is_large_and_varied() -> None:
    """Enough tools and namespaces, distinct ids, names shared by namespaces, groups."""
    assert len(TOOLS) >= 300
    assert len({tool.namespace for tool in TOOLS}) >= 25
    assert len({tool.id for tool in TOOLS}) == len(TOOLS)
    assert max(Counter(tool.name for tool in TOOLS).values()) > 1
    assert any(tool.groups for tool in TOOLS)


def test_schemas_are_valid() -> None:
    """Every parameter schema is JSON Schema 2020-12."""
    for tool in TOOLS:
        jsonschema.Draft202012Validator.check_schema(tool.parameters)


def test_requests_are_judged_and_split() -> None:
    """Every right tool exists, kinds and languages are many, and both halves hold them."""
    known = {tool.id for tool in TOOLS}
    assert all(set(query.relevant) <= known for query in QUERIES)
    assert len(QUERIES) >= 400
    assert len({query.query for query in QUERIES}) == len(QUERIES)
    assert {query.lang for query in QUERIES} >= {"en", "zh", "de", "es", "ja", "ko", "ru", "th", "ar", "fr", "pt"}
    halves = Counter(query.split for query in QUERIES)
    assert set(halves) == {"development", "test"}
    assert abs(halves["development"] - halves["test"]) <= 20


def test_only_unanswerable_kinds_have_no_tool() -> None:
    """A request without a right tool says so by its kind."""
    for query in QUERIES:
        assert query.answerable != query.kind.startswith("unanswerable")


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.id)
def test_every_tool_can_be_called(tool: ToolSpec) -> None:
    """Its simulator takes arguments that fit the schema and answers the same JSON twice."""
    arguments = example(tool.parameters)
    jsonschema.validate(arguments, tool.parameters)
    call = run.for_tool(tool)
    first = call(arguments, None)
    assert json.dumps(first) == json.dumps(call(arguments, None))
    assert first


def test_other_arguments_give_other_results() -> None:
    """A simulator depends on what it is asked."""
    call = run.for_tool(next(tool for tool in TOOLS if tool.id == "payments/refund_payment"))
    assert call({"payment_id": "pay_1"}) != call({"payment_id": "pay_2"})
    assert call({"payment_id": "pay_1"})["payment_id"] == "pay_1"
