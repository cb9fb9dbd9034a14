"""Ollama `/api/chat`: the shape of OpenAI Chat, with references written out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from toolsearch.catalog.definitions import described
from toolsearch.catalog.names import exposed_name
from toolsearch.catalog.openai_chat import from_openai
from toolsearch.catalog.schema import repair
from toolsearch.tool import Json, ToolSpec


def from_ollama(body: Mapping[str, Any]) -> ToolSpec:
    """The tool of a definition.

    Raises:
        InvalidInput: it is no such definition.
    """
    return from_openai(body)


def to_ollama(spec: ToolSpec) -> Json:
    """The definition of a tool.

    Raises:
        InvalidTool: its schema cannot be repaired for this provider.
    """
    repaired = repair(spec.parameters, "ollama")
    name = exposed_name(spec.id, "ollama")
    function = {"name": name, "description": described(spec, repaired), "parameters": repaired.schema}
    return {"type": "function", "function": function}
