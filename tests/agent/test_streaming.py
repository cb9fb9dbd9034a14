"""Runs as streams of events that are not read to their end."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from tests.agent.tools import agent
from toolsearch.agent.events import Event, RunFailed, RunFinished
from toolsearch.agent.streaming import AHEAD
from toolsearch.chat import ChatRequest, ChatResponse, Features, TextDelta
from toolsearch.conversation import AssistantMessage


class Talker:
    """Streams so many pieces, then its answer, then perhaps an error."""

    name = "talker"
    features = Features(names="openai")

    def __init__(self, pieces: int, after: Exception | None = None) -> None:
        self.pieces, self.after = pieces, after

    async def ask(self, request: ChatRequest) -> ChatResponse:
        raise NotImplementedError

    async def stream(self, request: ChatRequest) -> AsyncIterator[TextDelta | ChatResponse]:
        for _ in range(self.pieces):
            yield TextDelta("x")
        yield ChatResponse(message=AssistantMessage("whole"))
        if self.after:
            raise self.after


def test_closing_a_stream_with_many_unread_events_ends_the_run() -> None:
    """More than may wait for a reader were told; whoever watches learns that the run failed, and nothing hangs."""
    seen: list[Event] = []
    full = asyncio.Event()

    def watch(event: Event) -> None:
        seen.append(event)
        if len(seen) > AHEAD + 1:
            full.set()

    async def leave() -> None:
        events = agent(Talker(2 * AHEAD), [], search=None, hooks=[watch]).stream("?")
        await anext(events)
        await asyncio.wait_for(full.wait(), 60)
        await asyncio.wait_for(events.aclose(), 60)

    asyncio.run(leave())
    assert isinstance(seen[-1], RunFailed)
    assert len(seen) < 2 * AHEAD


def test_an_answer_that_is_complete_is_kept() -> None:
    """A connection that breaks after it costs nothing."""

    async def talk() -> list[Event]:
        model = Talker(1, ConnectionError("reset"))
        return [event async for event in agent(model, [], search=None).stream("?")]

    last = asyncio.run(talk())[-1]
    assert isinstance(last, RunFinished)
    assert last.result.content == "whole"
