"""MCP `tools/list`: `{name, title, description, inputSchema, outputSchema, annotations, _meta}`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, cast

from toolsearch.catalog.definitions import described, spec_of
from toolsearch.catalog.loaded import Problem
from toolsearch.catalog.names import exposed_name
from toolsearch.catalog.schema import repair
from toolsearch.errors import InvalidInput, InvalidTool
from toolsearch.tool import Json, SearchBehavior, ToolSpec

ALWAYS_LOAD: Final = "anthropic/alwaysLoad"
SEARCH_HINT: Final = "anthropic/searchHint"


def from_mcp(body: Any, server: str = "") -> ToolSpec:
    """The tool of a listing; `server` becomes its namespace. `_meta` may ask to be always visible, or give a hint.

    Raises:
        InvalidTool: it is no such definition; it must have an input schema.
    """
    if not isinstance(body, Mapping):
        raise InvalidTool(f"expected a tool, not {body!r:.60}")
    known = cast("Mapping[str, Any]", body)
    schema: object = {} if known.get("inputSchema") is True else known.get("inputSchema")
    if not isinstance(schema, Mapping):
        raise InvalidTool(f"tool {known.get('name')!r:.120} has no inputSchema that is an object")
    meta: Mapping[str, Any] = known["_meta"] if isinstance(known.get("_meta"), Mapping) else {}
    hint = meta.get(SEARCH_HINT)
    given: object = known.get("annotations")
    annotations: Json = dict(cast(Json, given)) if isinstance(given, Mapping) else {}
    return spec_of(
        known,
        cast(Json, schema),
        title=known.get("title") or annotations.get("title"),
        output_schema=known.get("outputSchema"),
        annotations={key: value for key, value in annotations.items() if key != "title" and value is not None},
        namespace=server,
        aliases=(hint,) if isinstance(hint, str) else (),
        search=SearchBehavior.ALWAYS_VISIBLE if meta.get(ALWAYS_LOAD) is True else SearchBehavior.SEARCHABLE,
        source=f"mcp:{server}" if server else "",
        metadata={"_meta": dict(meta)} if meta else {},
    )


def from_listing(tools: Iterable[Any], server: str = "") -> tuple[list[ToolSpec], list[Problem]]:
    """All tools of a listing; a broken one is a problem that names it, and never loses the others."""
    specs: dict[str, ToolSpec] = {}
    problems: list[Problem] = []
    for number, body in enumerate(tools):
        where = f"{server or 'listing'} tool {number}"
        try:
            spec = from_mcp(body, server)
            spec.to_json()
        except InvalidInput as error:
            problems.append(Problem(where, str(error)))
            continue
        if spec.id in specs:
            problems.append(Problem(where, f"the name {spec.name[:120]!r} occurs twice"))
        else:
            specs[spec.id] = spec
    return list(specs.values()), problems


def to_mcp(spec: ToolSpec) -> Json:
    """One tool of a listing.

    Raises:
        InvalidTool: its schema cannot be repaired.
    """
    repaired = repair(spec.parameters, "mcp")
    body: Json = {"name": exposed_name(spec.id, "mcp"), "inputSchema": repaired.schema}
    meta = dict(spec.metadata.get("_meta", {}))
    optional = {
        "title": spec.title,
        "description": described(spec, repaired),
        "outputSchema": spec.output_schema,
        "annotations": spec.annotations,
        "_meta": meta,
    }
    return {**body, **{key: value for key, value in optional.items() if value}}
