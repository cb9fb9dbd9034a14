"""What every request passes before anything of it is read: names of the service, origins, keys."""

from __future__ import annotations

import ipaddress
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from starlette.datastructures import Headers

from toolsearch.server.callers import OWNER, Caller, Role
from toolsearch.server.problems import Problem, problem
from toolsearch.server.settings import LOOPBACK

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.types import ASGIApp, Receive, Scope, Send

    from toolsearch.server.service import Service
    from toolsearch.server.settings import Settings

WORKING: Final = ("/v1", "/mcp")
"""Beginnings of paths that do work for a caller."""
LOCKED: Final = (*WORKING, "/metrics")
"""Beginnings of paths that need a key once there are keys."""
OPERATORS: Final = ("/metrics",)
"""Among them those that tell of the whole catalog."""
PROBES: Final = frozenset({"/livez", "/readyz", "/health"})
"""Asked by address by whoever watches the process; they tell nothing."""
GATEWAY: Final = "/mcp"
SIGNED: Final = 2
"""Dots in a signed token (a JSON Web Token in its compact form); a key has none."""
NOBODY: Final = Caller(key=None, role=Role.SEARCH, groups=frozenset())
CHALLENGE: Final = {"WWW-Authenticate": 'Bearer realm="toolsearch"'}


class Doors:
    """Refuses foreign hosts and origins, and finds out who asks.

    A page of another site can send requests to a service on this machine, also under a name of its own that leads
    here; so the name in `Host` must be known, and an `Origin` must be the service itself or be listed. With `tokens`,
    what looks like a signed token is for the gateway to check: whoever brings one is nobody here; and `tokens` is the
    challenge that tells where to get one.
    """

    def __init__(
        self,
        app: ASGIApp,
        settings: Settings,
        service: Callable[[], Service],
        *,
        tokens: Callable[[Scope], str] | None = None,
    ) -> None:
        self._app, self._service, self._tokens = app, service, tokens
        self._hosts = frozenset(name.lower() for name in (*LOOPBACK, settings.host, *settings.hosts))
        self._any_address = not settings.loopback
        self._origins = frozenset(settings.origins)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        try:
            headers = Headers(scope=scope)
            self._check_host(headers, str(scope["path"]))
            scope["caller"] = self._caller(headers, scope)
        except Problem as refused:
            await problem(scope, refused)(scope, receive, send)
            return
        await self._app(scope, receive, send)

    def _check_host(self, headers: Headers, path: str) -> None:
        given = headers.getlist("host")
        if len(given) != 1:
            raise Problem(400, "a request needs one Host")
        if path not in PROBES and not self._known(_name_of(given[0])):
            raise Problem(421, f"this service is not reached as {given[0][:80]!r}; set hosts = [...] to allow the name")
        for origin in headers.getlist("origin"):
            own = urlsplit(origin).netloc.lower() == given[0].lower()
            if not own and origin not in self._origins:
                raise Problem(403, f"pages of {origin[:80]!r} may not use this service")

    def _known(self, name: str) -> bool:
        """A name that is known; or any address, where the service listens for others: addresses cannot be rebound."""
        return name in self._hosts or (self._any_address and _is_address(name))

    def _caller(self, headers: Headers, scope: Scope) -> Caller:
        keys, path = self._service().keys, str(scope["path"])
        if not keys.needed or not path.startswith(LOCKED):
            return OWNER
        token = _token(headers)
        signed = self._tokens if path.startswith(GATEWAY) else None
        if signed and token.count(".") == SIGNED:
            return NOBODY
        caller = keys.find(token) if token else None
        if caller is None:
            challenge = {"WWW-Authenticate": signed(scope)} if signed else CHALLENGE
            raise Problem(401, "no such key" if token else "a key is needed: Authorization: Bearer KEY", challenge)
        if path.startswith(OPERATORS) and not caller.role.covers(Role.ADMIN):
            raise Problem(403, "this needs a key of the role 'admin'")
        return caller


def _token(headers: Headers) -> str:
    scheme, _, token = headers.get("authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else headers.get("x-api-key", "")


def _name_of(host: str) -> str:
    """The name in a Host header, without its port."""
    return (host[1:].partition("]")[0] if host.startswith("[") else host.rpartition(":")[0] or host).lower()


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
