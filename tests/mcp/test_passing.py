"""Resources and prompts of the servers behind the gateway."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

import pytest
from mcp import MCPError

from tests.mcp.support import client, described, gateway, run, server
from toolsearch.mcp.calling import Caller
from toolsearch.mcp.gateway import Gateway

LIBRARY: dict[str, Any] = {"command": sys.executable, "args": [str(Path(__file__).parent / "library_server.py")]}


def behind(**servers: Any) -> dict[str, Any]:
    return {"mcpServers": servers}


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_resources_are_listed_and_read_by_their_servers_name(mode: str, tmp_path: Path) -> None:
    """Of two servers with equal ones, beside a server that has none; what lists give can be read."""
    plain = server(tmp_path / "a.json", described("saw"))

    async def inside() -> None:
        over = gateway(document=behind(one=LIBRARY, plain=plain, other=LIBRARY))
        async with client(over, mode=mode) as connected:
            listed = (await connected.list_resources()).resources
            assert [str(one.uri) for one in listed] == ["mcp://one/book://today", "mcp://other/book://today"]
            assert listed[0].description == "The book of today"
            for one in listed:
                [content] = (await connected.read_resource(str(one.uri))).contents
                assert (content.text, str(content.uri)) == ("three entries", str(one.uri))
            templates = (await connected.list_resource_templates()).resource_templates
            assert templates[0].uri_template == "mcp://one/book://day/{day}"
            [content] = (await connected.read_resource("mcp://one/book://day/monday")).contents
            assert content.text == "entries of monday"

    asyncio.run(inside())


def test_prompts_are_listed_and_filled_in() -> None:
    """Under the names of their servers."""

    async def inside() -> None:
        async with client(gateway(document=behind(one=LIBRARY))) as connected:
            [prompt] = (await connected.list_prompts()).prompts
            assert (prompt.name, prompt.description) == ("one__close_day", "Close a day")
            answer = await connected.get_prompt("one__close_day", {"day": "monday"})
            assert answer.messages[0].content.text == "Close the books of monday"

    asyncio.run(inside())


def test_links_in_answers_can_be_read() -> None:
    """A link to a server's resource is ours; one to the web stays."""

    async def inside() -> None:
        async with client(gateway(document=behind(one=LIBRARY))) as connected:
            links = [str(block.uri) for block in (await run(connected, "one__book_of_today")).content]
            assert links == ["mcp://one/book://today", "https://example.com/book"]
            [content] = (await connected.read_resource(links[0])).contents
            assert content.text == "three entries"

    asyncio.run(inside())


def test_what_a_caller_may_not_see_is_not_there() -> None:
    """A hidden server is neither listed nor read, and the answer is the one for a server that does not exist."""

    async def inside() -> None:
        over = gateway(document=behind(one={**LIBRARY, "toolsearch": {"groups": ["ops"]}}))
        async with client(over, Caller(frozenset({"dev"}))) as connected:
            assert (await connected.list_resources()).resources == []
            assert (await connected.list_prompts()).prompts == []
            told = []
            for name in ("one", "two"):
                with pytest.raises(MCPError) as refused:
                    await connected.read_resource(f"mcp://{name}/book://today")
                told.append(str(refused.value).replace(name, "x"))
                with pytest.raises(MCPError) as refused:
                    await connected.get_prompt(f"{name}__close_day", {"day": "monday"})
                told.append(str(refused.value).replace(name, "x"))
            assert told[:2] == told[2:]

    asyncio.run(inside())


async def learnt(over: Gateway, caller: Caller) -> list[Any]:
    """All that a caller can learn of three servers: lists, contents, prompts, tools, searches, errors."""
    told: list[Any] = []
    async with client(over, caller) as connected:
        listed = (connected.list_resources, connected.list_resource_templates, connected.list_prompts)
        told += [(await one()).model_dump() for one in (*listed, connected.list_tools)]
        for name in ("one", "two", "old_town"):
            asked: list[Coroutine[Any, Any, Any]] = [
                connected.read_resource(f"mcp://{name}/book://today"),
                connected.get_prompt(f"{name}__close_day", {"day": "monday"}),
                connected.call_tool("search_tools", {"query": f"{name} book of today"}),
                connected.call_tool("get_tool", {"names": [f"{name}__book_of_today", f"{name}__book"]}),
                connected.call_tool("call_tool", {"name": f"{name}__book_of_today", "arguments": {}}),
            ]
            for one in asked:
                try:
                    told.append((await one).model_dump())
                except MCPError as error:
                    told.append((error.error.code, error.error.message))
    return told


@pytest.mark.slow
def test_hidden_servers_leave_no_trace() -> None:
    """Whatever is asked, the answers are those of a gateway without the servers that a caller may not see."""
    # Names of unlike length, or equal scores would stand in the order in which the servers came up.
    groups = {"one": ["red"], "two": ["blue"], "old_town": []}

    def over(*names: str) -> Gateway:
        return gateway(document=behind(**{name: {**LIBRARY, "toolsearch": {"groups": groups[name]}} for name in names}))

    async def inside() -> None:
        caller = Caller(frozenset({"red"}))
        assert await learnt(over(*groups), caller) == await learnt(over("one", "old_town"), caller)

    asyncio.run(inside())


def test_without_servers_there_are_none() -> None:
    """A gateway of an index alone does not say that it has resources or prompts; a strange cursor is refused."""

    async def inside() -> None:
        async with client(gateway()) as connected:
            assert connected.server_capabilities.resources is None
            assert connected.server_capabilities.prompts is None
        async with client(gateway(document=behind(one=LIBRARY))) as connected:
            with pytest.raises(MCPError, match="cursor"):
                await connected.list_resources(cursor="bm8=")

    asyncio.run(inside())
