"""Streams that are closed when nobody reads on.

A generator that is left half read is closed whenever its garbage is collected: by then its event loop may be ending,
and the connection below it is closed twice at once.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final, TypeVar

T = TypeVar("T")
_log = logging.getLogger("toolsearch")
REST: Final = 1.0
"""Seconds that the end of a stream may take after its last piece of use; a read end keeps the connection."""


@asynccontextmanager
async def closing(stream: AsyncIterable[T]) -> AsyncGenerator[AsyncIterator[T]]:
    """The pieces of a stream, which is closed at the end of the block; an SDK's stream is closed with `close`."""
    pieces = aiter(stream)
    try:
        yield pieces
    finally:
        for one in (stream, pieces):
            close: Any = getattr(one, "aclose", None) or getattr(one, "close", None)
            if close is not None:
                await close()


async def read_out(pieces: AsyncIterator[Any]) -> None:
    """Read a stream to its end, for at most a second; a stream that breaks there has given all that was wanted."""
    try:
        async with asyncio.timeout(REST):
            async for _ in pieces:
                continue
    except Exception as error:  # noqa: BLE001 - any client's error may end a stream whose answer is there
        _log.debug("the end of a stream was not read: %s: %.200s", type(error).__name__, error)
