"""Plain functions in threads of their own, so that a slow tool never stops the others."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Final, TypeVar

T = TypeVar("T")
PAUSE: Final = 0.005
"""Seconds between two looks for a free thread."""


class Workers:
    """At most so many threads at once. They are daemons: a function that never returns cannot keep a process alive."""

    def __init__(self, limit: int) -> None:
        self._free = threading.Semaphore(limit)

    async def run(self, call: Callable[[], T]) -> T:
        """What the function returns or raises; context variables are those of the caller.

        Cancelling lets go of the function, which runs to its end on its own.
        """
        while not self._free.acquire(blocking=False):  # noqa: ASYNC110 - threads of several loops share it
            await asyncio.sleep(PAUSE)
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[T] = loop.create_future()
        context = contextvars.copy_context()

        def work() -> None:
            try:
                value, error = context.run(call), None
            except BaseException as raised:  # noqa: BLE001 - it is raised again where the call is awaited
                value, error = None, raised
            finally:
                self._free.release()
            with suppress(RuntimeError):  # the loop is gone, and with it whoever waited
                loop.call_soon_threadsafe(_settle, answer, value, error)

        threading.Thread(target=work, daemon=True, name="toolsearch-tool").start()
        return await answer


def _settle(answer: asyncio.Future[T], value: object, error: BaseException | None) -> None:
    if answer.cancelled():
        return
    if error is None:
        answer.set_result(value)  # pyright: ignore[reportArgumentType]
    elif isinstance(error, StopIteration):
        answer.set_exception(RuntimeError("the tool raised StopIteration"))
    else:
        answer.set_exception(error)
