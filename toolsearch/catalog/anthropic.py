"""Anthropic Messages: `{name, description, input_schema}`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from toolsearch.catalog.definitions import described, spec_of
from toolsearch.catalog.names import exposed_name
from toolsearch.catalog.schema import repair
from toolsearch.tool import Json, ToolSpec


def from_anthropic(body: Mapping[str, Any]) -> ToolSpec:
    """The tool of a definition; its `input_examples` are not requests and are left out.

    Raises:
        InvalidInput: it is no such definition.
    """
    return spec_of(body, body.get("input_schema"))


def to_anthropic(spec: ToolSpec) -> Json:
    """The definition of a tool.

    Raises:
        InvalidTool: its schema cannot be repaired for this provider.
    """
    repaired = repair(spec.parameters, "anthropic")
    name = exposed_name(spec.id, "anthropic")
    return {"name": name, "description": described(spec, repaired), "input_schema": repaired.schema}
