"""Where code that does not await meets the loop: one event loop in a thread of its own, for the whole process.

Connections to models and servers belong to the event loop that opened them. With one loop for every `run_sync` they
stay open between runs, and may be used from any thread.
"""

from __future__ import annotations

import asyncio
import atexit
import os
import threading
from collections.abc import Callable, Coroutine
from typing import Any, Final, TypeVar

from toolsearch.errors import InvalidInput

T = TypeVar("T")
ENDING: Final = 10.0
"""Seconds that cancelled work has to end."""


class Edge:
    """An event loop in a daemon thread, which ends with the process."""

    def __init__(self) -> None:
        self.owner = os.getpid()
        self._loop = asyncio.new_event_loop()
        self._ending = False
        self._thread = threading.Thread(target=self._serve, daemon=True, name="toolsearch-loop")
        self._thread.start()
        atexit.register(self.close)

    def run(self, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """What the work returns or raises; it sees the context variables of the caller.

        When waiting is interrupted, such as by Ctrl-C, the work is cancelled and has its time to end.
        """
        ended = threading.Event()

        async def watched() -> T:
            try:
                return await work()
            finally:
                ended.set()

        future = asyncio.run_coroutine_threadsafe(watched(), self._loop)
        try:
            return future.result()
        except BaseException:
            if not future.done():
                future.cancel()
                ended.wait(ENDING)
            raise

    def close(self) -> None:
        """Cancel what still runs, such as sessions with servers, and end the loop."""
        if self.owner != os.getpid() or self._loop.is_closed():
            return
        self._ending = True
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(ENDING)

    def _serve(self) -> None:
        while not self._ending:
            try:
                self._loop.run_forever()
            except (KeyboardInterrupt, SystemExit):  # a tool raised it; its future has it, the others go on
                continue
        tasks = asyncio.all_tasks(self._loop)
        for task in tasks:
            task.cancel()
        if tasks:
            self._loop.run_until_complete(asyncio.wait(tasks, timeout=ENDING / 2))
        self._loop.run_until_complete(self._loop.shutdown_asyncgens())
        self._loop.close()


_edges: Final[list[Edge]] = []
_lock: Final = threading.Lock()


def finished(work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """What asynchronous work returns or raises, for code that does not await.

    Raises:
        InvalidInput: the caller is inside of a running event loop.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return _edge().run(work)
    raise InvalidInput("run_sync was called inside of a running event loop; await run(...) there")


def _edge() -> Edge:
    """The loop of this process; a forked child starts its own."""
    with _lock:
        if not _edges or _edges[-1].owner != os.getpid():
            _edges[:] = [Edge()]
        return _edges[-1]
