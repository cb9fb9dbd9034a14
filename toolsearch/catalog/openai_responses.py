"""OpenAI Responses: flat `{"type": "function", name, description, parameters, strict}`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from toolsearch.catalog.definitions import spec_of
from toolsearch.catalog.openai_chat import to_openai
from toolsearch.tool import Json, ToolSpec


def from_responses(body: Mapping[str, Any]) -> ToolSpec:
    """The tool of a definition.

    Raises:
        InvalidInput: it is no such definition.
    """
    return spec_of(body, body.get("parameters"), output_schema=body.get("output_schema"))


def to_responses(spec: ToolSpec) -> Json:
    """The definition of a tool, not strict.

    Raises:
        InvalidTool: its schema cannot be repaired for this provider.
    """
    return {"type": "function", **to_openai(spec)["function"], "strict": False}
