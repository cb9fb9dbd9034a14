"""Sources: register an MCP server or an OpenAPI document, read it, and let its changes in."""

from __future__ import annotations

import datetime
import time
from dataclasses import asdict, replace
from functools import partial
from typing import TYPE_CHECKING, Annotated

from fastapi import APIRouter, Path, Query

from toolsearch.errors import InvalidInput
from toolsearch.server import operation_bodies as bodies
from toolsearch.server.fetching import Source, fetch
from toolsearch.server.network import Policy
from toolsearch.server.problems import Problem
from toolsearch.server.service import Admin, Here
from toolsearch.server.sources import Known, difference

if TYPE_CHECKING:
    from toolsearch.server.indexes import Served
    from toolsearch.server.service import Service

router = APIRouter(prefix="/v1/sources", tags=["sources"])
Index = Annotated[str | None, Query(max_length=200)]
Name = Annotated[str, Path(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$")]


@router.get("")
async def list_sources(here: Here, caller: Admin, index: Index = None) -> bodies.SourceList:
    """List the sources and how reading them went."""
    served = here.indexes.named(index)
    known = await here.run(lambda: here.sources.list(served.name))
    return bodies.SourceList(sources=[_body(one) for one in known])


@router.get("/{name}")
async def get_source(name: Name, here: Here, caller: Admin, index: Index = None) -> bodies.SourceBody:
    """Show a source, with the changes that wait to be approved."""
    served = here.indexes.named(index)

    def work() -> bodies.SourceBody:
        body = _body(here.sources.get(served.name, name))
        body.held = [
            bodies.HeldBody(id=tool, difference=difference(served.index.get(tool), spec))
            for tool, spec in here.sources.held(served.name, name).items()
        ]
        return body

    return await here.run(work)


@router.put("/{name}")
async def put(name: Name, body: bodies.NewSource, here: Here, caller: Admin, index: Index = None) -> bodies.SourceBody:
    """Register a source; it is read by `sync`. Its headers are kept and never shown."""
    served = here.indexes.named(index)
    policy = Policy.of(here.settings)
    policy.check_url(body.url)
    source = Source(
        name=name,
        kind=body.kind,
        url=body.url,
        headers=body.headers,
        groups=tuple(body.groups),
        hold_changes=body.hold_changes,
    )

    def work() -> Known:
        here.sources.put(served.name, source)
        return here.sources.get(served.name, name)

    return _body(await here.change(work))


@router.post("/{name}/sync")
async def sync(name: Name, here: Here, caller: Admin, index: Index = None) -> bodies.SyncAnswer:
    """Read a source and make what it offers its tools here."""
    served = here.indexes.named(index)
    known = await here.run(lambda: here.sources.get(served.name, name))
    try:
        specs, problems = await fetch(known.source, Policy.of(here.settings))
    except InvalidInput as error:
        await here.change(partial(_failed, here, served, known, str(error)))
        raise Problem(502, str(error)) from None
    done = await here.change(lambda: here.sources.sync(served, known, specs))
    told = [f"{one.where}: {one.reason}"[:300] for one in problems][:100]
    return bodies.SyncAnswer(**{key: list(value) for key, value in asdict(done).items()}, problems=told)


@router.post("/{name}/approve")
async def approve(
    name: Name, body: bodies.Approval, here: Here, caller: Admin, index: Index = None
) -> bodies.SyncAnswer:
    """Let held tools in, all of them or those named."""
    served = here.indexes.named(index)

    def work() -> bodies.SyncAnswer:
        done = here.sources.approve(served, here.sources.get(served.name, name), body.tools)
        return bodies.SyncAnswer(**{key: list(value) for key, value in asdict(done).items()}, problems=[])

    return await here.change(work)


@router.delete("/{name}", status_code=204)
async def remove(name: Name, here: Here, caller: Admin, index: Index = None) -> None:
    """Forget a source, and take its tools out."""
    served = here.indexes.named(index)
    await here.change(lambda: here.sources.remove(served, here.sources.get(served.name, name)))


def _failed(here: Service, served: Served, known: Known, text: str) -> None:
    here.sources.note(served.name, replace(known, state="failed", error=text, synced=known.synced))


def _body(known: Known) -> bodies.SourceBody:
    at = known.synced
    return bodies.SourceBody(
        name=known.source.name,
        kind=known.source.kind,
        url=known.source.url,
        headers=sorted(known.source.headers),
        groups=list(known.source.groups),
        hold_changes=known.source.hold_changes,
        state=known.state,
        tools=known.tools,
        synced_at=None
        if at is None
        else datetime.datetime.fromtimestamp(at, datetime.UTC).isoformat(timespec="seconds"),
        error=known.error,
        age=None if at is None else round(time.time() - at, 1),
    )
