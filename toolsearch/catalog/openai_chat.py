"""OpenAI Chat Completions: `{"type": "function", "function": {name, description, parameters, strict}}`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from toolsearch.catalog.definitions import described, spec_of
from toolsearch.catalog.loaded import as_object
from toolsearch.catalog.names import exposed_name
from toolsearch.catalog.schema import repair
from toolsearch.tool import Json, ToolSpec


def from_openai(body: Mapping[str, Any]) -> ToolSpec:
    """The tool of a definition.

    Raises:
        InvalidInput: it is no such definition.
    """
    function = as_object(body.get("function"), "function")
    return spec_of(function, function.get("parameters"))


def to_openai(spec: ToolSpec) -> Json:
    """The definition of a tool, not strict.

    Raises:
        InvalidTool: its schema cannot be repaired for this provider.
    """
    repaired = repair(spec.parameters, "openai")
    name = exposed_name(spec.id, "openai")
    function = {"name": name, "description": described(spec, repaired), "parameters": repaired.schema}
    return {"type": "function", "function": function}
