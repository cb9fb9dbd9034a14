"""Whether the process lives and can answer."""

from __future__ import annotations

from fastapi import APIRouter, Response

from toolsearch.server.callers import OWNER
from toolsearch.server.service import Here

router = APIRouter(tags=["operation"])


@router.get("/livez")
async def livez() -> dict[str, str]:
    """Say that the process lives."""
    return {"status": "ok"}


@router.get("/readyz")
@router.get("/health", include_in_schema=False)
async def readyz(here: Here) -> Response:
    """Say whether every index can be searched, by asking each one."""

    def work() -> None:
        here.state.read("SELECT 1")
        for served in here.indexes:
            served.index.view(caller=OWNER.groups)

    await here.run(work)
    return Response('{"status":"ok"}', media_type="application/json")
