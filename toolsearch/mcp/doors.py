"""The gateway's own tools: search, look at, call."""

from __future__ import annotations

from typing import Final

from mcp_types import Tool as Listed
from mcp_types import ToolAnnotations

from toolsearch.mcp.showing import NOTICE
from toolsearch.tool import Json, ToolSpec

SEARCH: Final = "search_tools"
GET: Final = "get_tool"
CALL: Final = "call_tool"
MAX_NAMES: Final = 20
MAX_RESULTS: Final = 50

_TEXTS: Final = {
    SEARCH: (
        "Finds tools that are not listed here. Say in plain words what you want to do, one thing at a time, or give a "
        f"tool's name. The answer has names, descriptions and input schemas; run a tool with {CALL}. {NOTICE}"
    ),
    GET: "Shows everything about tools that you know the names of: description, input and output schema.",
    CALL: f"Runs a tool that {SEARCH} found. Its answer is the tool's own. Arguments are checked against its schema.",
}


def _object(required: list[str], **properties: Json) -> Json:
    return {"type": "object", "properties": properties, "required": required}


_SCHEMAS: Final = {
    SEARCH: _object(
        ["query"],
        query={"type": "string", "description": "What the tool should do, such as 'refund a payment'"},
        limit={"type": "integer", "minimum": 1, "maximum": MAX_RESULTS, "description": "At most so many tools"},
    ),
    GET: _object(
        ["names"],
        names={
            "type": "array",
            "items": {"type": "string"},
            "minItems": 1,
            "maxItems": MAX_NAMES,
            "description": "Names of tools as they were found",
        },
    ),
    CALL: _object(
        ["name"],
        name={"type": "string", "description": "Name of the tool as it was found"},
        arguments={"type": "object", "description": "Its arguments, as its input schema says"},
    ),
}
DOORS: Final = {
    name: ToolSpec(name=name, description=_TEXTS[name], parameters=_SCHEMAS[name]) for name in (SEARCH, GET, CALL)
}
"""The definitions by name, for checking arguments."""


def doors(behind: str) -> list[Listed]:
    """The three tools as a list shows them; `behind` says what can be found."""
    told = {SEARCH: f"{_TEXTS[SEARCH]} Behind it: {behind}." if behind else _TEXTS[SEARCH]}
    return [
        Listed(
            name=name,
            description=told.get(name, spec.description),
            input_schema=spec.parameters,
            annotations=_CALLS if name == CALL else _READS,
        )
        for name, spec in DOORS.items()
    ]


_READS: Final = ToolAnnotations(read_only_hint=True, idempotent_hint=True, open_world_hint=False)
_CALLS: Final = ToolAnnotations(read_only_hint=False, destructive_hint=True, open_world_hint=True)
