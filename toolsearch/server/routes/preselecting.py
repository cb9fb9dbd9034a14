"""Preselection: what to show a model from the start, so that most conversations need no search."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastapi import APIRouter, Request, Response

from toolsearch.server import bodies, writing
from toolsearch.server.routes.searching import confident
from toolsearch.server.service import Anyone, Here
from toolsearch.tool import SearchBehavior

if TYPE_CHECKING:
    from toolsearch.server.callers import Caller
    from toolsearch.server.indexes import Served
    from toolsearch.tool import ToolSpec

router = APIRouter(prefix="/v1", tags=["search"])


@router.post("/preselect", response_model=bodies.Preselected)
async def preselect(asked: bodies.Preselect, here: Here, caller: Anyone, request: Request) -> Response:
    """Choose tools for a first request: those always shown, then the best within k and the budget."""
    served = here.indexes.named(asked.index)
    return await here.answer(lambda: _chosen(served, caller, asked))


def _chosen(served: Served, caller: Caller, asked: bodies.Preselect) -> bodies.Preselected:
    seen = served.see(caller, asked.filter)
    always = served.remembered("always", caller, _always)
    result = served.index.retriever(asked.strategy).search(asked.asked, seen.view, asked.k)
    shown = {spec.id for spec in always}
    best = [hit.tool for hit in confident(result, asked.min_confidence) if hit.id not in shown]
    tools = [writing.tool_body(spec, caller) for spec in (*always, *best)]
    kept = writing.within(tools, asked.max_tokens)
    return bodies.Preselected.model_construct(
        tools=kept, band=result.band, more=len(tools) - len(kept), version=seen.version
    )


def _always(served: Served, caller: Caller) -> list[ToolSpec]:
    return [spec for spec in served.see(caller).view if spec.search is SearchBehavior.ALWAYS_VISIBLE]
