"""One MCP server behind the gateway: its tools kept fresh, and its calls."""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final, TypeVar
from weakref import WeakKeyDictionary

from mcp import Client, MCPError
from mcp_types import CallToolResult

from toolsearch.agent.sessions import Session
from toolsearch.catalog.loaded import Problem
from toolsearch.catalog.mcp_connection import Connection, Limits, connected
from toolsearch.catalog.mcp_results import FAILURES, reason_of
from toolsearch.catalog.mcp_servers import Server
from toolsearch.errors import InvalidSource, ToolErrorForModel, ToolSearchError
from toolsearch.mcp.asking import Desk
from toolsearch.mcp.calling import Call, Caller
from toolsearch.mcp.config import Behind
from toolsearch.mcp.results import fitting
from toolsearch.mcp.shelf import Shelf
from toolsearch.tool import Tool

FIRST_PAUSE: Final = 1.0
"""Seconds until a server that is down is tried again, at first; doubled up to the time between two listings."""
GAP: Final = 0.2
"""Seconds between two listings of a server that changes all the time."""
ANSWER: Final = 60.0
"""Seconds for a list of resources or prompts, or for one of them."""
SESSIONS: Final = 100
IDLE: Final = 600.0
"""Sessions with one server for callers with credentials of their own, and seconds until one that rests is closed."""
T = TypeVar("T")
_log = logging.getLogger("toolsearch.mcp")


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceStatus:
    """How a source is: `state` is starting, ready or down, with a reason. Its tools stay findable when it is down."""

    name: str
    kind: str
    state: str
    reason: str = ""
    tools: int = 0
    problems: tuple[Problem, ...] = ()


