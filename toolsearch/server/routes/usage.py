"""The usage log: what was called after a search, and what can be learnt from it."""

from __future__ import annotations

import datetime
from typing import Annotated

from fastapi import APIRouter, Query, Response

from toolsearch.server import operation_bodies as bodies
from toolsearch.server.service import Admin, Anyone, Here

router = APIRouter(prefix="/v1", tags=["usage"])
Index = Annotated[str | None, Query(max_length=200)]


@router.post("/calls", status_code=202)
async def call(told: bodies.Call, here: Here, caller: Anyone) -> bodies.Noted:
    """Tell that a tool was called after a search, so that the log knows what was right."""
    return bodies.Noted(noted=await here.change(lambda: here.usage.called(caller.name, told.tool, told.search_id)))


@router.get("/usage/judged")
async def judged(here: Here, caller: Admin, index: Index = None) -> Response:
    """Get searches and what was called after them as a file of judged requests, for `toolsearch eval`."""
    served = here.indexes.named(index)
    text = await here.change(lambda: "".join(here.usage.judged(served.name)))
    return Response(text, media_type="application/jsonl")


@router.delete("/usage")
async def delete(
    here: Here,
    caller: Admin,
    before: datetime.datetime | None = None,
    key: Annotated[str | None, Query(max_length=100)] = None,
) -> bodies.Deleted:
    """Delete entries of the log: all, those before a time, or those of a key."""
    if before is not None and before.tzinfo is None:
        before = before.replace(tzinfo=datetime.UTC)
    limit = None if before is None else before.timestamp()
    return bodies.Deleted(searches=await here.change(lambda: here.usage.delete(limit, key)))
