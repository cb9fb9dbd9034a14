"""The servers behind the gateway at /mcp: how they are, listing one again, and letting changed tools in."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Annotated, Any, Final, Protocol, cast

from fastapi import APIRouter, Depends, Path, Request

from toolsearch.server import operation_bodies as bodies
from toolsearch.server.problems import Problem
from toolsearch.server.service import Admin, Here

router = APIRouter(prefix="/v1/gateway", tags=["sources"])
Name = Annotated[str, Path(max_length=200)]
MOST: Final = 200
"""Changes that are told."""


class Behind(Protocol):
    """What a gateway tells of the sources that stand behind it, and what it can be asked to do."""

    def sources(self) -> Sequence[Any]:
        """How each source is: name, kind, state, reason, tools, problems."""
        ...

    async def sync(self, name: str) -> Any:
        """List a server again; how it is then."""
        ...

    def changes(self) -> Sequence[Any]:
        """Known tools that changed: id, source, kind, diff, since, held. Blocks."""
        ...

    def approve(self, ids: Iterable[str]) -> None:
        """Let changed tools in from the next listing on. Blocks."""
        ...


async def behind_of(request: Request) -> Behind:
    """The gateway of this worker.

    Raises:
        Problem: there is none.
    """
    found = cast("Behind | None", request.app.state.behind)
    if found is None:
        raise Problem(404, "this service has no gateway")
    return found


Gateway = Annotated[Behind, Depends(behind_of)]


@router.get("")
async def status(here: Here, caller: Admin, behind: Gateway) -> bodies.GatewayBody:
    """Show the sources of the gateway, as this worker sees them, and the tools whose definition changed."""
    changes = await here.run(behind.changes)
    return bodies.GatewayBody(
        sources=[_body(one) for one in behind.sources()],
        changes=[bodies.ChangeBody.model_validate(one, from_attributes=True) for one in changes[:MOST]],
    )


@router.post("/sources/{name}/sync")
async def sync(name: Name, caller: Admin, behind: Gateway) -> bodies.BehindBody:
    """List a server again."""
    return _body(await behind.sync(name))


@router.post("/approve")
async def approve(body: bodies.Approval, here: Here, caller: Admin, behind: Gateway) -> bodies.GatewayBody:
    """Let changed tools in, all of them or those named; they come with the next listing of their server."""

    def work() -> None:
        behind.approve([one.id for one in behind.changes()] if body.tools is None else body.tools)

    await here.change(work)
    return await status(here, caller, behind)


def _body(one: Any) -> bodies.BehindBody:
    return bodies.BehindBody(
        name=one.name,
        kind=one.kind,
        state=one.state,
        reason=one.reason,
        tools=one.tools,
        problems=[str(problem)[:300] for problem in one.problems[:100]],
    )