class Upstream:
    """One server. `follow` runs as long as the gateway; `run` makes calls."""

    def __init__(self, behind: Behind, shelf: Shelf, poll: float) -> None:
        self.name, self.source = behind.server.name, f"mcp:{behind.server.name}"
        self._behind, self._shelf, self._poll = behind, shelf, poll
        self._desks: WeakKeyDictionary[Session, Desk] = WeakKeyDictionary()
        self._sessions: OrderedDict[str, Session] = OrderedDict({"": self._session(behind.server)})
        self._syncing = asyncio.Lock()
        self.settled = asyncio.Event()
        """Set when the server was listed, or could not be, or is remembered."""
        self.listed = asyncio.Event()
        """Set when the server was listed in this run, or could not be."""
        self.status = SourceStatus(name=self.name, kind="mcp", state="starting")

    async def recall(self) -> None:
        """Count what is remembered of the server: nobody has to wait for it then."""
        known = await asyncio.to_thread(self._shelf.known, self.source)
        self._now(state="starting", tools=len(known))
        if known:
            self.settled.set()

    def may_be_seen_by(self, caller: Caller) -> bool:
        """Whether a caller may know of the server."""
        groups = self._behind.part.groups
        return not groups or caller.groups is None or not caller.groups.isdisjoint(groups)

    async def follow(self) -> None:
        """Keep the tools of the server fresh: after its notices, its loss, and from time to time."""
        pause = FIRST_PAUSE
        while True:
            await self.sync()
            if self.status.state == "down":
                await asyncio.sleep(pause)
                pause = min(2 * pause, max(self._poll, FIRST_PAUSE))
                continue
            pause = FIRST_PAUSE
            await asyncio.sleep(GAP)
            await self._wait()

    async def sync(self) -> SourceStatus:
        """List the server now."""
        async with self._syncing:
            try:
                problems = await self._listed()
                known = await asyncio.to_thread(self._shelf.known, self.source)
                self._now(state="ready", tools=len(known), problems=problems)
            except ToolSearchError as error:
                await self._down(error)
            finally:
                self.settled.set()
                self.listed.set()
        return self.status

    async def run(self, call: Call) -> CallToolResult:
        """The answer of the server.

        A session that ended before the call is opened again. A call that was broken off is made again only if its
        tool says that it only reads.

        Raises:
            ToolErrorForModel: the server does not answer.
        """
        session = self._session_of(call.caller)
        result = await self._answer(session, call, last=False) or await self._answer(session, call, last=True)
        if result is None:
            raise ToolErrorForModel(f"The server {self.name!r:.80} broke off this call.")
        return fitting(result, self.name)

    async def ask(self, caller: Caller, part: str, work: Callable[[Client], Awaitable[T]]) -> T | None:
        """What the server answers to something else than a call; None when it has no such part, or is down.

        Raises:
            ToolErrorForModel: the server does not answer.
            MCPError: it answers with an error.
        """
        if self.status.state == "down":
            return None
        session = self._session_of(caller)
        await self._revived(session)
        async with session.use() as opened:
            client: Client = opened.client
            if getattr(client.server_capabilities, part, None) is None:
                return None
            try:
                async with asyncio.timeout(ANSWER):
                    return await work(client)
            except MCPError:
                raise
            except FAILURES as error:
                raise ToolErrorForModel(f"The server {self.name!r:.80} failed: {reason_of(error)}") from error

    async def close(self) -> None:
        """End all sessions."""
        await asyncio.gather(*(session.close() for session in self._sessions.values()))

    async def _answer(self, session: Session, call: Call, *, last: bool) -> CallToolResult | None:
        """The answer of the server, None when the call may be made again in a new session."""
        await self._revived(session)
        async with session.use() as opened:
            connection: Connection = opened
            try:
                with self._desks[session].of(call.back.ask):
                    return await connection.result(call.spec.name, call.arguments, call.back.progress)
            except (ToolErrorForModel, InvalidSource) as error:
                if not self._again(session, connection, call, error) or last:
                    raise ToolErrorForModel(f"The server {self.name!r:.80} broke off this call.") from error
        return None

    async def _revived(self, session: Session) -> None:
        """Let a session go that ended by itself."""
        async with session.use() as connection:
            if not connection.alive:
                session.drop()

    async def _listed(self) -> tuple[Problem, ...]:
        session = self._sessions[""]
        await self._revived(session)
        async with session.use() as opened:
            connection: Connection = opened
            connection.has_changed()
            try:
                listing = await connection.listing()
            except InvalidSource:
                session.drop()
                raise
        groups = self._behind.part.groups
        tools = [Tool(tool.spec.with_(groups=groups) if groups else tool.spec) for tool in listing.tools]
        return (*listing.problems, *await asyncio.to_thread(self._shelf.take, self.source, tools))

    async def _down(self, error: ToolSearchError) -> None:
        reason = str(error.__cause__ or error).removeprefix("InvalidSource: ")[:300]
        if self.status.state != "down":
            _log.warning("server %s is down: %s", self.name[:80], reason)
        known = await asyncio.to_thread(self._shelf.known, self.source)
        self._now(state="down", reason=reason, tools=len(known))

    async def _wait(self) -> None:
        with suppress(ToolErrorForModel):
            async with self._sessions[""].use() as connection:
                await connection.disturbed(self._poll)

    def _again(self, session: Session, connection: Connection, call: Call, error: Exception) -> bool:
        """Whether to make a broken call again, in a new session."""
        expired = "Session terminated" in str(error)
        if connection.alive and not expired:
            return False
        session.drop()
        return expired or call.spec.annotations.get("readOnlyHint") is True

    def _session_of(self, caller: Caller) -> Session:
        own = self._behind.own.get(caller.name) if caller.name else None
        if own is None:
            return self._sessions[""]
        if caller.name not in self._sessions:
            self._sessions[caller.name] = self._session(own, IDLE)
            while len(self._sessions) > SESSIONS + 1:
                _, oldest = self._sessions.popitem(last=False)
                oldest.drop()
        self._sessions.move_to_end(caller.name)
        self._sessions.move_to_end("")
        return self._sessions[caller.name]

    def _session(self, server: Server, idle: float | None = None) -> Session:
        limits = Limits(call=self._behind.part.seconds)
        desk = Desk(self.name)
        asked = replace(server, answers=desk.answers)
        session = Session(self.name, partial(connected, asked, limits=limits), limits.connect, idle)
        self._desks[session] = desk
        return session

    def _now(self, **values: Any) -> None:
        self.status = SourceStatus(name=self.name, kind="mcp", **values)
