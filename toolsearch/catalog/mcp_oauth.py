"""Signing in to MCP servers that want OAuth, as the SDK does it; tokens are kept in files that only the user reads.

A server that has a client's secret in its entry needs nobody. For the others somebody signs in once in a browser
(`sign_in`); afterwards the kept tokens are used and refreshed, and without good ones the server cannot be reached.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import re
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing, suppress
from pathlib import Path
from typing import Any, Final, cast
from urllib.parse import parse_qs, urlsplit

import httpx2
from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider
from mcp.client.auth.extensions.client_credentials import ClientCredentialsOAuthProvider
from mcp.client.auth.oauth2 import OAuthContext
from mcp.shared.auth import (
    OAuthClientInformationFull,
    OAuthClientMetadata,
    OAuthMetadata,
    OAuthToken,
    ProtectedResourceMetadata,
)
from pydantic import AnyUrl, ValidationError

from toolsearch.catalog.mcp_servers import OAuth, Server
from toolsearch.errors import InvalidSource

PATH: Final = "/callback"
SECONDS: Final = 300.0
"""Time that somebody has to sign in."""
MAX_LINE: Final = 16_000
EARLY: Final = 10.0
"""Seconds that kept tokens are renewed before they end."""
FOUND: Final[dict[str, type[OAuthMetadata | ProtectedResourceMetadata]]] = {
    "oauth_metadata": OAuthMetadata,
    "protected_resource_metadata": ProtectedResourceMetadata,
}
"""What the SDK finds out on the way to tokens and needs to renew them."""
DONE: Final = (
    b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nConnection: close\r\n\r\nDone. You can close this page.\n"
)


def auth_of(server: Server) -> httpx2.Auth | None:
    """What signs the requests to a server; None when it needs no OAuth."""
    if server.oauth is None:
        return None
    kept = Tokens(tokens_of(server), server.oauth)
    if server.oauth.client_secret:
        return ClientCredentialsOAuthProvider(
            server.url,
            kept,
            server.oauth.client_id,
            server.oauth.client_secret,
            scope=server.oauth.scope or None,
            issuer=server.oauth.issuer,
        )
    visit = Visit(server)
    return Renewed(
        OAuthClientProvider(
            server.url, _about(server.oauth), kept, redirect_handler=visit.go, callback_handler=visit.back
        ),
        kept,
    )


def tokens_of(server: Server) -> Path:
    """The file that keeps a server's tokens."""
    base = Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state")
    name = re.sub(r"[^A-Za-z0-9_-]+", "-", server.name)[:40]
    return base / "toolsearch" / "oauth" / f"{name}-{hashlib.sha256(server.url.encode()).hexdigest()[:12]}.json"


class Renewed(httpx2.Auth):
    """The SDK's provider, told what it forgets between two runs: when kept tokens end, and where they are renewed.

    Without that it would have somebody sign in again once the first tokens end. Tokens that another process of ours
    has renewed meanwhile are taken over, for a refresh token is often good for one use.
    """

    requires_response_body = True

    def __init__(self, provider: OAuthClientProvider, kept: Tokens) -> None:
        self._provider, self._kept = provider, kept
        kept.context = provider.context

    async def async_auth_flow(self, request: httpx2.Request) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
        """The provider's flow."""
        self._kept.catch_up()
        async with aclosing(self._provider.async_auth_flow(request)) as flow:
            asked = await anext(flow)
            with suppress(StopAsyncIteration):
                while True:
                    asked = await flow.asend((yield asked))


