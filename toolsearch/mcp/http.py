"""The gateway over streamable HTTP, as an application that a service routes to."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final, cast
from urllib.parse import urlsplit

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.streamable_http_manager import DEFAULT_SESSION_IDLE_TIMEOUT, StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from toolsearch.errors import InvalidInput
from toolsearch.mcp.calling import OWNER, Caller
from toolsearch.mcp.gateway import Gateway
from toolsearch.mcp.issuer import Issuer
from toolsearch.mcp.places import MAX_SESSIONS, Places
from toolsearch.mcp.server import GatewayServer

MAX_BODY: Final = 4_000_000
"""Bytes of one message."""
LOOPBACK: Final = ("127.0.0.1:*", "localhost:*", "[::1]:*", "127.0.0.1", "localhost", "[::1]")
METADATA: Final = "/.well-known/oauth-protected-resource"
"""Path at which a client learns where tokens come from (RFC 9728); to be routed here when there is an issuer."""
CALLER: Final = "toolsearch.caller"
IDLE: Final = float(DEFAULT_SESSION_IDLE_TIMEOUT)
"""Seconds after which a session of the older era that nobody uses ends."""

CallerOf = Callable[[Request], Caller]


@dataclass(frozen=True, slots=True, kw_only=True)
class Door:
    """Finds out who sends a request: whom a token of the issuer stands for, or else whom `caller_of` names.

    With an issuer and nobody to name other callers, a token is needed.
    """

    caller_of: CallerOf | None = None
    issuer: Issuer | None = None

    async def caller(self, request: Request) -> Caller:
        """Who it is.

        Raises:
            InvalidInput: the token is not good, or there is none where one is needed.
        """
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        if self.issuer is not None and scheme.lower() == "bearer" and token.count(".") == 2:
            return await self.issuer.caller(token.strip())
        if self.caller_of is not None:
            return self.caller_of(request)
        if self.issuer is not None:
            raise InvalidInput("a token is needed")
        return OWNER

    def about(self, request: Request) -> JSONResponse:
        """What a client needs to know to get a token (RFC 9728)."""
        known = [self.issuer.url] if self.issuer is not None else []
        resource = self._own(request) + request.url.path.removeprefix(METADATA)
        return JSONResponse(
            {"resource": resource, "authorization_servers": known, "bearer_methods_supported": ["header"]}
        )

    def challenge(self, request: Request, error: str = "") -> str:
        """What tells a client without a good token where to learn of it."""
        place = f"{self._own(request)}{METADATA}{request.url.path.rstrip('/')}"
        return f'Bearer {error}resource_metadata="{place}"'

    def refusal(self, request: Request, reason: str) -> Response:
        """The answer to a request without a good token."""
        challenge = self.challenge(request, 'error="invalid_token", ')
        return JSONResponse(
            {"error": "invalid_token", "error_description": reason}, 401, {"WWW-Authenticate": challenge}
        )

    def _own(self, request: Request) -> str:
        """Scheme and host as clients reach us: those of the audience, for a proxy may stand between."""
        audience = urlsplit(self.issuer.audience if self.issuer else "")
        known = audience.scheme in ("http", "https") and audience.netloc
        return f"{audience.scheme}://{audience.netloc}" if known else str(request.base_url).rstrip("/")


class HTTPGateway:
    """An ASGI application for one path. `async with application.running()` belongs into the service's lifespan."""

    def __init__(
        self, server: GatewayServer, manager: StreamableHTTPSessionManager, serving: ASGIApp, door: Door
    ) -> None:
        self.gateway = server.gateway
        self._server, self._manager, self._serving, self._door = server, manager, serving, door

    @property
    def takes_tokens(self) -> bool:
        """Whether bearer tokens of an issuer are checked here."""
        return self._door.issuer is not None

    def challenge(self, scope: Scope) -> str:
        """What tells a client without a token where to get one."""
        return self._door.challenge(Request(scope))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        request = Request(scope)
        if self._door.issuer is not None and request.url.path.startswith(METADATA):
            await self._door.about(request)(scope, receive, send)
            return
        try:
            caller = await self._door.caller(request)
        except InvalidInput as error:
            await self._door.refusal(request, str(error))(scope, receive, send)
            return
        await self._serving({**scope, CALLER: caller, **_owned(caller)}, receive, send)

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
    """The caller that a service in front wrote into the scope, as `{"key": name, "groups": names or None}`.

    `record` there takes the ids of tools that are called. Without that nobody is known, and only tools without groups
    are seen.
    """
    known: object = request.scope.get("toolsearch")
    if not isinstance(known, Mapping):
        return Caller(frozenset())
    facts = cast("Mapping[str, Any]", known)
    groups: object = facts.get("groups", ())
    return Caller(
        None if groups is None else frozenset(cast("Iterable[str]", groups)),
        str(facts.get("key") or ""),
        facts.get("record"),
    )


def http_application(
    gateway: Gateway,
    *,
    caller_of: CallerOf | None = None,
    issuer: Issuer | None = None,
    hosts: Sequence[str] | None = None,
    stateless: bool = False,
    sessions: int = MAX_SESSIONS,
) -> HTTPGateway:
    """The gateway as an application.

    `caller_of` tells who sent a request and is asked for every message; `issuer` checks bearer tokens beside it.
    Without both everybody is the trusted owner. `hosts` are the names that clients may call it by, `name:*` for any
    port: by default those of this machine itself, and `["*"]` when whoever routes to it looks at them. `stateless`
    keeps no sessions, for several processes behind one port; else a caller has at most so many `sessions` open.
    """
    server = GatewayServer(gateway, _known, alone=not stateless)
    manager = StreamableHTTPSessionManager(
        server.server,
        stateless=stateless,
        session_idle_timeout=IDLE,
        security_settings=_security(LOOPBACK if hosts is None else hosts),
        max_request_body_size=MAX_BODY,
    )
    kept = Places(manager.handle_request, IDLE, lambda scope: scope[CALLER].name, sessions)
    serving = manager.handle_request if stateless else kept
    return HTTPGateway(server, manager, serving, Door(caller_of=caller_of, issuer=issuer))


def _known(request: Any) -> Caller:
    return cast(Request, request).scope[CALLER]


def _owned(caller: Caller) -> dict[str, Any]:
    """Binds a session of the older era to the caller who opened it."""
    if not caller.name:
        return {}
    return {"user": AuthenticatedUser(AccessToken(token="", client_id=caller.name, scopes=[]))}


def _security(hosts: Sequence[str]) -> TransportSecuritySettings:
    if "*" in hosts:
        return TransportSecuritySettings(enable_dns_rebinding_protection=False)
    origins = [f"{scheme}://{host}" for host in hosts for scheme in ("http", "https")]
    return TransportSecuritySettings(allowed_hosts=list(hosts), allowed_origins=origins)
