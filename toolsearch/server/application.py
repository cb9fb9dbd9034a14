"""The application, put together: routes, errors, doors, and what is mounted beside them."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final, cast

from fastapi import FastAPI

from toolsearch.server import bodies, pages, problems
from toolsearch.server.direct import ShortCut
from toolsearch.server.doors import Doors
from toolsearch.server.intake import Intake
from toolsearch.server.limits import Limited
from toolsearch.server.routes import (
    changing,
    describing,
    gateway,
    health,
    linting,
    operating,
    overview,
    preselecting,
    reranking,
    searching,
    sessions,
    sources,
    tools,
    usage,
)
from toolsearch.server.service import Service
from toolsearch.server.tracing import Spans, flush
from toolsearch.server.watching import Watched, log_line, start_logging

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

    from toolsearch.index.tool_index import ToolIndex
    from toolsearch.server.callers import Caller
    from toolsearch.server.routes.gateway import Behind
    from toolsearch.server.settings import Settings
    from toolsearch.server.watching import Facts

MCP: Final = "/mcp"
ABOUT: Final = "/.well-known/oauth-protected-resource"
PARTS: Final = (
    searching,
    sessions,
    preselecting,
    reranking,
    changing,
    tools,
    overview,
    linting,
    sources,
    gateway,
    usage,
    operating,
    health,
    describing,
    pages,
)
PROBLEM: Final[dict[str, Any]] = {
    "description": "Problem",
    "content": {problems.MEDIA: {"schema": bodies.ProblemBody.model_json_schema()}},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Mounted:
    """An ASGI application at /mcp, and what must be entered while the service runs.

    With `tokens` it checks signed tokens itself, and tells at `/.well-known/...` where they come from: that is the
    challenge to a request without one. `behind` tells of the sources that it stands before, and `index` is the first
    of the service where it works with that; the service ends it.
    """

    app: ASGIApp
    behind: Behind | None = None
    index: ToolIndex | None = None
    tokens: Callable[[Scope], str] | None = None
    running: Callable[[], AbstractAsyncContextManager[Any]] = nullcontext


def create_app(settings: Settings, mcp: Mounted | None = None, ready: Callable[[], object] = bool) -> ASGIApp:
    """The service as one ASGI application: watched, behind its doors, with the gateway beside it.

    `ready` is called once, in a thread, when all indexes are opened and warm.
    """
    start_logging(settings.log)
    inner = _routes(settings, mcp, ready)

    def service() -> Service:
        return cast("Service", inner.state.service)

    def count(scope: Scope, facts: Facts) -> None:
        service().metrics.count(scope, facts)

    routed = ShortCut(inner, [part.router for part in PARTS])
    beside = Intake(Branch(routed, mcp, service), settings)
    behind = Doors(Limited(beside, settings, service), settings, service, tokens=mcp.tokens if mcp else None)
    watchers = [log_line, count, *([Spans()] if settings.tracing else [])]
    return Watched(behind, *watchers)


def _routes(settings: Settings, mcp: Mounted | None, ready: Callable[[], object]) -> FastAPI:
    inner = FastAPI(
        title="toolsearch",
        version=version(),
        description="Find the right tool among thousands.",
        lifespan=_lifespan(settings, mcp, ready),
        openapi_url=None,
        responses={"default": PROBLEM},
    )
    problems.install(inner)
    for part in PARTS:
        inner.include_router(part.router)
    return inner


def version() -> str:
    """The version of the package."""
    from toolsearch import __version__

    return __version__


def _lifespan(
    settings: Settings, mcp: Mounted | None, ready: Callable[[], object]
) -> Callable[[FastAPI], AbstractAsyncContextManager[None]]:
    @asynccontextmanager
    async def running(app: FastAPI) -> AsyncGenerator[None]:
        behind = mcp.behind if mcp else None
        origins = partial(_origins, behind) if behind else tuple
        service = Service(settings, mcp.index if mcp else None, origins)
        await service.run(service.warm)
        await service.run(ready)
        app.state.service, app.state.behind = service, behind
        try:
            async with service.watching(), mcp.running() if mcp else nullcontext():
                yield
        finally:
            if settings.tracing:
                await service.run(flush)
            service.close()

    return running


def _origins(behind: Behind) -> list[str]:
    """Under what the tools of the gateway's sources stand in the index."""
    return [f"{one.kind}:{one.name}" for one in behind.sources()]


class Branch:
    """Sends what is for the gateway there, its path untouched, and everything else to the service.

    The gateway is told who calls by plain values under `toolsearch` in its scope: key, role and groups; and `record`
    takes the id of a tool that was called, for the usage log.
    """

    def __init__(self, app: ASGIApp, mcp: Mounted | None, service: Callable[[], Service]) -> None:
        self._app, self._mcp, self._service = app, mcp.app if mcp else None, service
        self._about = (ABOUT,) if mcp and mcp.tokens else ()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        path = str(scope.get("path", ""))
        own = path == MCP or path.startswith((f"{MCP}/", *self._about))
        if self._mcp is None or scope["type"] != "http" or not own:
            await self._serve(scope, receive, send)
            return
        caller: Caller = scope["caller"]
        told = {
            "key": caller.key,
            "role": caller.role.value,
            "groups": caller.groups,
            "record": partial(self._service().record, caller),
        }
        await self._mcp({**scope, "toolsearch": told}, receive, send)

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        """HEAD is answered like GET; whoever writes to the connection leaves the body out."""
        if scope.get("method") != "HEAD":
            await self._app(scope, receive, send)
            return
        asked = {**scope, "method": "GET"}
        await self._app(asked, receive, send)
        scope["route"] = asked.get("route")
