"""The gateway over streamable HTTP on loopback: both eras, who asks, and messages that are none."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import pytest
import uvicorn
from hypothesis import given, settings
from hypothesis import strategies as st
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from tests.mcp.support import SOON, gateway, made, names, run, search, until
from toolsearch.mcp.calling import Caller
from toolsearch.mcp.http import HTTPGateway, http_application, told

MODERN = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}
HEADERS = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2026-07-28"}


@asynccontextmanager
async def served(application: HTTPGateway, **more: Any) -> AsyncIterator[str]:
    """The address of an application that runs in this loop; `more` goes into the scope, as a service would write it."""

    async def at_mcp(scope: Any, receive: Any, send: Any) -> None:
        headers = dict(scope["headers"])
        groups = headers.get(b"x-groups")
        known = {"key": "k", "groups": None if groups is None else [one for one in groups.decode().split(",") if one]}
        await application({**scope, **({"toolsearch": known} if more.get("keys") else {})}, receive, send)

    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
        runner = uvicorn.Server(uvicorn.Config(at_mcp, log_level="critical", lifespan="off"))
        async with application.running():
            task = asyncio.create_task(runner.serve(sockets=[listener]))
            await until(lambda: runner.started)
            yield f"http://127.0.0.1:{port}/mcp"
            runner.should_exit = True
            await task


@asynccontextmanager
async def connected(url: str, mode: str = "auto", **headers: str) -> AsyncIterator[Client]:
    async with httpx2.AsyncClient(headers=headers, timeout=SOON) as http:
        transport: Any = streamable_http_client(url, http_client=http)
        async with Client(transport, mode=mode) as client:
            yield client


def tools() -> list[Any]:
    return [made("plane", "Plane wood"), made("lathe", "Turn wood", groups=("dev",))]


@pytest.mark.parametrize("stateless", [False, True])
def test_both_eras(stateless: bool) -> None:
    """A client of either finds and calls tools, with sessions and without."""

    async def inside() -> None:
        async with served(http_application(gateway(*tools()), stateless=stateless)) as url:
            for mode, version in (("auto", "2026-07-28"), ("legacy", "2025-11-25")):
                async with connected(url, mode) as client:
                    assert client.protocol_version == version
                    assert len(names(await search(client, "wood"))) == 2
                    assert (await run(client, "lathe", a=1)).structured_content == {"ran": "lathe", "a": 1}

    asyncio.run(inside())


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_each_message_is_answered_for_its_own_caller(mode: str) -> None:
    """Groups come with every request: the same session never widens what a key sees."""

    async def inside() -> None:
        application = http_application(gateway(*tools()), caller_of=told, hosts=["*"])
        async with served(application, keys=True) as url:
            for groups, seen in (("dev", {"plane", "lathe"}), ("ops", {"plane"}), ("", {"plane"})):
                async with connected(url, mode, **{"x-groups": groups}) as client:
                    assert set(names(await search(client, "wood"))) == seen
                    assert (await run(client, "lathe")).is_error is ("lathe" not in seen)

    asyncio.run(inside())


def test_nobody_known_sees_what_everybody_may() -> None:
    """A service that forgets to say who asks opens nothing."""

    async def inside() -> None:
        async with (
            served(http_application(gateway(*tools()), caller_of=told)) as url,
            connected(url) as client,
        ):
            assert names(await search(client, "wood")) == ["plane"]

    asyncio.run(inside())


def test_foreign_hosts_and_origins_are_refused() -> None:
    """A page of another site cannot use a gateway on this machine."""

    async def inside() -> None:
        async with served(http_application(gateway(*tools()))) as url, httpx2.AsyncClient() as http:
            body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": MODERN}}
            own = {**HEADERS, "Mcp-Method": "tools/list"}
            assert (await http.post(url, json=body, headers=own)).status_code == 200
            assert (await http.post(url, json=body, headers={**own, "Host": "evil.example"})).status_code >= 400
            assert (
                await http.post(url, json=body, headers={**own, "Origin": "http://evil.example"})
            ).status_code == 403
            large = await http.post(url, content=b"x" * 5_000_000, headers={**own, "Content-Type": "application/json"})
            assert large.status_code == 413

    asyncio.run(inside())


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
METHODS = st.sampled_from(["tools/call", "tools/list", "server/discover", "subscriptions/listen", "initialize", "x"])
PARAMS = st.fixed_dictionaries(
    {}, optional={"name": st.sampled_from(["search_tools", "get_tool", "call_tool", "plane"]) | VALUES,
                  "arguments": st.fixed_dictionaries({}, optional={"query": VALUES, "limit": VALUES, "names": VALUES,
                                                                   "name": VALUES, "arguments": VALUES}) | VALUES,
                  "cursor": VALUES}
)  # fmt: skip


def test_messages_that_make_no_sense() -> None:
    """Each gets an answer that is no server error, and the next client is served."""

    async def inside() -> None:
        async with served(http_application(gateway(*tools()))) as url, httpx2.AsyncClient() as http:

            async def post(method: Any, params: Any, number: Any) -> None:
                body = {"jsonrpc": "2.0", "id": number, "method": method, "params": {**params, "_meta": MODERN}}
                name = params.get("name")
                more = {"Mcp-Name": name} if isinstance(name, str) and name.isascii() and name.isprintable() else {}
                sent = {**HEADERS, "Mcp-Method": str(method), "Content-Type": "application/json", **more}
                answer = await http.post(url, content=json.dumps(body), headers=sent, timeout=60)
                assert answer.status_code < 500, answer.text
                assert "Traceback" not in answer.text

            for method, params, number in samples:
                if method != "subscriptions/listen":
                    await post(method, params, number)
            for text in (b"", b"[]", b"{", b"null", b'{"jsonrpc":"2.0"}', b"\xff\xfe", b"[" * 10_000):
                sent = {**HEADERS, "Mcp-Method": "x", "Content-Type": "application/json"}
                assert (await http.post(url, content=text, headers=sent)).status_code < 500
            async with connected(url) as client:
                assert len(names(await search(client, "wood"))) == 2

    samples: list[Any] = []

    @settings(max_examples=60, deadline=None, database=None)
    @given(METHODS, PARAMS, st.integers(0, 9) | st.text(min_size=1, max_size=5))
    def gather(method: Any, params: Any, number: Any) -> None:
        samples.append((method, params, number))

    gather()
    asyncio.run(inside())


def test_a_caller_is_what_the_scope_says() -> None:
    """Groups, all of them, or nothing known."""

    def scope(**known: Any) -> Any:
        from starlette.requests import Request

        return Request({"type": "http", "headers": [], **known})

    assert told(scope(toolsearch={"key": "ana", "groups": ["a"]})) == Caller(frozenset(["a"]), "ana")
    assert told(scope(toolsearch={"key": None, "groups": None})) == Caller(None, "")
    assert told(scope()) == Caller(frozenset())
