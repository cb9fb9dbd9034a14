"""Tools: list them, look at one."""

from __future__ import annotations

import json
from importlib import import_module
from typing import TYPE_CHECKING, Annotated, Final

from fastapi import APIRouter, Header, Query, Response

from toolsearch.server import bodies, cursors, writing
from toolsearch.server.routes.searching import unknown_tool
from toolsearch.server.service import Anyone, Here

if TYPE_CHECKING:
    from toolsearch.server.callers import Caller
    from toolsearch.server.indexes import Served
    from toolsearch.tool import ToolSpec

router = APIRouter(prefix="/v1", tags=["tools"])
Index = Annotated[str | None, Query(max_length=200)]
Text = Annotated[str | None, Query(max_length=10_000)]
Limit = Annotated[int, Query(ge=1, le=1_000)]
Match = Annotated[str | None, Header(max_length=1_000)]
FORMATS: Final = {
    "openai": "toolsearch.catalog.openai_chat:to_openai",
    "responses": "toolsearch.catalog.openai_responses:to_responses",
    "anthropic": "toolsearch.catalog.anthropic:to_anthropic",
    "gemini": "toolsearch.catalog.gemini:to_gemini",
    "mcp": "toolsearch.catalog.mcp:to_mcp",
    "ollama": "toolsearch.catalog.ollama:to_ollama",
}
"""Format -> what writes a tool in it."""
Format = Annotated[str, Query(pattern=f"^(toolsearch|{'|'.join(FORMATS)})$")]


@router.get("/tools", response_model=bodies.ToolsPage)
async def list_tools(
    here: Here,
    caller: Anyone,
    index: Index = None,
    filter: Text = None,  # noqa: A002 - the word of the query
    cursor: Text = None,
    limit: Limit = 100,
) -> Response:
    """List tools in catalog order, a page at a time."""
    served = here.indexes.named(index)

    def work() -> bodies.ToolsPage:
        seen = served.see(caller, filter)
        place = cursors.opened(here.state.secret, cursor) if cursor else None
        page = served.index.tools(caller=caller.groups, filter=filter, cursor=place, limit=limit)
        return bodies.ToolsPage.model_construct(
            tools=[writing.tool_body(spec, caller) for spec in page.tools],
            next_cursor=cursors.sealed(here.state.secret, page.next_cursor) if page.next_cursor else None,
            total=served.count(seen.view),
            version=seen.version,
        )

    return await here.answer(work)


@router.get("/tools/{tool_id:path}", response_model=bodies.ToolBody)
async def get_tool(
    tool_id: str,
    here: Here,
    caller: Anyone,
    index: Index = None,
    format: Format = "toolsearch",  # noqa: A002 - the word of the query
    if_none_match: Match = None,
) -> Response:
    """Show one tool, as toolsearch or a provider writes it."""
    served = here.indexes.named(index)
    return await here.run(lambda: _shown(served, caller, tool_id, format, if_none_match))


def known_tool(served: Served, caller: Caller, tool_id: str) -> ToolSpec:
    """The tool of an id.

    Raises:
        Problem: there is none for this caller.
    """
    spec = served.see(caller).view.get(tool_id)
    if spec is None:
        raise unknown_tool(served, caller, tool_id)
    return spec


def tag(spec: ToolSpec, caller: Caller) -> str:
    """The ETag of a tool, as its caller sees it: it tells nothing of groups to those who are not told them."""
    shown = spec if caller.sees_all else spec.with_(groups=())
    return f'"{shown.content_hash[:32]}"'


def _shown(served: Served, caller: Caller, tool_id: str, format: str, match: str | None) -> Response:  # noqa: A002
    spec = known_tool(served, caller, tool_id)
    headers = {"ETag": tag(spec, caller)}
    if match is not None and headers["ETag"] in match:
        return Response(status_code=304, headers=headers)
    if format == "toolsearch":
        body = writing.tool_body(spec, caller).model_dump_json(exclude_unset=True)
    else:
        module, _, name = FORMATS[format].partition(":")
        body = json.dumps(getattr(import_module(module), name)(spec), ensure_ascii=False)
    return Response(body, media_type="application/json", headers=headers)
