"""No caller of the gateway takes the places of another."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx2

from tests.mcp.support import gateway
from tests.mcp.test_http import HEADERS, served, tools
from toolsearch.mcp.calling import Caller
from toolsearch.mcp.http import http_application
from toolsearch.mcp.places import Places
from toolsearch.mcp.shares import Shares

HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}},
}


async def opened(http: httpx2.AsyncClient, url: str, name: str) -> httpx2.Response:
    headers = {"Accept": HEADERS["Accept"], "x-name": name}
    return await http.post(url, json=HELLO, headers=headers)


def test_a_caller_with_all_its_sessions_open_is_refused_alone() -> None:
    """Two sessions each: the third of one is refused until it ends one, and the other still opens its own."""

    async def inside() -> None:
        who = lambda request: Caller(None, request.headers["x-name"])  # noqa: E731 - one line
        application = http_application(gateway(*tools()), caller_of=who, sessions=2)
        async with served(application) as url, httpx2.AsyncClient() as http:
            first = await opened(http, url, "a")
            assert (await opened(http, url, "a")).status_code == 200
            refused = await opened(http, url, "a")
            assert (refused.status_code, refused.headers["retry-after"]) == (429, "60")
            assert "at most 2 sessions" in refused.json()["error"]["message"]
            assert (await opened(http, url, "b")).status_code == 200
            own = {"mcp-session-id": first.headers["mcp-session-id"], "x-name": "a"}
            assert (await http.delete(url, headers=own)).status_code == 200
            assert (await opened(http, url, "a")).status_code == 200

    asyncio.run(inside())


def test_sessions_that_ended_by_themselves_give_their_places_back() -> None:
    """After the time that the application keeps an idle one, and when it says that there is none."""

    async def app(scope: Any, receive: Any, send: Any) -> None:
        headers = [] if scope["status"] == 404 else [(b"mcp-session-id", scope["status"].__repr__().encode())]
        await send({"type": "http.response.start", "status": scope["status"], "headers": headers})

    async def sent(places: Places, status: int, session: str = "") -> None:
        async def drop(message: Any) -> None:
            del message

        async def nothing() -> Any:
            return {"type": "http.disconnect"}

        headers = [(b"mcp-session-id", session.encode())] if session else []
        scope = {"type": "http", "method": "POST", "headers": headers, "status": status}
        await places(scope, nothing, drop)

    async def inside() -> None:
        kept, hasty = Places(app, 60.0, lambda scope: "a"), Places(app, 0.0, lambda scope: "a")
        for places in (kept, hasty):
            await sent(places, 200)
        assert (kept.count("a"), hasty.count("a")) == (1, 0)
        await sent(kept, 404, "200")
        assert kept.count("a") == 0

    asyncio.run(inside())


def test_who_keeps_too_much_loses_its_own_oldest() -> None:
    """Never what another one keeps; and where all together keep too much, whoever has most of it loses."""
    shares: Shares[int, str] = Shares(each=3, most=4)
    assert [shares.put("a", number, f"a{number}") for number in range(4)] == [None, None, None, "a0"]
    assert shares.put("b", 10, "b10") is None
    assert shares.put("b", 11, "b11") == "a1"
    assert (shares.get(10), shares.get(0), shares.pop(2), len(shares)) == ("b10", None, "a2", 3)
    assert dict(shares.items()) == {3: "a3", 10: "b10", 11: "b11"}
