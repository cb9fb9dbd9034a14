"""The tools of live MCP servers, listed once: what a file of servers gives as a source.

Servers are started or called, several at the same time, and left again. What stays is a catalog without executors;
use `mcp_connection.connected` to run the tools.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial
from typing import Final

from anyio.from_thread import start_blocking_portal

from toolsearch.catalog.loaded import Collector
from toolsearch.catalog.mcp_connection import Limits, Listing, connected
from toolsearch.catalog.mcp_servers import Server, servers_of
from toolsearch.errors import InvalidSource
from toolsearch.tool import Tool

AT_ONCE: Final = 8
"""Servers that are listed at the same time."""


async def listings(servers: Sequence[Server], *, limits: Limits | None = None) -> list[Listing | InvalidSource]:
    """What each server offers, in order; an error where one cannot be listed. They do not wait for each other."""
    places = asyncio.Semaphore(AT_ONCE)

    async def one(server: Server) -> Listing | InvalidSource:
        async with places:
            try:
                async with connected(server, limits=limits) as connection:
                    return await connection.listing()
            except InvalidSource as error:
                return error

    return list(await asyncio.gather(*(one(server) for server in servers)))


def collect_servers(document: object, where: str, collector: Collector, *, limits: Limits | None = None) -> None:
    """Gather the tools of all servers of a document; may be used inside and outside of an event loop.

    Raises:
        InvalidSource: it is no such document, or something is broken and problems are not collected.
    """
    servers, broken = servers_of(document, where)
    for name, reason in broken:
        collector.fail(f"{where} server {name[:80]!r}", reason)
    with start_blocking_portal() as portal:
        found = portal.call(partial(listings, servers, limits=limits))
    for server, listing in zip(servers, found, strict=True):
        place = f"{where} server {server.name[:80]!r}"
        if isinstance(listing, InvalidSource):
            collector.fail(where, str(listing))
            continue
        for tool in listing.tools:
            collector.add(Tool(tool.spec), place)
        for problem in listing.problems:
            collector.fail(problem.where, problem.reason)
