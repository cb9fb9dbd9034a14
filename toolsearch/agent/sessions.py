"""Sessions with MCP servers that outlive single calls, end when nobody uses them, and are opened again when needed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from typing import Any, Final

from toolsearch.errors import ToolErrorForModel

CLOSING: Final = 10.0
"""Seconds that a server has to go down."""

Connect = Callable[[], AbstractAsyncContextManager[Any]]


class Session:
    """One server, connected at first use. `connect` opens a connection, within `seconds`.

    The connection belongs to the event loop that opened it; in another loop a new one is opened. It ends when it
    was not used for `idle` seconds, None for never.
    """

    def __init__(self, name: str, connect: Connect, seconds: float, idle: float | None = None) -> None:
        self.name, self._idle = name, idle
        self._using, self._uses = 0, 0
        self.generation = 0
        """Grows with every connection."""
        self._connect, self._seconds = connect, seconds
        self._task: asyncio.Task[None] | None = None
        self._ready: asyncio.Future[Any] | None = None
        self._stop: asyncio.Event | None = None

    @asynccontextmanager
    async def use(self) -> AsyncGenerator[Any]:
        """The open connection, which does not end as long as it is used.

        Raises:
            ToolErrorForModel: the server cannot be reached in time.
        """
        self._using += 1
        try:
            yield await self._connection()
        finally:
            self._using -= 1
            self._uses += 1

    async def _connection(self) -> Any:
        if self._ready is None or self._task is None or self._task.done() or self._foreign():
            self._open()
        ready = self._ready
        try:
            async with asyncio.timeout(self._seconds):
                return await asyncio.shield(ready) if ready else None
        except Exception as error:
            self.drop()
            raise ToolErrorForModel(f"The server {self.name!r:.80} cannot be reached now.") from error

    def drop(self) -> None:
        """Let a broken connection go; the next call opens a new one."""
        if self._stop is not None and not self._foreign():
            self._stop.set()
        self._task = self._ready = self._stop = None

    async def close(self) -> None:
        """End the connection and wait until the server is down."""
        task = None if self._foreign() else self._task
        self.drop()
        if task is not None:
            await asyncio.wait([task], timeout=CLOSING)

    def _foreign(self) -> bool:
        return self._task is not None and self._task.get_loop() is not asyncio.get_running_loop()

    def _open(self) -> None:
        loop = asyncio.get_running_loop()
        self._ready, self._stop = loop.create_future(), asyncio.Event()
        self._ready.add_done_callback(_seen)
        self._task = loop.create_task(self._hold(self._ready, self._stop))
        self.generation += 1

    async def _hold(self, ready: asyncio.Future[Any], stop: asyncio.Event) -> None:
        """One task opens and closes the connection, for its scopes may not be left from another one."""
        try:
            async with self._connect() as client:
                if not ready.done():
                    ready.set_result(client)
                await self._until(stop)
        except asyncio.CancelledError:
            if not ready.done():
                ready.cancel()
            raise
        except Exception as error:  # noqa: BLE001 - a server may fail in any way; it is told to whoever waits
            if not ready.done():
                ready.set_exception(RuntimeError(f"{type(error).__name__}: {str(error)[:200]}"))

    async def _until(self, stop: asyncio.Event) -> None:
        """Wait for the end: it is asked for, or nobody used the connection for a while."""
        while not stop.is_set():
            uses = self._uses
            with suppress(TimeoutError):
                async with asyncio.timeout(self._idle):
                    await stop.wait()
            if not (self._using or self._uses > uses or stop.is_set()):
                self.drop()
                return


def _seen(ready: asyncio.Future[Any]) -> None:
    with suppress(asyncio.CancelledError):
        ready.exception()
