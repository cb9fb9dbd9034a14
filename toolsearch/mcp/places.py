"""Sessions of the older era: how many each caller may have open, so that none takes the places of the others."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from mcp.server.streamable_http import MCP_SESSION_ID_HEADER
from mcp.shared.inbound import MCP_PROTOCOL_VERSION_HEADER
from mcp_types import INVALID_REQUEST
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

MAX_SESSIONS: Final = 1_000
"""Of one caller."""


@dataclass(slots=True)
class _Use:
    """Requests of a session that are under way, and when the last one ended."""

    under_way: int = 0
    last: float = field(default_factory=time.monotonic)


class Places:
    """Passes requests on to an application that keeps sessions; refuses whoever would open too many.

    `idle` are the seconds after which that application ends a session that nobody uses; `caller` names who asks.
    """

    def __init__(self, app: ASGIApp, idle: float, caller: Callable[[Scope], str], most: int = MAX_SESSIONS) -> None:
        self._app, self._idle, self._caller, self._most = app, idle, caller, most
        self._known: dict[str, dict[object, _Use]] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        headers = Headers(scope=scope)
        if headers.get(MCP_PROTOCOL_VERSION_HEADER, HANDSHAKE_PROTOCOL_VERSIONS[0]) not in HANDSHAKE_PROTOCOL_VERSIONS:
            await self._app(scope, receive, send)
            return
        name, session = self._caller(scope), headers.get(MCP_SESSION_ID_HEADER)
        if session is None:
            await self._open(name, scope, receive, send)
        else:
            await self._use(name, session, scope, receive, send)

    def count(self, name: str) -> int:
        """How many sessions a caller has open, or is opening."""
        now, known = time.monotonic(), self._known.get(name, {})
        live = {one: use for one, use in known.items() if use.under_way or now - use.last < self._idle}
        self._known[name] = live
        if not live:
            del self._known[name]
        return len(live)

    async def _open(self, name: str, scope: Scope, receive: Receive, send: Send) -> None:
        if self.count(name) >= self._most:
            await _too_many(self._most)(scope, receive, send)
            return

        place, use = object(), _Use(under_way=1)

        async def watched(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] < 400:
                made = Headers(raw=message["headers"]).get(MCP_SESSION_ID_HEADER)
                if made:
                    self._leave(name, place)
                    self._known.setdefault(name, {})[made] = use
            await send(message)

        self._known.setdefault(name, {})[place] = use
        try:
            await self._app(scope, receive, watched)
        finally:
            self._leave(name, place)
            use.under_way, use.last = 0, time.monotonic()

    async def _use(self, name: str, session: str, scope: Scope, receive: Receive, send: Send) -> None:
        use = self._known.get(name, {}).get(session, _Use())

        async def watched(message: Message) -> None:
            ended = scope["method"] == "DELETE" and message.get("status") == 200
            if message["type"] == "http.response.start" and (ended or message["status"] == 404):
                self._leave(name, session)
            await send(message)

        use.under_way += 1
        try:
            await self._app(scope, receive, watched)
        finally:
            use.under_way, use.last = use.under_way - 1, time.monotonic()

    def _leave(self, name: str, session: object) -> None:
        self._known.get(name, {}).pop(session, None)


def _too_many(most: int) -> JSONResponse:
    error = {"code": INVALID_REQUEST, "message": f"a caller has at most {most} sessions; end some with DELETE"}
    return JSONResponse({"jsonrpc": "2.0", "id": None, "error": error}, 429, {"Retry-After": "60"})
