"""The gateway over standard input and output, as a desktop client starts it."""

from __future__ import annotations

import asyncio
import sys
from contextlib import redirect_stdout
from typing import Any

from mcp.server.stdio import stdio_server

from toolsearch.mcp.calling import OWNER, Caller
from toolsearch.mcp.gateway import Gateway
from toolsearch.mcp.server import GatewayServer


async def serve(gateway: Gateway, caller: Caller = OWNER) -> None:
    """Serve one client until it closes the input. What tools print goes to standard error."""
    server = GatewayServer(gateway, lambda _: caller)
    async with gateway.running(), stdio_server() as (reading, writing):
        with redirect_stdout(sys.stderr):
            await _served(server, reading, writing)


async def _served(server: GatewayServer, reading: Any, writing: Any) -> None:
    news = asyncio.create_task(server.news.run())
    try:
        await server.server.run(reading, writing, server.options)
    finally:
        news.cancel()
        await asyncio.gather(news, return_exceptions=True)
