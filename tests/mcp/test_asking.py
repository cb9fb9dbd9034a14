"""Questions that a server asks in the middle of a call reach the client of that call, in both eras."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from mcp_types import ElicitRequestFormParams, ElicitResult

from tests.mcp.support import client, described, gateway, run, server, text
from toolsearch.mcp.asking import Conversations, Desk
from toolsearch.mcp.calling import Back
from toolsearch.mcp.results import failed

MODES = ["auto", "legacy"]


async def medium(context: Any, params: Any) -> ElicitResult:
    return ElicitResult(action="accept", content={"size": f"M for {params.message}"})


@pytest.mark.parametrize("mode", MODES)
def test_a_question_is_passed_on_with_the_name_of_who_asks(tmp_path: Path, mode: str) -> None:
    """The answer goes back to the server, and the call goes on."""
    entry = server(tmp_path / "a.json", described("ask"))

    async def inside() -> None:
        over = gateway(document={"mcpServers": {"shop": entry}})
        async with client(over, mode=mode, elicitation_callback=medium) as connected:
            answer = json.loads(text(await run(connected, "shop__ask")))
            assert answer == {"action": "accept", "content": {"size": "M for [shop] Which size?"}}

    asyncio.run(inside())


@pytest.mark.parametrize("mode", MODES)
def test_a_client_that_takes_no_questions_is_not_asked(tmp_path: Path, mode: str) -> None:
    """The server is told so."""
    entry = server(tmp_path / "a.json", described("ask"))

    async def inside() -> None:
        async with client(gateway(document={"mcpServers": {"shop": entry}}), mode=mode) as connected:
            assert "takes no such questions" in text(await run(connected, "shop__ask"))

    asyncio.run(inside())


def test_nobody_is_asked_where_the_answer_may_reach_another_process() -> None:
    """Several processes behind one address keep no questions open."""

    async def inside() -> None:
        context: Any = SimpleNamespace(session=SimpleNamespace(report_progress=None))
        form = ElicitRequestFormParams(message="?", requested_schema={"type": "object", "properties": {}})

        async def work(back: Back) -> Any:
            return failed((await Desk("shop", [back.ask] if back.ask else []).elicit(None, form)).message)

        answer: Any = await Conversations(alone=False).run(context, "", work)
        assert "several processes" in text(answer)

    asyncio.run(inside())


def test_who_is_meant_must_be_certain() -> None:
    """With two calls under way, a question that belongs to neither is refused."""

    async def other(question: Any) -> Any:
        raise AssertionError("nobody is asked")

    async def inside() -> None:
        desk = Desk("shop", [other, other])
        refused = await desk.elicit(
            None, ElicitRequestFormParams(message="?", requested_schema={"type": "object", "properties": {}})
        )
        assert "which of several clients" in refused.message

    asyncio.run(inside())


def test_an_answer_to_no_open_question_is_refused() -> None:
    """A made-up state, or that of another caller, leads nowhere."""

    async def inside() -> None:
        answer: Any = await Conversations().resume(None, "ana", "made up", {})
        assert answer.is_error

    asyncio.run(inside())
