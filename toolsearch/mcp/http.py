"""The gateway over streamable HTTP, as an application that a service routes to."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final, cast

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from starlette.requests import Request
from starlette.types import Receive, Scope, Send

from toolsearch.mcp.calling import OWNER, Caller
from toolsearch.mcp.gateway import Gateway
from toolsearch.mcp.server import GatewayServer

MAX_BODY: Final = 4_000_000
"""Bytes of one message."""
LOOPBACK: Final = ("127.0.0.1:*", "localhost:*", "[::1]:*", "127.0.0.1", "localhost", "[::1]")


class HTTPGateway:
    """An ASGI application for one path. `async with application.running()` belongs into the service's lifespan."""

    def __init__(self, server: GatewayServer, manager: StreamableHTTPSessionManager) -> None:
        self.gateway = server.gateway
        self._server, self._manager = server, manager

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        await self._manager.handle_request(scope, receive, send)

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        """Start what stands behind the gateway and end it afterwards. Once for each application."""
        async with self.gateway.running(), self._manager.run():
            news = asyncio.create_task(self._server.news.run())
            try:
                yield
            finally:
                news.cancel()
                await asyncio.gather(news, return_exceptions=True)


def told(request: Request) -> Caller:
    """The caller that a service in front wrote into the scope: `{"key": name, "groups": names or None}`.

    Without that nobody is known, and only tools without groups are seen.
    """
    known: object = request.scope.get("toolsearch")
    if not isinstance(known, Mapping):
        return Caller(frozenset())
    facts = cast("Mapping[str, Any]", known)
    groups: object = facts.get("groups", ())
    return Caller(None if groups is None else frozenset(cast("Iterable[str]", groups)), str(facts.get("key") or ""))


def http_application(
    gateway: Gateway,
    *,
    caller_of: Callable[[Request], Caller] | None = None,
    hosts: Sequence[str] | None = None,
    stateless: bool = False,
) -> HTTPGateway:
    """The gateway as an application.

    `caller_of` tells who sent a request and is asked for every message; without it everybody is the trusted owner.
    `hosts` are the names that clients may call it by, `name:*` for any port: by default those of this machine itself,
    and `["*"]` when whoever routes to it looks at them. `stateless` keeps no sessions, for several processes behind
    one port.
    """

    def who(request: Any) -> Caller:
        if caller_of is None:
            return OWNER
        return caller_of(cast(Request, request))

    server = GatewayServer(gateway, who)
    manager = StreamableHTTPSessionManager(
        server.server,
        stateless=stateless,
        security_settings=_security(LOOPBACK if hosts is None else hosts),
        max_request_body_size=MAX_BODY,
    )
    return HTTPGateway(server, manager)


def _security(hosts: Sequence[str]) -> TransportSecuritySettings:
    if "*" in hosts:
        return TransportSecuritySettings(enable_dns_rebinding_protection=False)
    origins = [f"{scheme}://{host}" for host in hosts for scheme in ("http", "https")]
    return TransportSecuritySettings(allowed_hosts=list(hosts), allowed_origins=origins)
