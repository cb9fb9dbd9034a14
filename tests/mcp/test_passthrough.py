"""Passthrough mode: every tool is listed, in pages or within a limit, and clients are told when their list changes."""

from __future__ import annotations

import asyncio
from itertools import count
from typing import Any

import pytest
from mcp import MCPError
from mcp_types import ToolListChangedNotification

from tests.mcp.support import client, gateway, made, names, search, spec, until
from toolsearch.mcp.calling import Caller


def test_all_pages() -> None:
    """Tools come with their schemas and annotations and are called by their own names."""

    async def inside() -> None:
        tools = [made(f"tool_{i:03d}", "Do", annotations={"readOnlyHint": True}) for i in range(450)]
        async with client(gateway(*tools, mode="passthrough")) as connected:
            found: list[Any] = []
            cursor = None
            while True:
                page = await connected.list_tools(cursor=cursor)
                found += page.tools
                cursor = page.next_cursor
                if cursor is None:
                    break
            assert [tool.name for tool in found] == [f"tool_{i:03d}" for i in range(450)]
            assert found[0].annotations.read_only_hint
            assert (await connected.call_tool("tool_007", {"a": 1})).structured_content == {"ran": "tool_007", "a": 1}
            with pytest.raises(MCPError, match="no cursor"):
                await connected.list_tools(cursor="x")

    asyncio.run(inside())


@pytest.mark.parametrize("most", [3, 40])
def test_the_list_never_passes_its_limit(most: int) -> None:
    """The doors count; the rest is found through them."""

    async def inside() -> None:
        tools = [made(f"tool_{i:03d}", "Do") for i in range(300)]
        async with client(gateway(*tools, mode="passthrough", max_tools=most)) as connected:
            page = await connected.list_tools()
            assert len(page.tools) == most
            assert page.next_cursor is None
            assert page.tools[0].name == "search_tools"
            assert names(await search(connected, "tool_299")) != []

    asyncio.run(inside())


def test_a_catalog_within_the_limit_is_sent_whole() -> None:
    """Without doors."""

    async def inside() -> None:
        async with client(gateway(made("one"), mode="passthrough", max_tools=40)) as connected:
            assert [tool.name for tool in (await connected.list_tools()).tools] == ["one"]

    asyncio.run(inside())


def test_output_schemas_of_any_type() -> None:
    """One that is no object's is shown as that of an object, which is what the structured content then is."""

    async def inside() -> None:
        over = gateway(made("count", output_schema={"type": "integer"}), mode="passthrough")
        over.index.bind({"count": lambda arguments, context=None: 3})
        for mode in ("auto", "legacy"):
            async with client(over, mode=mode) as connected:
                [tool] = (await connected.list_tools()).tools
                assert tool.output_schema["properties"] == {"result": {"type": "integer"}}
                assert (await connected.call_tool("count", {})).structured_content == {"result": 3}

    asyncio.run(inside())


def test_clients_are_told_when_their_own_list_changed() -> None:
    """Of both eras; a tool that a caller may not see tells it nothing."""

    async def inside(mode: str) -> None:
        over = gateway(made("one"), mode="passthrough")
        heard = asyncio.Event()

        async def on(message: Any) -> None:
            if isinstance(message, ToolListChangedNotification):
                heard.set()

        async with client(over, Caller(frozenset(["red"])), mode=mode, message_handler=on) as connected:
            await connected.list_tools()
            events = _events(connected, heard) if mode == "auto" else None
            task = asyncio.create_task(events) if events else None
            await asyncio.sleep(0.7)
            over.index.upsert([spec("secret", groups=["blue"])])
            await asyncio.sleep(1.2)
            assert not heard.is_set()
            numbers = count()

            async def told() -> bool:
                over.index.upsert([spec(f"two_{next(numbers)}", groups=["red"])])
                await asyncio.sleep(0.5)
                return heard.is_set()

            await until(told)
            if task:
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)

    asyncio.run(inside("legacy"))
    asyncio.run(inside("auto"))


async def _events(connected: Any, heard: asyncio.Event) -> None:
    async with connected.listen(tools_list_changed=True) as events:
        async for _ in events:
            heard.set()
