"""Servers that want OAuth: with a client's secret, and with somebody who signs in once; over real HTTP on loopback."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import httpx2
import pytest
import uvicorn
from mcp.server.auth.provider import AccessToken
from mcp.server.auth.settings import AuthSettings
from mcp.server.mcpserver import MCPServer
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Mount, Route

from toolsearch.catalog.mcp_live import listings
from toolsearch.catalog.mcp_oauth import tokens_of
from toolsearch.catalog.mcp_servers import OAuth, Server, servers_of
from toolsearch.errors import InvalidSource


class Authority:
    """Gives tokens, takes them, and counts how often somebody signed in."""

    def __init__(self) -> None:
        self.signed_in = 0
        self.asked: list[str] = []
        self.seconds = 3600
        self.refuses = False

    async def verify_token(self, token: str) -> AccessToken | None:
        return AccessToken(token=token, client_id="c", scopes=[]) if token == "good" else None

    async def about(self, request: Request) -> Response:
        url = str(request.base_url).rstrip("/")
        return JSONResponse({
            "issuer": url, "authorization_endpoint": f"{url}/authorize", "token_endpoint": f"{url}/token",
            "registration_endpoint": f"{url}/register", "response_types_supported": ["code"],
            "code_challenge_methods_supported": ["S256"],
            "token_endpoint_auth_methods_supported": ["none", "client_secret_basic"],
        })  # fmt: skip

    async def register(self, request: Request) -> Response:
        return JSONResponse({**await request.json(), "client_id": "registered"}, 201)

    async def authorize(self, request: Request) -> Response:
        self.signed_in += 1
        if self.refuses:
            given = {"error": "access_denied", "state": request.query_params["state"]}
            return RedirectResponse(f"{request.query_params['redirect_uri']}?{urlencode(given)}")
        given = {"code": "c0de", "state": request.query_params["state"]}
        return RedirectResponse(f"{request.query_params['redirect_uri']}?{urlencode(given)}")

    async def token(self, request: Request) -> Response:
        given = {key: one[0] for key, one in parse_qs((await request.body()).decode()).items()}
        self.asked.append(given["grant_type"])
        basic = request.headers.get("authorization") == httpx2.BasicAuth("me", "secret")._auth_header
        if given["grant_type"] == "client_credentials" and not basic:
            return JSONResponse({"error": "invalid_client"}, 401)
        if given["grant_type"] == "refresh_token" and given["refresh_token"] != f"r{self.asked.count('refresh_token')}":
            return JSONResponse({"error": "invalid_grant"}, 400)
        return JSONResponse({
            "access_token": "good", "token_type": "Bearer", "expires_in": self.seconds,
            "refresh_token": f"r{self.asked.count('refresh_token') + 1}",
        })  # fmt: skip


@pytest.fixture
def place() -> Iterator[tuple[str, Authority]]:
    """The address of a server behind an authority, and the authority."""
    authority = Authority()
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        about = {"issuer_url": url, "resource_server_url": f"{url}/mcp", "validate_token_resource": False}
        settings = AuthSettings.model_validate(about)
        server = MCPServer("vault", token_verifier=authority, auth=settings)

        @server.tool()
        def open_vault() -> str:
            """Open the vault"""
            return "open"

        inner = server.streamable_http_app()
        routes = [
            Route("/.well-known/oauth-authorization-server", authority.about),
            Route("/register", authority.register, methods=["POST"]),
            Route("/authorize", authority.authorize),
            Route("/token", authority.token, methods=["POST"]),
            Mount("/", inner),
        ]
        application = Starlette(routes=routes, lifespan=lambda _: inner.router.lifespan_context(inner))
        runner = uvicorn.Server(uvicorn.Config(application, log_level="critical", lifespan="on"))
        thread = threading.Thread(target=runner.run, kwargs={"sockets": [listener]})
        thread.start()
        while not runner.started:
            time.sleep(0.01)
        yield url, authority
        runner.should_exit = True
        thread.join()


@pytest.fixture(autouse=True)
def _kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))


def listed(server: Server) -> Any:
    return asyncio.run(listings([server]))[0]


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def test_a_secret_needs_nobody(place: tuple[str, Authority]) -> None:
    """The token comes from the issuer that the entry names, and is kept for the user alone."""
    url, authority = place
    server = Server(name="v", transport="http", url=f"{url}/mcp",
                    oauth=OAuth(client_id="me", client_secret="secret", issuer=url))  # fmt: skip
    assert [tool.spec.name for tool in listed(server).tools] == ["open_vault"]
    assert authority.asked == ["client_credentials"]
    assert tokens_of(server).stat().st_mode & 0o777 == 0o600
    assert "secret" not in repr(server)


def test_somebody_signs_in_once(place: tuple[str, Authority]) -> None:
    """Without a sign-in the server says what to do; afterwards the kept token is used."""
    url, authority = place

    def browser(address: str) -> None:
        assert urlsplit(address).path == "/authorize"

        def visit() -> None:
            back = httpx2.get(address).headers["location"]
            for _ in range(100):
                try:
                    httpx2.get(back)
                except httpx2.ConnectError:
                    time.sleep(0.05)
                else:
                    return

        threading.Thread(target=visit).start()

    alone = Server(name="v", transport="http", url=f"{url}/mcp", oauth=OAuth(port=free_port()))
    refused = listed(alone)
    assert isinstance(refused, InvalidSource)
    assert "login v" in str(refused)
    shown = Server(name="v", transport="http", url=f"{url}/mcp", oauth=alone.oauth, sign_in=browser)
    assert len(listed(shown).tools) == 1
    assert len(listed(alone).tools) == 1
    assert authority.signed_in == 1


def test_what_entries_say() -> None:
    """As clients write it; a secret without its issuer is refused."""

    def one(**more: Any) -> Any:
        good, bad = servers_of({"mcpServers": {"s": {"url": "https://h.example/mcp", **more}}})
        return good[0].oauth if good else bad[0][1]

    assert one() is None
    assert one(auth="oauth") == OAuth()
    assert one(oauth={"clientId": "a", "scopes": ["x", "y"], "callbackPort": 99}) == OAuth(
        client_id="a", scope="x y", port=99
    )
    assert "issuer" in one(oauth={"clientId": "a", "clientSecret": "b"})
    assert "callbackPort" in one(oauth={"callbackPort": "x"})


def at_once(address: str) -> None:
    """A browser in which somebody is signed in already: it comes back before it is done."""
    back = httpx2.get(address).headers["location"]
    httpx2.get(back.replace("state=", "state=other"))
    httpx2.get(back)


def test_who_is_signed_in_already_comes_back_at_once(place: tuple[str, Authority]) -> None:
    """The way back is open before the page is shown, and an answer to something else is no answer."""
    url, authority = place
    server = Server(name="v", transport="http", url=f"{url}/mcp", oauth=OAuth(port=free_port()), sign_in=at_once)
    assert [tool.spec.name for tool in listed(server).tools] == ["open_vault"]
    assert authority.signed_in == 1


def test_a_refusal_is_told(place: tuple[str, Authority]) -> None:
    """Nobody waits for somebody who has refused."""
    url, authority = place
    authority.refuses = True
    server = Server(name="v", transport="http", url=f"{url}/mcp", oauth=OAuth(port=free_port()), sign_in=at_once)
    refused = listed(server)
    assert isinstance(refused, InvalidSource)
    assert "access_denied" in str(refused)


def test_tokens_that_ended_are_renewed_in_a_later_run(place: tuple[str, Authority]) -> None:
    """Nobody signs in again, and each refresh token is used once, whoever got it."""
    url, authority = place
    authority.seconds = 1
    about = {"name": "v", "transport": "http", "url": f"{url}/mcp", "oauth": OAuth(port=free_port())}
    assert [tool.spec.name for tool in listed(Server(**about, sign_in=at_once)).tools] == ["open_vault"]
    for _ in range(2):
        assert [tool.spec.name for tool in listed(Server(**about)).tools] == ["open_vault"]
    assert authority.signed_in == 1
    assert authority.asked[0] == "authorization_code"
    assert set(authority.asked[1:]) == {"refresh_token"}
