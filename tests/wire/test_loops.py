"""Connections that servers keep open, and the event loops that they belong to."""

from __future__ import annotations

import asyncio

import pytest

from tests.wire.server import Vendor, serving
from tests.wire.test_agents import EVERY, VENDORS
from toolsearch.agent.host import Agent
from toolsearch.llm.clients import here


def named(vendor: Vendor, name: str) -> Agent:
    """An agent that opens its model by name, so that closing it closes the connection."""
    provider, path, model = VENDORS[name]
    return Agent(f"{provider}:{vendor.url}{path}#{model}")


@EVERY
def test_a_kept_connection_serves_the_next_run(name: str) -> None:
    """Several run_sync calls of one agent use one connection."""
    with serving("one", "two", keep_alive=True) as vendor:
        host = named(vendor, name)
        with host:
            assert [host.run_sync("?").content, host.run_sync("?").content] == ["one", "two"]


@pytest.mark.parametrize("name", ["chat", "anthropic", "ollama"])
def test_each_loop_has_its_own_client(name: str) -> None:
    """A script may call asyncio.run twice; a client that was given is taken as it is."""
    with serving("one", "two", keep_alive=True) as vendor:
        host = named(vendor, name)

        async def said() -> str | None:
            done = await host.run("?")
            await host.close()
            return done.content

        assert [asyncio.run(said()), asyncio.run(said())] == ["one", "two"]
    own = object()
    assert here(own) is own
