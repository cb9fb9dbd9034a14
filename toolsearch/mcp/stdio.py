"""The gateway over standard input and output, as a desktop client starts it."""

from __future__ import annotations

import asyncio

from mcp.server.stdio import stdio_server

from toolsearch.mcp.calling import OWNER, Caller
from toolsearch.mcp.gateway import Gateway
from toolsearch.mcp.server import GatewayServer


async def serve(gateway: Gateway, caller: Caller = OWNER) -> None:
    """Serve one client until it closes the input."""
    server = GatewayServer(gateway, lambda _: caller)
    async with gateway.running(), stdio_server() as (reading, writing):
        news = asyncio.create_task(server.news.run())
        try:
            await server.server.run(reading, writing, server.options)
        finally:
            news.cancel()
            await asyncio.gather(news, return_exceptions=True)
