"""Live MCP servers are listed whole, of both eras, and those that misbehave give one clear problem."""

from __future__ import annotations

import asyncio
import json
import socket
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from mcp.server.mcpserver import Context, MCPServer

from tests.catalog.scripted_server import BAD
from toolsearch.catalog.mcp_connection import Limits, connected
from toolsearch.catalog.mcp_live import listings
from toolsearch.catalog.mcp_servers import Server
from toolsearch.catalog.sources import load
from toolsearch.errors import InvalidSource, ToolErrorForModel

SCRIPT = str(Path(__file__).parent / "scripted_server.py")
SHORT = Limits(connect=2.0, listing=0.5, call=5.0, pages=5)


def scripted(manner: str) -> Server:
    """A server of this manner."""
    return Server(name="scripted", transport="stdio", command=sys.executable, args=(SCRIPT, manner))


def listed(server: Server, limits: Limits | None = None) -> Any:
    """The listing of a server, or its error."""
    return asyncio.run(listings([server], limits=limits))[0]


def test_all_pages_are_read() -> None:
    """A listing of three pages is whole and in order, its tools know their server."""
    listing = listed(scripted("pages"))
    assert [tool.spec.id for tool in listing.tools] == [f"scripted/slot_{i:03d}" for i in range(101)]
    assert listing.tools[0].spec.source == "mcp:scripted"
    assert listing.problems == ()


def test_broken_tools_never_lose_the_others() -> None:
    """Each of eight bad definitions is a problem; odd but usable ones are kept."""
    listing = listed(scripted("broken"))
    assert [tool.spec.name for tool in listing.tools] == ["first", "typeless", "bad_extras", "any", "last"]
    assert len(listing.problems) == len(BAD)


@pytest.mark.parametrize(
    ("manner", "said", "count"),
    [("loop", "repeats a cursor", 2), ("endless", "more than 5 pages", 5), ("half", "breaks off", 1)],
)
def test_listings_that_do_not_end(manner: str, said: str, count: int) -> None:
    """What was read is kept, and a problem says why it is not all."""
    listing = listed(scripted(manner), SHORT)
    assert len(listing.tools) + sum("occurs twice" in one.reason for one in listing.problems) == count
    assert said in listing.problems[-1].reason


@pytest.mark.parametrize(
    ("manner", "said"),
    [("hangs", "no answer in time"), ("dies", "the configuration is missing"), ("mute", "gives no list")],
)
def test_servers_that_do_not_answer(manner: str, said: str) -> None:
    """A server that hangs, ends or never lists is one error that names it, in bounded time."""
    error = listed(scripted(manner), SHORT)
    assert isinstance(error, InvalidSource)
    assert "'scripted'" in str(error)
    assert said in str(error)


def test_a_server_that_knows_only_the_older_handshake() -> None:
    """One that ends at the newer question is started again in the older way."""
    assert len(listed(scripted("strict")).tools) == 2


def test_changes_are_followed_and_tools_called() -> None:
    """After a notice, and after a call refused as unknown, the list is read again."""

    async def follow() -> None:
        async with connected(scripted("changes")) as connection:
            first = await connection.listing()
            assert [tool.spec.name for tool in first.tools] == ["old", "keep"]
            changes = connection.changes()
            second = await asyncio.wait_for(anext(changes), 10)
            assert [tool.spec.name for tool in second.tools] == ["keep", "new"]
            run = second.tools[1].execute
            assert run is not None
            assert json.loads(await run({"a": 1}, None)) == {"a": 1}
            with pytest.raises(ToolErrorForModel, match="Unknown tool"):
                await connection.call("ghost", {})
            assert len((await asyncio.wait_for(anext(changes), 10)).tools) == 2

    asyncio.run(follow())


@pytest.fixture
def modern() -> Iterator[str]:
    """The address of a server of the newer era over streamable HTTP."""
    server = MCPServer("modern")

    def subtract(a: int, b: int) -> int:
        """Take b from a"""
        return a - b

    @server.tool()
    async def grow(context: Context[Any, Any]) -> str:
        """Offer one more tool"""
        server.add_tool(subtract)
        await context.notify_tools_changed()
        return "grown"

    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
        config = uvicorn.Config(server.streamable_http_app(), log_level="critical", lifespan="on")
        runner = uvicorn.Server(config)
        thread = threading.Thread(target=runner.run, kwargs={"sockets": [listener]})
        thread.start()
        while not runner.started:
            time.sleep(0.01)
        yield f"http://127.0.0.1:{port}/mcp"
        runner.should_exit = True
        thread.join()


def test_the_newer_era_over_http(modern: str) -> None:
    """The newest protocol is spoken, structured results come back, and changes are subscribed to."""

    async def follow() -> None:
        async with connected(Server(name="m", transport="http", url=modern)) as connection:
            assert connection.protocol == "2026-07-28"
            assert [tool.spec.id for tool in (await connection.listing()).tools] == ["m/grow"]
            await asyncio.sleep(0.2)
            assert await connection.call("grow", {}) == {"result": "grown"}
            grown = await asyncio.wait_for(anext(connection.changes()), 10)
            assert [tool.spec.name for tool in grown.tools] == ["grow", "subtract"]
            assert await connection.call("subtract", {"a": 3, "b": 1}) == {"result": 2}

    asyncio.run(follow())


def test_a_file_of_servers_is_a_source(tmp_path: Path) -> None:
    """Servers that work are listed, each of the others is one problem; equal names of two servers both stay."""
    entry = {"command": sys.executable, "args": [SCRIPT, "changes"]}
    servers = {"a": entry, "b": entry, "off": {**entry, "disabled": True}, "gone": {"command": "no-such-command-x"},
               "odd": {"type": "fax"}, "far": {"url": "http://127.0.0.1:9/mcp?token=secret"}}  # fmt: skip
    path = tmp_path / "mcp.json"
    path.write_text("// servers\n" + json.dumps({"mcpServers": servers}))
    found = load(path, keep_going=True)
    assert [tool.spec.id for tool in found.tools] == ["a/old", "a/keep", "b/old", "b/keep"]
    told = " | ".join(str(problem) for problem in found.problems)
    assert len(found.problems) == 3
    for said in ("no-such-command-x", "'fax'", "'far' cannot be reached"):
        assert said in told
    assert "secret" not in told


def test_a_source_inside_an_event_loop(tmp_path: Path) -> None:
    """`load` works where a loop is running already."""
    path = tmp_path / "mcp.json"
    path.write_text(
        json.dumps({"servers": {"a": {"type": "stdio", "command": sys.executable, "args": [SCRIPT, "pages"]}}})
    )

    async def inside() -> int:
        return len(load(path).tools)

    assert asyncio.run(inside()) == 101
