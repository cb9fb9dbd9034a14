"""How a server is reached: a process with its error output kept short, or HTTP with headers."""

from __future__ import annotations

import os
import threading
from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any, Final

import httpx2
from mcp import StdioServerParameters
from mcp.client.sse import sse_client
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client

from toolsearch.catalog.mcp_servers import Server

KEPT: Final = 2000
"""Bytes of a process's error output that are kept for a message about its end."""
WORDS: Final = 2.0
"""Seconds to wait for the last of them: on a busy machine they come after the end."""
HTTP_SECONDS: Final = 30.0
STREAM_SECONDS: Final = 300.0


class Tail:
    """The end of what a process writes: `file` takes it, `text` gives the last lines."""

    def __init__(self) -> None:
        reading, writing = os.pipe()
        self._bytes = b""
        self.file = os.fdopen(writing, "w", encoding="utf-8", errors="replace")
        self._thread = threading.Thread(target=self._drain, args=(reading,), daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Take no more; what was kept stays."""
        self.file.close()

    def text(self) -> str:
        """The last words, in one line. Blocks while more may come, for a bounded time."""
        self._thread.join(WORDS)
        return " ".join(self._bytes.decode("utf-8", "replace").split())[-300:]

    def _drain(self, reading: int) -> None:
        with os.fdopen(reading, "rb", buffering=0) as pipe:
            while piece := pipe.read(4096):
                self._bytes = (self._bytes + piece)[-KEPT:]


def transport_of(server: Server, tail: Tail | None) -> AbstractAsyncContextManager[Any]:
    """The SDK's transport for a server."""
    if server.transport == "stdio":
        cwd = None if server.cwd is None else Path(server.cwd).expanduser()
        command = StdioServerParameters(
            command=os.path.expanduser(server.command), args=list(server.args), env=dict(server.env), cwd=cwd
        )
        return stdio_client(command) if tail is None else stdio_client(command, errlog=tail.file)
    if server.transport == "sse":
        return sse_client(server.url, headers=dict(server.headers), timeout=HTTP_SECONDS, auth=_auth(server))
    return _http(server)


@asynccontextmanager
async def _http(server: Server) -> AsyncGenerator[Any]:
    timeout = httpx2.Timeout(HTTP_SECONDS, read=STREAM_SECONDS)
    own = server.client
    made = own() if own else httpx2.AsyncClient(headers=dict(server.headers), timeout=timeout, auth=_auth(server))
    async with (
        made as client,
        streamable_http_client(server.url, http_client=client) as streams,
    ):
        yield streams


def _auth(server: Server) -> httpx2.Auth | None:
    if server.oauth is None:
        return None
    # Loads the SDK's OAuth only for servers that want it.
    from toolsearch.catalog.mcp_oauth import auth_of

    return auth_of(server)
