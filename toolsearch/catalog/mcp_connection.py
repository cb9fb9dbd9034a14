"""One session with a live MCP server: list its tools, follow their changes, call them.

    async with connected(server) as connection:
        listing = await connection.listing()

Servers of both protocol eras are spoken to through the official SDK. Needs asyncio.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final, cast

import anyio
from mcp import Client, MCPError
from mcp.shared.dispatcher import ProgressFnT
from mcp_types import METHOD_NOT_FOUND, CallToolResult, TextContent, ToolListChangedNotification
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from toolsearch.catalog.loaded import Problem
from toolsearch.catalog.mcp import from_listing
from toolsearch.catalog.mcp_results import FAILURES, answer_of, reason_of, refuses_name
from toolsearch.catalog.mcp_servers import Server
from toolsearch.catalog.mcp_sieve import Sieve
from toolsearch.catalog.mcp_transport import Tail, transport_of
from toolsearch.errors import InvalidSource, ToolErrorForModel
from toolsearch.tool import Json, Tool, ToolSpec

CLOSING: Final = 10.0
"""Seconds that a server has to end before its task is cancelled."""
FIRST_PAUSE: Final = 1.0
LONGEST_PAUSE: Final = 60.0
"""Seconds before a lost subscription is tried again, first and at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Seconds to connect, to list and to answer a call; most pages and tools of one listing."""

    connect: float = 30.0
    listing: float = 60.0
    call: float = 300.0
    pages: int = 1000
    tools: int = 100_000


@dataclass(frozen=True, slots=True)
class Listing:
    """What a server offers: tools that run while the connection lasts, and the problems of others."""

    server: str
    tools: tuple[Tool, ...]
    problems: tuple[Problem, ...] = ()


class Connection:
    """A session with a server. Made by `connected`."""

    def __init__(self, server: Server, limits: Limits, mode: str = "auto") -> None:
        self.server, self._limits, self._mode = server, limits, mode
        self._sieve = Sieve(lambda: self._client.protocol_version if self._client else None, self._end)
        self._tail = Tail() if server.transport == "stdio" else None
        self._client: Client | None = None
        self._failure: BaseException | None = None
        self._ready, self._done, self._changed = asyncio.Event(), asyncio.Event(), asyncio.Event()

    @property
    def protocol(self) -> str:
        """The version of the protocol that both sides speak."""
        return self.client.protocol_version

    async def listing(self) -> Listing:
        """All tools of the server, in its order.

        Raises:
            InvalidSource: it does not answer in time, or not with tools.
        """
        found: list[Any] = []
        notes: list[Problem] = []
        try:
            async with asyncio.timeout(self._limits.listing):
                await self._pages(found, notes)
        except FAILURES as error:
            if not found:
                raise await self.broken("gives no list of tools", error) from None
            notes.append(Problem(self.server.name, f"the list breaks off: {reason_of(error)}"))
        if len(found) > self._limits.tools:
            notes.append(Problem(self.server.name, f"more than {self._limits.tools} tools; the rest is left out"))
        specs, problems = from_listing(found[: self._limits.tools], self.server.name)
        return Listing(self.server.name, tuple(self._tool(spec) for spec in specs), (*problems, *notes))

    async def changes(self) -> AsyncIterator[Listing]:
        """A new listing after each sign that the tools changed: a notice, or a call refused as unknown."""
        while True:
            await self._changed.wait()
            self._changed.clear()
            yield await self.listing()

    async def call(self, name: str, arguments: Json) -> Any:
        """Call a tool by the server's own name: its structured result, or else its text.

        Raises:
            ToolErrorForModel: the server says that the call failed, or does not answer.
        """
        return answer_of(await self.result(name, arguments))

    async def result(self, name: str, arguments: Json, progress: ProgressFnT | None = None) -> CallToolResult:
        """Call a tool by the server's own name: all of its answer, also when that says that the call failed.

        `progress` is told what the server tells of it. Cancelling the call cancels it at the server.

        Raises:
            ToolErrorForModel: the server does not answer.
        """
        try:
            answer = await self.client.call_tool(
                name, arguments, read_timeout_seconds=self._limits.call, progress_callback=progress
            )
        except FAILURES as error:
            self._note_refusal(str(error))
            raise ToolErrorForModel(f"server {self.server.name!r} failed: {reason_of(error)}") from error
        if answer.is_error:
            self._note_refusal(" ".join(part.text for part in answer.content if isinstance(part, TextContent)))
        return answer

    def has_changed(self) -> bool:
        """Whether there was a sign, since this was asked last, that the tools changed."""
        changed = self._changed.is_set()
        self._changed.clear()
        return changed

    @property
    def alive(self) -> bool:
        """Whether the session stands; a call that finds it gone has not reached the server."""
        return self._client is not None and not self._done.is_set()

    async def disturbed(self, seconds: float) -> None:
        """Wait for a sign that the tools changed, for the end of the session, or for so many seconds."""
        signs = [asyncio.ensure_future(event.wait()) for event in (self._changed, self._done)]
        try:
            await asyncio.wait(signs, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for sign in signs:
                sign.cancel()
            await asyncio.gather(*signs, return_exceptions=True)

    async def run(self) -> None:
        """Hold the session open until `close`; failures are kept for `opened`."""
        try:
            transport = self._sieve.around(transport_of(self.server, self._tail))
            client = Client(cast(Any, transport), message_handler=self._noticed, mode=self._mode, **self.server.answers)
            async with client, anyio.create_task_group() as group:
                self._client = client
                self._ready.set()
                if client.protocol_version in MODERN_PROTOCOL_VERSIONS and _tells_changes(client):
                    group.start_soon(self._subscribe, client)
                await self._done.wait()
                group.cancel_scope.cancel()
        except FAILURES as error:
            self._failure = error
        finally:
            self._client = None
            self._ready.set()
            if self._tail is not None:
                self._tail.close()

    async def opened(self) -> BaseException | None:
        """Wait until the session stands; what went wrong, None when nothing did."""
        try:
            await asyncio.wait_for(self._ready.wait(), self._limits.connect)
        except TimeoutError as error:
            return error
        return None if self._client is not None else self._failure or EOFError("it closed the connection")

    async def close(self, task: asyncio.Task[None]) -> None:
        """End the session, in bounded time."""
        self._done.set()
        if self._client is None and not self._ready.is_set():
            task.cancel()
        _, waiting = await asyncio.wait({task}, timeout=CLOSING)
        if waiting:
            task.cancel()
            await asyncio.wait({task}, timeout=CLOSING)

    async def broken(self, what: str, error: BaseException) -> InvalidSource:
        """One line about a failure, with the last words of a process."""
        words = "" if self._tail is None else await asyncio.to_thread(self._tail.text)
        said = f"; its last words: {words}" if words else ""
        return InvalidSource(f"server {self.server.name[:80]!r} {what}: {reason_of(error)}{said}")

    @property
    def client(self) -> Client:
        """The SDK's client of a session that has begun."""
        if self._client is None:
            raise InvalidSource(f"server {self.server.name[:80]!r} is not connected")
        return self._client

    def _tool(self, spec: ToolSpec) -> Tool:
        async def execute(arguments: Json, context: Any = None) -> Any:
            return await self.call(spec.name, arguments)

        return Tool(spec, execute)

    def _end(self) -> None:
        """The server is gone: the session ends, and whoever uses it has to open another one."""
        self._done.set()

    def _note_refusal(self, text: str) -> None:
        if refuses_name(text):
            self._changed.set()

    async def _noticed(self, message: object) -> None:
        if isinstance(message, ToolListChangedNotification):
            self._changed.set()

    async def _subscribe(self, client: Client) -> None:
        pause = FIRST_PAUSE
        while True:
            try:
                async with client.listen(tools_list_changed=True) as events:
                    pause = FIRST_PAUSE
                    async for _ in events:
                        self._changed.set()
            except FAILURES:
                pause = min(2 * pause, LONGEST_PAUSE)
            await asyncio.sleep(pause)
            self._changed.set()

    async def _pages(self, found: list[Any], notes: list[Problem]) -> None:
        cursor: str | None = None
        seen: set[str] = set()
        for number in range(1, self._limits.pages + 1):
            try:
                page = await self.client.list_tools(cursor=cursor, cache_mode="bypass")
            except MCPError as error:
                if error.code == METHOD_NOT_FOUND and cursor is None:
                    return
                raise
            kept = {tool.name for tool in page.tools}
            for tool in self._sieve.take():
                if (name := _name_of(tool)) and name not in kept:
                    notes.append(
                        Problem(f"{self.server.name} tool {name[:120]!r}", "its x-mcp-header marks are invalid")
                    )
                else:
                    found.append(tool)
            cursor = page.next_cursor
            if cursor is None or len(found) > self._limits.tools:
                return
            if cursor in seen:
                notes.append(Problem(self.server.name, f"page {number} repeats a cursor; the list ends there"))
                return
            seen.add(cursor)
        notes.append(Problem(self.server.name, f"more than {self._limits.pages} pages; the rest is left out"))


