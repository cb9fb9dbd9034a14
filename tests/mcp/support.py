"""Gateways, servers behind them and clients that several tests use."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from mcp import Client

from toolsearch.index.tool_index import ToolIndex
from toolsearch.mcp.calling import OWNER, Caller
from toolsearch.mcp.config import Config
from toolsearch.mcp.gateway import Gateway
from toolsearch.mcp.server import GatewayServer
from toolsearch.tool import Tool, ToolSpec

SCRIPT = str(Path(__file__).parent / "plain_server.py")
SOON = 60.0


def spec(name: str, description: str = "", namespace: str = "", **more: Any) -> ToolSpec:
    return ToolSpec(name=name, description=description, namespace=namespace, **more)


def made(name: str, description: str = "", namespace: str = "", **more: Any) -> Tool:
    """A tool that answers with its arguments."""

    def run(arguments: dict[str, Any], context: Any = None) -> Any:
        return {"ran": name, **arguments}

    return Tool(spec(name, description, namespace, **more), run)


def gateway(*tools: Tool | ToolSpec, document: Any = None, folder: Path | None = None, **options: Any) -> Gateway:
    """A gateway over tools in memory, words only, with the servers of a document."""
    body = {"toolsearch": {"start": 60.0, **options}, **(document or {})}
    memory = folder / "gateway.json" if folder else None
    return Gateway(ToolIndex.from_tools(tools, encoder=None), Config.of(body, folder=folder), memory=memory)


@asynccontextmanager
async def client(over: Gateway, caller: Caller = OWNER, mode: str = "auto", **more: Any) -> AsyncIterator[Client]:
    """A client of the SDK, connected in process."""
    server = GatewayServer(over, lambda _: caller)
    news = asyncio.create_task(server.news.run())
    try:
        async with over.running(), Client(server.server, mode=mode, **more) as connected:
            yield connected
    finally:
        news.cancel()
        await asyncio.gather(news, return_exceptions=True)


def described(name: str, text: str = "", **properties: Any) -> dict[str, Any]:
    """A tool as a server lists it."""
    return {
        "name": name,
        "description": text or f"Does {name}",
        "inputSchema": {"type": "object", "properties": properties},
    }


def server(path: Path, *tools: dict[str, Any], **more: Any) -> dict[str, Any]:
    """The entry of a plain server whose tools stand in a file."""
    path.write_text(json.dumps(list(tools)))
    return {"command": sys.executable, "args": [SCRIPT, str(path)], **more}


async def search(connected: Client, query: str, **more: Any) -> dict[str, Any]:
    answer = await connected.call_tool("search_tools", {"query": query, **more})
    assert not answer.is_error, answer.content
    return answer.structured_content


async def run(connected: Client, name: str, **arguments: Any) -> Any:
    return await connected.call_tool("call_tool", {"name": name, "arguments": arguments})


def text(answer: Any) -> str:
    return answer.content[0].text


def names(answer: dict[str, Any]) -> list[str]:
    return [tool["name"] for tool in answer["tools"]]


async def until(true: Callable[[], bool] | Callable[[], Coroutine[Any, Any, bool]]) -> None:
    """Wait until something is so, for a bounded time."""
    async with asyncio.timeout(SOON):
        while True:
            answer = true()
            if await answer if asyncio.iscoroutine(answer) else answer:
                return
            await asyncio.sleep(0.05)
