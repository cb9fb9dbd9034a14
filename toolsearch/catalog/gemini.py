"""Gemini: `{name, description, parametersJsonSchema}` inside `functionDeclarations`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from toolsearch.catalog.definitions import described, spec_of
from toolsearch.catalog.names import exposed_name
from toolsearch.catalog.schema import repair
from toolsearch.catalog.schema_walk import rewritten
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
    return rewritten(schema, lambda body, _: _plain(cast(Json, body)) if isinstance(body, dict) else body)


def _plain(given: Json) -> Json:
    body: Json = {key: item for key, item in given.items() if key != "nullable"}
    kind = body.get("type")
    if isinstance(kind, str):
        body["type"] = [kind.lower(), "null"] if given.get("nullable") is True else kind.lower()
    return body