@asynccontextmanager
async def connected(server: Server, *, limits: Limits | None = None) -> AsyncGenerator[Connection]:
    """A session with a server. One that ends at the question for its version is started again in the older way.

    Raises:
        InvalidSource: it cannot be reached in time.
    """
    connection, task = await _opened(server, limits or Limits())
    try:
        yield connection
    finally:
        await connection.close(task)


async def _opened(server: Server, limits: Limits) -> tuple[Connection, asyncio.Task[None]]:
    modes = ("auto", "legacy") if server.transport == "stdio" else ("auto",)
    for mode in modes:
        connection = Connection(server, limits, mode)
        task = asyncio.create_task(connection.run())
        try:
            failure = await connection.opened()
        except asyncio.CancelledError:
            await connection.close(task)
            raise
        if failure is None:
            return connection, task
        await connection.close(task)
        if mode == modes[-1] or isinstance(failure, OSError):
            raise await connection.broken("cannot be reached", failure)
    raise InvalidSource(f"server {server.name[:80]!r} cannot be reached")


def _name_of(tool: Any) -> str:
    name: object = cast(Json, tool).get("name") if isinstance(tool, dict) else None
    return name if isinstance(name, str) else ""


def _tells_changes(client: Client) -> bool:
    tools = client.server_capabilities.tools
    return tools is not None and bool(tools.list_changed)
