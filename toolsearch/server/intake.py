"""Bodies of requests: read in bounded time and size, and unpacked when they come compressed."""

from __future__ import annotations

import asyncio
import math
import zlib
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect

from toolsearch.errors import MissingExtra
from toolsearch.server.problems import Problem, of_error, problem

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from toolsearch.server.settings import Settings

WHOLE: Final = "toolsearch.body"
"""Where in the scope the body lies, whole and plain, for who needs no stream of it."""
LARGE: Final = "/v1/tools"
"""Paths that take whole tools, and so larger bodies."""
PIECE: Final = 64
"""Bytes of a zstd body that are unpacked at once: they become at most sixteen blocks of 128 kB."""
LAST: Final = {"Connection": "close"}
"""Said with a refusal whose body was not read to its end."""


class Intake:
    """Reads the body before anything else happens, and hands it on whole and plain."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self._app, self._settings = app, settings

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        headers = Headers(scope=scope) if scope["type"] == "http" else Headers()
        if "content-length" not in headers and "transfer-encoding" not in headers:
            await self._app(scope, receive, send)
            return
        try:
            body = await self._body(headers, self._limit(scope), receive)
        except ClientDisconnect:
            return
        except (Problem, MissingExtra) as refused:
            told = refused if isinstance(refused, Problem) else of_error(refused)
            await problem(scope, told)(scope, receive, send)
            return
        if "content-encoding" in headers or "transfer-encoding" in headers:
            _make_plain(scope, len(body))
        scope[WHOLE] = body
        await self._app(scope, _Replay(body, receive), send)

    def _limit(self, scope: Scope) -> int:
        large = str(scope["path"]).startswith(LARGE)
        return self._settings.max_batch if large else self._settings.max_body

    async def _body(self, headers: Headers, most: int, receive: Receive) -> bytes:
        packing = headers.get("content-encoding", "identity").strip().lower()
        if packing not in UNPACKERS:
            raise Problem(415, f"bodies may be packed as {', '.join(UNPACKERS)}, not {packing[:40]!r}", LAST)
        said = headers.get("content-length", "0")
        if said.isdigit() and int(said) > most:
            raise _too_large(most)
        try:
            async with asyncio.timeout(self._settings.body_seconds):
                body = await _read(receive, most)
        except TimeoutError:
            raise Problem(408, f"the body did not come in {self._settings.body_seconds:g} seconds", LAST) from None
        return body if packing == "identity" else await asyncio.to_thread(UNPACKERS[packing], body, most)


class _Replay:
    """Gives the body once, then whatever else the connection tells."""

    def __init__(self, body: bytes, receive: Receive) -> None:
        self._body: bytes | None = body
        self._receive = receive

    async def __call__(self) -> Message:
        body, self._body = self._body, None
        return await self._receive() if body is None else {"type": "http.request", "body": body, "more_body": False}


async def _read(receive: Receive, most: int) -> bytes:
    pieces: list[bytes] = []
    size, more = 0, True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        piece: bytes = message.get("body", b"")
        size, more = size + len(piece), message.get("more_body", False)
        if size > most:
            raise _too_large(most)
        pieces.append(piece)
    return b"".join(pieces)


def _make_plain(scope: Scope, size: int) -> None:
    """Let the headers fit the unpacked body. The scope stays the same object: who watches reads the route from it."""
    headers = MutableHeaders(raw=list(scope["headers"]))
    for name in ("content-encoding", "transfer-encoding"):
        del headers[name]
    headers["content-length"] = str(size)
    scope["headers"] = headers.raw


def _too_large(most: int) -> Problem:
    return Problem(413, f"a body has at most {most} bytes here, unpacked", LAST)


def _gunzip(body: bytes, most: int) -> bytes:
    unpacker = zlib.decompressobj(16 + zlib.MAX_WBITS)
    try:
        found = unpacker.decompress(body, most + 1)
    except zlib.error:
        raise Problem(400, "the body is not gzip") from None
    if len(found) > most:
        raise _too_large(most)
    if not unpacker.eof or unpacker.unused_data:
        raise Problem(400, "the body is not one whole gzip stream")
    return found


def _unzstd(body: bytes, most: int) -> bytes:
    try:
        zstandard: Any = import_module("zstandard")
    except ModuleNotFoundError:
        raise MissingExtra("zstandard", "zstd") from None
    window = 2 ** math.ceil(math.log2(max(most, 1 << 20)))
    unpacker: Any = zstandard.ZstdDecompressor(max_window_size=window).decompressobj()
    found = bytearray()
    try:
        for start in range(0, len(body), PIECE):
            found += unpacker.decompress(body[start : start + PIECE])
            if len(found) > most:
                raise _too_large(most)
    except zstandard.ZstdError:
        raise Problem(400, "the body is not one whole zstd frame") from None
    if not unpacker.eof or unpacker.unused_data:
        raise Problem(400, "the body is not one whole zstd frame")
    return bytes(found)


def _same(body: bytes, most: int) -> bytes:
    del most
    return body


UNPACKERS: Final[dict[str, Callable[[bytes, int], bytes]]] = {"identity": _same, "gzip": _gunzip, "zstd": _unzstd}
"""Content-Encoding -> what unpacks it into at most so many bytes."""
