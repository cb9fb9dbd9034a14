"""What an agent opened ends with it; what it was given does not."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

from tests.agent.tools import agent, getTime
from toolsearch.agent.edge import finished
from toolsearch.agent.host import Agent
from toolsearch.agent.sessions import Session
from toolsearch.llm.clients import Clients
from toolsearch.llm.model import Model
from toolsearch.testing.models import ScriptedModel


class Client:
    """A client of an SDK that knows whether it is open."""

    def __init__(self) -> None:
        self.closed = 0

    async def close(self) -> None:
        self.closed += 1


class Adapter(ScriptedModel):
    """A scripted model with a client, as adapters have it."""

    def __init__(self, client: Any) -> None:
        super().__init__("ok", "ok")
        self.client = client


def test_clients_of_a_loop_are_closed_and_made_anew() -> None:
    """Closing ends the running loop's client only; the next use makes another one."""
    made: list[Client] = []

    def make() -> Client:
        made.append(Client())
        return made[-1]

    model = Model(adapter=Adapter(Clients(make)))

    async def talk() -> None:
        model.adapter.client.here()  # type: ignore[attr-defined]
        await model.close()
        await model.close()
        model.adapter.client.here()  # type: ignore[attr-defined]

    asyncio.run(talk())
    assert [one.closed for one in made] == [1, 0]


def test_a_client_that_was_given_stays_open() -> None:
    """Whoever made it closes it."""
    client = Client()
    asyncio.run(Model(adapter=Adapter(client)).close())
    assert client.closed == 0


def test_an_agent_is_a_context() -> None:
    """In both manners; a model that it was given is left alone, and the agent can go on afterwards."""
    host = agent(ScriptedModel("a", "b", "c"), [getTime])
    with host as same:
        assert same.run_sync("?").content == "a"

    async def talk(inside: Agent) -> str | None:
        async with inside:
            return (await inside.run("?")).content

    assert asyncio.run(talk(host)) == "b"
    assert host.run_sync("?").content == "c"


def test_closing_in_one_loop_keeps_what_others_opened() -> None:
    """Until it is closed there: every connection is known to whoever may end it."""
    alive: list[object] = []

    @asynccontextmanager
    async def connect() -> AsyncGenerator[object]:
        alive.append(connect)
        yield connect
        alive.pop()

    session = Session("s", connect, seconds=60)

    async def use() -> None:
        async with session.use():
            pass

    async def use_and_close() -> None:
        await use()
        assert len(alive) == 2
        await session.close()
        await session.close()

    finished(use)
    asyncio.run(use_and_close())
    assert len(alive) == 1
    finished(use)
    assert session.generation == 2
    finished(session.close)
    assert alive == []
