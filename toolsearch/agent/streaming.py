"""A run as a stream of its events."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import Final

from toolsearch.agent.driver import Emit
from toolsearch.agent.events import Event

AHEAD: Final = 1_000
"""Events that may wait for whoever reads them."""


async def events_of(run: Callable[[Emit], Awaitable[object]], also: Emit) -> AsyncGenerator[Event, None]:
    """The events of a run as they happen; whoever stops reading stops the run. Raises what the run raises.

    Each event goes to `also` first.
    """
    events: asyncio.Queue[Event | None] = asyncio.Queue(maxsize=AHEAD)
    gone = asyncio.Event()

    async def emit(event: Event) -> None:
        await also(event)
        if not gone.is_set():
            await events.put(event)

    async def work() -> None:
        try:
            await run(emit)
        finally:
            with contextlib.suppress(asyncio.QueueFull):
                events.put_nowait(None)

    task = asyncio.ensure_future(work())
    try:
        while not (task.done() and events.empty()):
            event = await events.get()
            if event is None:
                break
            yield event
        await task
    finally:
        gone.set()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
