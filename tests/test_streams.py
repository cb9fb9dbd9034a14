"""Streams that somebody stops reading."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from toolsearch.streams import closing, read_out


async def counted(done: list[str]) -> AsyncIterator[int]:
    try:
        for number in range(3):
            yield number
    finally:
        done.append("closed")


class Vendors:
    """A stream as the SDKs make them: an iterable with a close of its own around a generator."""

    def __init__(self, done: list[str]) -> None:
        self._done = done

    async def __aiter__(self) -> AsyncIterator[int]:
        async for number in counted(self._done):
            yield number

    async def close(self) -> None:
        self._done.append("connection")


def test_a_half_read_stream_is_closed_at_the_end_of_the_block() -> None:
    """A generator does not wait for the garbage collector."""
    done: list[str] = []

    async def read() -> None:
        async with closing(counted(done)) as pieces:
            assert await anext(pieces) == 0
        assert done == ["closed"]

    asyncio.run(read())


def test_an_sdks_stream_gives_its_connection_back_first() -> None:
    """What wraps a connection is closed before the generators around it."""
    done: list[str] = []

    async def read() -> None:
        async with closing(Vendors(done)) as pieces:
            await anext(pieces)
        assert done[0] == "connection"

    asyncio.run(read())


def test_the_rest_is_read() -> None:
    """A stream that ends soon is read to its end."""
    done: list[str] = []

    async def read() -> None:
        async with closing(counted(done)) as pieces:
            await anext(pieces)
            await read_out(pieces)
            assert done == ["closed"]

    asyncio.run(read())


def test_a_stream_that_breaks_after_the_answer_is_left() -> None:
    """What was wanted is there; being cancelled is something else."""

    async def broken(error: BaseException) -> AsyncIterator[int]:
        yield 1
        raise error

    async def read(error: BaseException) -> None:
        async with closing(broken(error)) as pieces:
            await anext(pieces)
            await read_out(pieces)

    asyncio.run(read(ConnectionError("reset")))
    with pytest.raises(asyncio.CancelledError):
        asyncio.run(read(asyncio.CancelledError()))


def test_a_stream_that_does_not_end_is_not_waited_for() -> None:
    """A server that keeps its stream open after the answer costs at most the time that is allowed."""

    async def endless() -> AsyncIterator[int]:
        while True:
            yield 1
            await asyncio.sleep(0.01)

    async def read() -> None:
        async with closing(endless()) as pieces:
            await asyncio.wait_for(read_out(pieces), 10)

    asyncio.run(read())
