"""Sessions with MCP servers that outlive single calls, end when nobody uses them, and are opened again when needed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, Final

from toolsearch.errors import ToolErrorForModel

CLOSING: Final = 10.0
"""Seconds that a server has to go down."""

Connect = Callable[[], AbstractAsyncContextManager[Any]]


@dataclass(slots=True, eq=False)
class _Opened:
    """A connection in one event loop: what gives it, what ends it, and who uses it now or did."""

    ready: asyncio.Future[Any]
    stop: asyncio.Event = field(default_factory=asyncio.Event)
    task: asyncio.Task[None] | None = None
    using: int = 0
    uses: int = 0

    @property
    def over(self) -> bool:
        """Whether it ended by itself, or with its loop."""
        return self.task is None or self.task.done()


class Session:
    """One server, connected at first use. `connect` opens a connection, within `seconds`.

    A connection belongs to the event loop that opened it; each loop has its own. It ends when it was not used for
    `idle` seconds, None for never.
    """

    def __init__(self, name: str, connect: Connect, seconds: float, idle: float | None = None) -> None:
        self.name, self._idle = name, idle
        self.generation = 0
        """Grows with every connection."""
        self._connect, self._seconds = connect, seconds
        self._opened: dict[asyncio.AbstractEventLoop, _Opened] = {}

    @asynccontextmanager
    async def use(self) -> AsyncGenerator[Any]:
        """The open connection, which does not end as long as it is used.

        Raises:
            ToolErrorForModel: the server cannot be reached in time.
        """
        opened = self._here()
        opened.using += 1
        try:
            yield await self._connection(opened)
        finally:
            opened.using -= 1
            opened.uses += 1

    async def _connection(self, opened: _Opened) -> Any:
        try:
            async with asyncio.timeout(self._seconds):
                return await asyncio.shield(opened.ready)
        except Exception as error:
            self._end(opened)
            raise ToolErrorForModel(f"The server {self.name!r:.80} cannot be reached now.") from error

    def drop(self) -> None:
        """Let a broken connection of this event loop go; the next call opens a new one."""
        opened = self._opened.get(asyncio.get_running_loop())
        if opened is not None:
            self._end(opened)

    async def close(self) -> None:
        """End the connection of this event loop and wait until the server is down; those of others stay."""
        opened = self._opened.get(asyncio.get_running_loop())
        if opened is not None:
            self._end(opened)
            if opened.task is not None:
                await asyncio.wait([opened.task], timeout=CLOSING)

    def _end(self, opened: _Opened) -> None:
        loop = asyncio.get_running_loop()
        if self._opened.get(loop) is opened:
            del self._opened[loop]
        opened.stop.set()

    def _here(self) -> _Opened:
        loop = asyncio.get_running_loop()
        known = self._opened.get(loop)
        if known is not None and not known.over:
            return known
        for other, one in list(self._opened.items()):
            if one.over:
                self._opened.pop(other, None)
        opened = self._opened[loop] = _Opened(loop.create_future())
        opened.ready.add_done_callback(_seen)
        opened.task = loop.create_task(self._hold(opened))
        self.generation += 1
        return opened

    async def _hold(self, opened: _Opened) -> None:
        """One task opens and closes the connection, for its scopes may not be left from another one."""
        ready = opened.ready
        try:
            async with self._connect() as client:
                if not ready.done():
                    ready.set_result(client)
                await self._until(opened)
        except asyncio.CancelledError:
            if not ready.done():
                ready.cancel()
            raise
        except Exception as error:  # noqa: BLE001 - a server may fail in any way; it is told to whoever waits
            if not ready.done():
                ready.set_exception(RuntimeError(f"{type(error).__name__}: {str(error)[:200]}"))

    async def _until(self, opened: _Opened) -> None:
        """Wait for the end: it is asked for, or nobody used the connection for a while."""
        while not opened.stop.is_set():
            uses = opened.uses
            with suppress(TimeoutError):
                async with asyncio.timeout(self._idle):
                    await opened.stop.wait()
            if not (opened.using or opened.uses > uses):
                self._end(opened)


def _seen(ready: asyncio.Future[Any]) -> None:
    with suppress(asyncio.CancelledError):
        ready.exception()
