"""Connections that servers keep open, and the event loops that they belong to."""

from __future__ import annotations

import asyncio

import pytest

from tests.wire.server import serving
from tests.wire.test_agents import EVERY, agent
from toolsearch.agent.edge import finished
from toolsearch.llm.clients import Clients, here


@EVERY
def test_a_kept_connection_serves_the_next_run(name: str) -> None:
    """Several run_sync calls of one agent use one connection."""
    with serving("one", "two", keep_alive=True) as vendor:
        host = agent(vendor, name, [])
        try:
            assert [host.run_sync("?").content, host.run_sync("?").content] == ["one", "two"]
        finally:
            finished(lambda: closed(host.chat_model.adapter.client))


async def closed(clients: Clients) -> None:
    await here(clients).close()


@pytest.mark.parametrize("name", ["chat", "anthropic", "ollama"])
def test_each_loop_has_its_own_client(name: str) -> None:
    """A script may call asyncio.run twice; a client that was given is taken as it is."""
    with serving("one", "two", keep_alive=True) as vendor:
        host = agent(vendor, name, [])

        async def said() -> str | None:
            done = await host.run("?")
            await closed(host.chat_model.adapter.client)
            return done.content

        assert [asyncio.run(said()), asyncio.run(said())] == ["one", "two"]
    own = object()
    assert here(own) is own
