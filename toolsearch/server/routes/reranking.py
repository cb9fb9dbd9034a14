"""Reranking by the judge that the settings name: texts, or tools of an index, by the chance that they help."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastapi import APIRouter, Request

from toolsearch.server import rerank_bodies as bodies
from toolsearch.server.problems import Problem
from toolsearch.server.routes.searching import unknown_tool
from toolsearch.server.service import Anyone, Here
from toolsearch.strategies.deciding import DELIMITED, Asking, chosen, judge
from toolsearch.tool import ToolSpec

if TYPE_CHECKING:
    from toolsearch.server.callers import Caller
    from toolsearch.server.indexes import Served

router = APIRouter(prefix="/v1", tags=["search"])
ASKING = Asking(template=DELIMITED)


@router.post("/rerank")
async def rerank(asked: bodies.Rerank, here: Here, caller: Anyone, request: Request) -> bodies.Reranked:
    """Order documents, or tools by id, by the chance that they help with the query; the likeliest first.

    The shape is that of common rerank services; `tools` is ours.
    """
    if here.judge is None:
        raise Problem(501, "no judge is set up; name one in the settings: judge = ...")
    served, tools = here.indexes.named(asked.index), asked.tools
    if tools is None:
        specs = [ToolSpec(name=f"{place}", description=text) for place, text in enumerate(asked.documents or [])]
    else:
        specs = await here.run(lambda: _specs(served, caller, tools))
    places = {id(spec): place for place, spec in enumerate(specs)}
    judged, _ = await judge(here.judge, asked.query, specs, ASKING)
    results = [
        bodies.RerankResult(
            index=places[id(one.tool)],
            relevance_score=one.probability,
            id=None if tools is None else one.tool.id,
        )
        for one in chosen(judged, 0.0, asked.top_n)
    ]
    return bodies.Reranked(id=request.state.request_id, results=results)


def _specs(served: Served, caller: Caller, tools: list[str]) -> list[ToolSpec]:
    """The tools of ids.

    Raises:
        Problem: one is not there for this caller.
    """
    view = served.see(caller).view
    found = [view.get(tool) for tool in tools]
    for tool, spec in zip(tools, found, strict=True):
        if spec is None:
            raise unknown_tool(served, caller, tool)
    return [spec for spec in found if spec is not None]
