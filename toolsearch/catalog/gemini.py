"""Gemini: `{name, description, parametersJsonSchema}` inside `functionDeclarations`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from toolsearch.catalog.definitions import described, spec_of
from toolsearch.catalog.names import exposed_name
from toolsearch.catalog.schema import repair
from toolsearch.tool import Json, ToolSpec


def from_gemini(body: Mapping[str, Any]) -> ToolSpec:
    """The tool of one function declaration, with either kind of schema.

    Raises:
        InvalidInput: it is no such declaration.
    """
    schema = body.get("parametersJsonSchema", body.get("parameters_json_schema"))
    return spec_of(body, _lowered(body.get("parameters")) if schema is None else schema)


def to_gemini(spec: ToolSpec) -> Json:
    """One function declaration.

    Raises:
        InvalidTool: its schema cannot be repaired for this provider.
    """
    repaired = repair(spec.parameters, "gemini")
    name = exposed_name(spec.id, "gemini")
    return {"name": name, "description": described(spec, repaired), "parametersJsonSchema": repaired.schema}


def _lowered(schema: Any) -> Any:
    """The OpenAPI subset as JSON Schema: `STRING` is `string`, `nullable` adds null."""
    if isinstance(schema, list):
        return [_lowered(one) for one in cast("list[Any]", schema)]
    if not isinstance(schema, dict):
        return schema
    body: Json = {key: _lowered(item) for key, item in cast(Json, schema).items() if key != "nullable"}
    kind = body.get("type")
    if isinstance(kind, str):
        body["type"] = [kind.lower(), "null"] if cast(Json, schema).get("nullable") is True else kind.lower()
    return body
