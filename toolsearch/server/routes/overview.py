"""What there is: indexes, what tools can be narrowed by, and who is asking."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Query, Response

from toolsearch.server import bodies
from toolsearch.server.service import Anyone, Here
from toolsearch.strategies.retrievers import RANKERS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from toolsearch.server.callers import Caller
    from toolsearch.server.indexes import Served

router = APIRouter(prefix="/v1", tags=["indexes"])


@router.get("/me")
async def me(caller: Anyone) -> bodies.Me:
    """Say who is asking."""
    groups = None if caller.groups is None else sorted(caller.groups)
    return bodies.Me(key=caller.key, role=caller.role.value, groups=groups)


@router.get("/indexes", response_model=bodies.IndexList)
async def list_indexes(here: Here, caller: Anyone) -> Response:
    """List the indexes."""

    def work() -> bodies.IndexList:
        found = [_index(served, caller, place == 0) for place, served in enumerate(here.indexes)]
        return bodies.IndexList(indexes=found)

    return await here.answer(work)


@router.get("/facets", response_model=bodies.Facets)
async def facets(here: Here, caller: Anyone, index: Annotated[str | None, Query(max_length=200)] = None) -> Response:
    """Count namespaces, tags and sources."""
    served = here.indexes.named(index)
    return await here.answer(lambda: served.remembered("facets", caller, _facets))


def _index(served: Served, caller: Caller, default: bool) -> bodies.IndexBody:
    seen, status = served.see(caller), served.index.status
    facts: dict[str, Any] = {
        "name": served.name,
        "default": default,
        "tools": served.count(seen.view),
        "version": seen.version,
        "strategy": served.strategy,
        "strategies": sorted(RANKERS),
        "encoder": status.encoder,
    }
    if caller.sees_all:
        facts |= {"generation": status.generation, "notes": list(status.notes)}
    return bodies.IndexBody(**facts)


def _facets(served: Served, caller: Caller) -> bodies.Facets:
    specs = list(served.see(caller).view)
    return bodies.Facets(
        namespaces=_counts(spec.namespace for spec in specs),
        tags=_counts(tag for spec in specs for tag in spec.tags),
        sources=_counts(spec.source for spec in specs),
    )


def _counts(values: Iterable[str]) -> list[bodies.Count]:
    counted = sorted(Counter(value for value in values if value).items(), key=lambda pair: (-pair[1], pair[0]))
    return [bodies.Count(value=value, tools=tools) for value, tools in counted[:1_000]]
