"""What a client sees as the gateway's list of tools, by mode."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Final

from mcp_types import Tool as Listed

from toolsearch.agent.exposing import exposed
from toolsearch.errors import DuplicateTool
from toolsearch.mcp.calling import Caller
from toolsearch.mcp.doors import DOORS, doors
from toolsearch.mcp.gateway import Gateway
from toolsearch.mcp.showing import listed
from toolsearch.tool import ToolSpec

PAGE: Final = 200
"""Tools of one page in passthrough mode."""


class ToolList:
    """The list of one gateway. In proxy mode it has the three doors and the pinned tools, and never changes by itself.

    In passthrough mode it has every tool; beyond `max_tools` the rest is found through the doors, which then are in
    the list and count.

    Raises:
        DuplicateTool: a pinned tool has the name of a door.
    """

    def __init__(self, gateway: Gateway) -> None:
        self._gateway, self._options = gateway, gateway.options
        for tool_id in self._options.pinned:
            if exposed(tool_id) in DOORS:
                raise DuplicateTool(f"the pinned tool {tool_id[:120]!r} and a tool of the gateway have one name")

    @property
    def changes(self) -> bool:
        """Whether clients are told of changes."""
        return self._options.mode == "passthrough"

    async def page(self, caller: Caller, cursor: str | None) -> tuple[list[Listed], str | None]:
        """A page of the caller's list, and the cursor of the next one.

        Raises:
            InvalidInput: the cursor is not one of ours.
        """
        if self._options.mode == "proxy":
            tools = await asyncio.to_thread(self._proxy, caller)
            if len(tools) < len(DOORS) + len(self._options.pinned) and not self._gateway.is_settled:
                await self._gateway.settled()
                tools = await asyncio.to_thread(self._proxy, caller)
            return tools, None
        await self._gateway.settled()
        return await asyncio.to_thread(self._passthrough, caller, cursor)

    def fingerprint(self, caller: Caller) -> frozenset[tuple[str, str]]:
        """What the caller's list is made of; equal lists have equal ones. Walks the catalog."""
        return frozenset((spec.id, spec.content_hash) for spec in self._gateway.index.view(caller=caller.groups))

    def _proxy(self, caller: Caller) -> list[Listed]:
        view = self._gateway.index.view(caller=caller.groups)
        pinned = [spec for one in self._options.pinned if (spec := view.get(one)) is not None]
        return [*doors(self._gateway.summary(caller)), *map(listed, pinned)]

    def _passthrough(self, caller: Caller, cursor: str | None) -> tuple[list[Listed], str | None]:
        most = self._options.max_tools
        index = self._gateway.index
        if not most:
            page = index.tools(caller=caller.groups, cursor=cursor, limit=PAGE)
            return self._shown(page.tools), page.next_cursor
        page = index.tools(caller=caller.groups, limit=min(most, 1_000))
        if page.next_cursor is None:
            return self._shown(page.tools), None
        own = doors(self._gateway.summary(caller))[:most]
        return [*own, *self._shown(page.tools[: most - len(own)])], None

    def _shown(self, specs: Sequence[ToolSpec]) -> list[Listed]:
        return [listed(spec, self._gateway.unavailable(spec)) for spec in specs]
