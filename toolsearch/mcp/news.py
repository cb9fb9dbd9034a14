"""Tells clients that their list of tools changed, and only those whose own list did."""

from __future__ import annotations

import asyncio
from typing import Any, Final

import anyio
from mcp import MCPError
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ToolsListChanged

from toolsearch.index.tool_index import ToolIndex
from toolsearch.mcp.calling import Caller
from toolsearch.mcp.listing import ToolList
from toolsearch.mcp.shares import Shares

PAUSE: Final = 0.5
"""Seconds between two looks at the generation of the catalog."""
EACH: Final = 1_000
MAX_CLIENTS: Final = 10_000
"""Clients of the older era that are told, of one caller and of all."""

_Groups = frozenset[str] | None


class News:
    """Follows one index. Clients with the same groups have the same list."""

    def __init__(self, index: ToolIndex, tools: ToolList) -> None:
        self._index, self._tools = index, tools
        self._lists: dict[_Groups, Any] = {}
        self._buses: dict[_Groups, tuple[InMemorySubscriptionBus, ListenHandler]] = {}
        self._clients: Shares[int, tuple[Any, _Groups]] = Shares(EACH, MAX_CLIENTS)

    def handler(self, caller: Caller) -> ListenHandler:
        """Serves a subscription of a client of the newer era. Blocks at a caller's first."""
        self._known(caller)
        if caller.groups not in self._buses:
            bus = InMemorySubscriptionBus()
            self._buses[caller.groups] = (bus, ListenHandler(bus))
        return self._buses[caller.groups][1]

    async def follow(self, session: Any, caller: Caller) -> None:
        """Tell a client of the older era, as long as it is there."""
        await asyncio.to_thread(self._known, caller)
        self._clients.put(caller.name, id(session), (session, caller.groups))

    async def run(self) -> None:
        """Watch the catalog until cancelled."""
        seen: Any = None
        while True:
            await asyncio.sleep(PAUSE)
            corpus = self._index.view().corpus
            if corpus is seen or not self._lists:
                continue
            seen = corpus
            for groups, before in list(self._lists.items()):
                now = await asyncio.to_thread(self._tools.fingerprint, Caller(groups))
                if now != before:
                    self._lists[groups] = now
                    await self._tell(groups)

    def _known(self, caller: Caller) -> None:
        if caller.groups not in self._lists:
            self._lists[caller.groups] = self._tools.fingerprint(caller)

    async def _tell(self, groups: _Groups) -> None:
        if groups in self._buses:
            await self._buses[groups][0].publish(ToolsListChanged())
        for key, (session, own) in self._clients.items():
            if own != groups:
                continue
            try:
                await session.send_tool_list_changed()
            except (MCPError, anyio.ClosedResourceError, anyio.BrokenResourceError, RuntimeError):
                self._clients.pop(key)
