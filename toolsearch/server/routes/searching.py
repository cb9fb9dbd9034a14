"""Search, and why a tool is found or not."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from fastapi import APIRouter, Request, Response

from toolsearch.server import bodies, writing
from toolsearch.server.direct import Direct
from toolsearch.server.problems import Problem
from toolsearch.server.service import Anyone, Here
from toolsearch.server.usage import Searched
from toolsearch.strategies.retriever import MAX_HITS

if TYPE_CHECKING:
    from toolsearch.protocols import Hit, SearchResult
    from toolsearch.server.callers import Caller
    from toolsearch.server.indexes import Served
    from toolsearch.server.service import Service

router = APIRouter(prefix="/v1", tags=["search"], route_class=Direct)
Answer = dict[str, Any]
BANDS: Final = ("none", "low", "medium", "high")


@router.post("/search", response_model=bodies.SearchAnswer)
async def search(asked: bodies.Search, here: Here, caller: Anyone, request: Request) -> Response:
    """Find tools for one need or several."""
    served = here.indexes.named(asked.index)

    def work() -> Answer:
        return noted(here, caller, request, asked, found(served, caller, asked, request.state.request_id))

    return await here.answer(work)


@router.post("/explain", response_model=bodies.Explanation)
async def explain(asked: bodies.Explain, here: Here, caller: Anyone, request: Request) -> Response:
    """Say why a tool is found for a query, or why not."""
    del request
    served = here.indexes.named(asked.index)

    def work() -> bodies.Explanation:
        view = served.see(caller, asked.filter).view
        row = view.corpus.row(asked.tool)
        if row is None or not view.allows(row):
            raise unknown_tool(served, caller, asked.tool)
        return writing.explanation_body(
            served.index.retriever(asked.strategy).explain(asked.query, view, asked.tool, asked.k)
        )

    return await here.answer(work)


def found(served: Served, caller: Caller, asked: bodies.Search, search_id: str) -> Answer:
    """The answer to a search, in the shape of a `SearchAnswer`.

    Raises:
        InvalidInput: the strategy, the filter or a need is not acceptable.
    """
    seen = served.see(caller, asked.filter, asked.exclude)
    visible = {one for one in asked.visible if seen.view.get(one) is not None}
    strategy = asked.strategy or served.strategy
    wanted = min(asked.k + len(visible), MAX_HITS)
    result = confident(served.index.retriever(strategy).search(asked.asked, seen.view, wanted), asked.min_confidence)
    fresh = [hit for hit in result if hit.id not in visible][: asked.k]
    hits = _written(fresh, asked)
    body: Answer = {
        "search_id": search_id,
        "hits": hits,
        "available": [hit.id for hit in result if hit.id in visible],
        "confidence": result.confidence,
        "band": result.band,
        "shortfall": asked.k - len(fresh),
        "more": len(fresh) - len(hits),
        "notes": [*result.notes, *served.notes(caller)],
        "index": served.name,
        "strategy": strategy,
        "version": seen.version,
        "needs": list(result.needs),
    }
    return body | ({"generation": result.generation} if caller.sees_all else {})


def noted(here: Service, caller: Caller, request: Request, asked: bodies.Query, answer: Answer) -> Answer:
    """The answer, after it was told to those who watch."""
    facts = {name: answer[name] for name in ("index", "strategy", "band")} | {"hits": len(answer["hits"])}
    request.state.facts = facts | ({"query": "\n".join(asked.asked)} if here.settings.log_queries else {})
    hits = [hit["id"] for hit in answer["hits"]]
    here.usage.searched(caller, Searched(id=answer["search_id"], index=answer["index"], needs=asked.asked, hits=hits))
    return answer


def confident(result: SearchResult, least: str) -> SearchResult:
    """The result, without its hits when it is less confident than wanted."""
    if not result.hits or BANDS.index(result.band) >= BANDS.index(least):
        return result
    note = f"{len(result)} tools were left out: the confidence is {result.band}, asked for was {least}"
    return replace(result, hits=(), notes=(*result.notes, note))


def unknown_tool(served: Served, caller: Caller, tool_id: str) -> Problem:
    """The problem that a tool is not there for a caller, with ids that are near and that it may see."""
    near: list[str] = []
    if tool_id.strip():
        near = served.index.retriever("lexical").search([tool_id[:200]], served.see(caller).view, 3).ids
    return Problem(404, f"there is no tool {tool_id[:200]!r} here", more={"near": near})


def _written(hits: list[Hit], asked: bodies.Search) -> list[dict[str, Any]]:
    written = [writing.hit_body(hit, asked.schemas, explain=asked.explain) for hit in hits]
    return writing.within(written, asked.max_tokens)
