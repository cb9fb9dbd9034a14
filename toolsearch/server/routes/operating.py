"""Operation: reload and rebuild an index, follow a job, read the numbers."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, Annotated, Final

import anyio
from fastapi import APIRouter, Path, Response
from starlette.responses import StreamingResponse

from toolsearch.server import operation_bodies as bodies
from toolsearch.server.service import Admin, Here

if TYPE_CHECKING:
    from toolsearch.server.jobs import Job
    from toolsearch.server.service import Service

router = APIRouter(tags=["operation"])
Name = Annotated[str, Path(max_length=200)]
PAUSE: Final = 0.25
QUIET: Final = 60
"""Looks without news after which a comment keeps the stream open."""
STREAM: Final = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}


@router.post("/v1/indexes/{name}/reload", status_code=204)
async def reload(name: Name, here: Here, caller: Admin) -> None:
    """Open an index anew, in every worker; requests that are under way finish on the old form."""
    served = here.indexes.named(name)
    await here.change(lambda: here.reload(served))


@router.post("/v1/indexes/{name}/rebuild", status_code=202)
async def rebuild(name: Name, here: Here, caller: Admin, response: Response) -> bodies.JobBody:
    """Bring an index up to date with its definition's sources, in the background.

    Tools that were written by requests or come from registered sources, or those of the gateway, stay.
    """
    served = here.indexes.named(name)
    job = await here.change(lambda: here.jobs.begin(served.name))
    here.start_rebuild(served, job)
    response.headers["Location"] = f"/v1/jobs/{job.id}"
    return _body(job)


@router.get("/v1/jobs/{name}")
async def get_job(name: Name, here: Here, caller: Admin) -> bodies.JobBody:
    """Show a job."""
    return _body(await here.run(lambda: here.jobs.get(name)))


@router.get("/v1/jobs/{name}/events")
async def follow(name: Name, here: Here, caller: Admin) -> StreamingResponse:
    """Follow a job: an event for each step, the last one says how it ended."""
    first = await here.run(lambda: here.jobs.get(name))
    return StreamingResponse(_events(here, first), media_type="text/event-stream", headers=STREAM)


@router.get("/metrics", include_in_schema=False)
async def metrics(here: Here) -> Response:
    """Give the numbers to Prometheus."""
    body, kind = await here.run(lambda: here.metrics.text(here.indexes))
    return Response(body, media_type=kind)


async def _events(here: Service, job: Job) -> AsyncIterator[str]:
    yield _event(job)
    quiet, look = 0, partial(here.jobs.get, job.id)
    while job.state == "running":
        await anyio.sleep(PAUSE)
        before, job = job, await here.run(look)
        quiet = 0 if job != before else quiet + 1
        if job != before:
            yield _event(job)
        elif quiet % QUIET == 0:
            yield ": still here\n\n"


def _event(job: Job) -> str:
    kind = "progress" if job.state == "running" else job.state
    return f"event: {kind}\ndata: {_body(job).model_dump_json()}\n\n"


def _body(job: Job) -> bodies.JobBody:
    return bodies.JobBody(**asdict(job))
