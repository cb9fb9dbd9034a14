"""What all vendors' definitions have in common: a name, a description, a schema."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from toolsearch.catalog.schema import Repaired
from toolsearch.catalog.schema_shape import types_of
from toolsearch.errors import InvalidTool
from toolsearch.tool import Json, ToolSpec


def spec_of(body: Mapping[str, Any], parameters: Any, **more: Any) -> ToolSpec:
    """A tool from a definition's name and description and its schema; no schema means no parameters.

    Raises:
        InvalidTool: a part is missing or of the wrong type.
    """
    schema: Json = {"type": "object", "properties": {}} if parameters is None else parameters
    kinds = types_of(schema.get("type")) if isinstance(parameters, dict) else []
    if kinds and "object" not in kinds:
        raise InvalidTool(
            f"the schema of tool {str(body.get('name'))[:120]!r} must describe an object, not {', '.join(kinds)[:40]!r}"
        )
    description = body.get("description")
    return ToolSpec(
        name=body.get("name", ""), description="" if description is None else description, parameters=schema, **more
    )


def described(spec: ToolSpec, repaired: Repaired) -> str:
    """The description, followed by the rules that the provider's schema can no longer say."""
    return "\n".join(part for part in (spec.description, *repaired.rules) if part)
