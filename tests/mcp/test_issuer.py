"""Bearer tokens of an OpenID Connect issuer at the gateway's door, with a real issuer on loopback."""

from __future__ import annotations

import asyncio
import json
import socket
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import jwt
import pytest
import uvicorn
from cryptography.hazmat.primitives.asymmetric import ec
from jwt.algorithms import ECAlgorithm

from tests.mcp.support import gateway, made, names, search, until
from tests.mcp.test_http import connected, served
from toolsearch.errors import InvalidInput
from toolsearch.mcp.calling import Caller
from toolsearch.mcp.http import http_application, told
from toolsearch.mcp.issuer import Issuer

KEY = ec.generate_private_key(ec.SECP256R1())
OTHER = ec.generate_private_key(ec.SECP256R1())
PUBLIC = {**json.loads(ECAlgorithm.to_jwk(KEY.public_key())), "kid": "one", "use": "sig"}


@asynccontextmanager
async def issuing(**about: Any) -> AsyncIterator[str]:
    """The address of an issuer that publishes one key."""

    async def answer(scope: Any, receive: Any, send: Any) -> None:
        known = scope["path"].endswith("openid-configuration")
        body = {"issuer": url, "jwks_uri": f"{url}/keys", **about} if known else {"keys": [PUBLIC]}
        start = {"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"application/json")]}
        await send(start)
        await send({"type": "http.response.body", "body": json.dumps(body).encode()})

    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        runner = uvicorn.Server(uvicorn.Config(answer, log_level="critical", lifespan="off"))
        task = asyncio.create_task(runner.serve(sockets=[listener]))
        await until(lambda: runner.started)
        yield url
        runner.should_exit = True
        await task


def token(url: str, key: Any = KEY, algorithm: str = "ES256", kid: str = "one", **claims: Any) -> str:
    body = {"iss": url, "aud": "gateway", "sub": "ana", "exp": time.time() + 3_600, "groups": ["dev"], **claims}
    given = {name: value for name, value in body.items() if value is not None}
    return jwt.encode(given, key, algorithm=algorithm, headers={"kid": kid})


def test_a_good_token_names_its_caller() -> None:
    """Subject and groups; a token without groups has none."""

    async def inside() -> None:
        async with issuing() as url:
            issuer = Issuer(url, "gateway")
            assert await issuer.caller(token(url)) == Caller(frozenset(["dev"]), "ana")
            assert await issuer.caller(token(url, groups="dev ops")) == Caller(frozenset(["dev", "ops"]), "ana")
            assert await issuer.caller(token(url, groups=None)) == Caller(frozenset(), "ana")

    asyncio.run(inside())


def test_bad_tokens_are_refused() -> None:
    """Expired, for others, of others, signed otherwise, without claims, or no token at all."""

    async def inside() -> None:
        async with issuing() as url:
            issuer = Issuer(url, "gateway")
            secret = PUBLIC["x"] + PUBLIC["y"]
            bad = [
                token(url, exp=time.time() - 120), token(url, aud="other"), token("http://127.0.0.1:1"),
                token(url, OTHER), token(url, kid="two"), token(url, sub=None), token(url, exp=None),
                token(url, nbf=time.time() + 120), token(url, secret, "HS256"), "a.b.c", "", "x" * 20_000,
                jwt.encode({"iss": url, "aud": "gateway", "sub": "ana"}, None, algorithm="none"),
                token(url)[:-4] + "AAAA",
            ]  # fmt: skip
            for one in bad:
                with pytest.raises(InvalidInput):
                    await issuer.caller(one)

    asyncio.run(inside())


def test_an_issuer_that_is_somebody_else() -> None:
    """Its own name must be the configured one; it must be there; and its address must be safe."""

    async def inside() -> None:
        async with issuing(issuer="http://127.0.0.1:1") as url:
            with pytest.raises(InvalidInput, match="another name"):
                await Issuer(url, "gateway").caller(token(url))
        with pytest.raises(InvalidInput, match="cannot be asked"):
            await Issuer("http://127.0.0.1:9", "gateway").caller(token("http://127.0.0.1:9"))

    asyncio.run(inside())
    with pytest.raises(InvalidInput, match="https"):
        Issuer("http://issuer.example", "gateway")


def test_tokens_at_the_door() -> None:
    """Beside keys and alone; a client without a token is told where to get one."""

    async def inside() -> None:
        tools = [made("plane", "Plane wood"), made("lathe", "Turn wood", groups=("dev",))]
        async with issuing() as url:
            issuer = Issuer(url, "gateway")
            async with served(http_application(gateway(*tools), issuer=issuer)) as place, httpx2.AsyncClient() as http:
                async with connected(place, Authorization=f"Bearer {token(url)}") as client:
                    assert set(names(await search(client, "wood"))) == {"plane", "lathe"}
                async with connected(place, "legacy", Authorization=f"Bearer {token(url, groups=None)}") as client:
                    assert names(await search(client, "wood")) == ["plane"]
                refused = await http.post(place, json={})
                assert refused.status_code == 401
                about = refused.headers["www-authenticate"].partition('resource_metadata="')[2].rstrip('"')
                assert (await http.get(about)).json()["authorization_servers"] == [url]
            beside = http_application(gateway(*tools), issuer=issuer, caller_of=told)
            async with served(beside, keys=True) as place:
                async with connected(place, **{"x-groups": "ops"}) as client:
                    assert names(await search(client, "wood")) == ["plane"]
                async with connected(place, Authorization=f"Bearer {token(url)}") as client:
                    assert len(names(await search(client, "wood"))) == 2

    asyncio.run(inside())