class Tokens:
    """Keeps the tokens for one server, and what the server knows us as, in one file."""

    def __init__(self, path: Path, oauth: OAuth) -> None:
        self._path, self._oauth = path, oauth
        self._seen = 0.0
        self.context: OAuthContext | None = None
        """What the SDK knows in this process."""

    def catch_up(self) -> None:
        """Let the SDK know what was written since it last looked."""
        written = self._path.stat().st_mtime if self._path.is_file() else 0.0
        if self.context is None or written == self._seen:
            return
        self._seen, body = written, self._read()
        with suppress(ValidationError, KeyError):
            self.context.current_tokens = OAuthToken.model_validate(body["tokens"])
            self.context.token_expiry_time = body["ends"]
            for name, shape in FOUND.items():
                if body["found"].get(name) is not None:
                    setattr(self.context, name, shape.model_validate(body["found"][name]))

    async def get_tokens(self) -> OAuthToken | None:
        """Those kept, None when there are none that can be read."""
        with suppress(ValidationError):
            return OAuthToken.model_validate(self._read()["tokens"]) if "tokens" in self._read() else None
        return None

    async def set_tokens(self, tokens: OAuthToken) -> None:
        """Keep tokens, when they end, and what was found out of where they come from."""
        found = {name: getattr(self.context, name, None) for name in FOUND}
        body = {
            "tokens": tokens.model_dump(mode="json", exclude_none=True),
            "ends": None if tokens.expires_in is None else time.time() + tokens.expires_in - EARLY,
            "found": {name: one.model_dump(mode="json", exclude_none=True) for name, one in found.items() if one},
        }
        self._write({**self._read(), **body})

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        """What we are known as: by the entry, or since we registered."""
        if self._oauth.client_id:
            known = {
                **_about(self._oauth).model_dump(mode="json", exclude_none=True),
                "client_id": self._oauth.client_id,
            }
            return OAuthClientInformationFull.model_validate(known)
        with suppress(ValidationError):
            return (
                OAuthClientInformationFull.model_validate(self._read()["client"]) if "client" in self._read() else None
            )
        return None

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        """Keep what we are known as."""
        self._write({**self._read(), "client": client_info.model_dump(mode="json", exclude_none=True)})

    def _read(self) -> dict[str, Any]:
        try:
            body: object = json.loads(self._path.read_text("utf-8"))
        except (OSError, ValueError):
            return {}
        return cast("dict[str, Any]", body) if isinstance(body, dict) else {}

    def _write(self, body: dict[str, Any]) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        fresh = self._path.with_suffix(".tmp")
        with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
            json.dump(body, file)
        os.replace(fresh, self._path)


class Visit:
    """Sends somebody to a server's sign-in page and waits at a port of this machine for the way back."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._state: str | None = None
        self._listener: asyncio.Server | None = None
        self._back: asyncio.Future[AuthorizationCodeResult] | None = None

    async def go(self, url: str) -> None:
        """Show the page, once its way back is open: who is signed in already comes back at once.

        Raises:
            InvalidSource: nobody is there who could sign in, or the port is taken.
        """
        show: Callable[[str], Any] | None = self._server.sign_in
        if show is None:
            name = self._server.name
            raise InvalidSource(
                f"server {name[:80]!r} wants somebody to sign in: toolsearch mcp --config FILE login {name[:80]}"
            )
        self._state = _query(url).get("state")
        self._back = asyncio.get_running_loop().create_future()
        self._listener = await self._listening()
        try:
            await asyncio.to_thread(show, url)
        except BaseException:
            self._listener.close()
            raise

    async def back(self) -> AuthorizationCodeResult:
        """What the page sent back.

        Raises:
            InvalidSource: nobody signed in in time, or it was refused.
        """
        async with cast("asyncio.Server", self._listener):
            try:
                async with asyncio.timeout(SECONDS):
                    return await cast("asyncio.Future[AuthorizationCodeResult]", self._back)
            except TimeoutError:
                raise InvalidSource(f"nobody signed in to server {self._server.name[:80]!r} in time") from None

    async def _listening(self) -> asyncio.Server:
        port = (self._server.oauth or OAuth()).port
        try:
            return await asyncio.start_server(self._answer, "127.0.0.1", port, limit=MAX_LINE)
        except OSError as error:
            raise InvalidSource(f"port {port}, where a sign-in comes back, cannot be used: {error.strerror}") from None

    async def _answer(self, reading: asyncio.StreamReader, writing: asyncio.StreamWriter) -> None:
        with suppress(OSError, ValueError, asyncio.IncompleteReadError):
            line = (await reading.readline()).decode("latin-1").split(" ")
            place = line[1] if len(line) > 1 else ""
            if urlsplit(place).path == PATH:
                self._take(_query(place))
            writing.write(DONE)
            await writing.drain()
        writing.close()

    def _take(self, given: dict[str, str]) -> None:
        """Take an answer to this sign-in; anybody on this machine can send others."""
        if self._back is None or self._back.done() or given.get("state") != self._state:
            return
        if "code" in given:
            self._back.set_result(
                AuthorizationCodeResult(code=given["code"], state=given.get("state"), iss=given.get("iss"))
            )
        elif "error" in given:
            why = f"{given['error']}: {given.get('error_description', '')}".strip(": ")
            name = self._server.name
            self._back.set_exception(InvalidSource(f"server {name[:80]!r} let nobody sign in ({why[:200]})"))


def _query(url: str) -> dict[str, str]:
    return {key: values[0] for key, values in parse_qs(urlsplit(url).query).items()}


def _about(oauth: OAuth) -> OAuthClientMetadata:
    return OAuthClientMetadata(
        client_name="toolsearch",
        redirect_uris=[AnyUrl(f"http://127.0.0.1:{oauth.port}{PATH}")],
        token_endpoint_auth_method="none",  # noqa: S106 - the name of a method
        scope=oauth.scope or None,
    )
