"""What runs the tools of an index by their source: a session with an MCP server, or a call over HTTP.

The index's definition names servers and services; see `catalog.running`. A tool of an index is run only where its
source itself lists it, and with the name, place and marks that the source gives it: a definition that was read from
somewhere else says nothing about what is called. Python sources are the index's own affair.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from threading import Lock
from typing import Any, Final

from toolsearch.agent.http_tools import HTTPTools
from toolsearch.agent.mcp_tools import IDLE, ServerTool
from toolsearch.agent.sessions import Session
from toolsearch.catalog.mcp_connection import Connection, Limits, connected
from toolsearch.catalog.mcp_servers import Server
from toolsearch.catalog.operations import operations_of
from toolsearch.catalog.running import Running, Service, servers_in
from toolsearch.errors import InvalidInput, InvalidSource, ToolErrorForModel
from toolsearch.tool import Executor, Json, ToolSpec

MCP: Final = "mcp"
OPENAPI: Final = "openapi"
_log = logging.getLogger("toolsearch.agent")


class Sourced:
    """Executors by source for the libraries of one agent. Sessions are opened at the first call and shared by all."""

    def __init__(self) -> None:
        self._read: dict[int, tuple[Running, dict[str, Server]]] = {}
        self._sessions: dict[tuple[int, str], Session] = {}
        self._described: dict[tuple[int, str], tuple[Running, Mapping[str, ToolSpec]]] = {}
        self._listed: dict[tuple[int, str], tuple[int, Mapping[str, ToolSpec]]] = {}
        self._lock = Lock()

    def executor(self, library: object, spec: ToolSpec) -> Executor | None:
        """What runs a tool of a library; None when its definition names nothing that could.

        Whether the source lists the tool is seen when it is called, as sources are read at their first use.
        """
        running = getattr(library, "running", None)
        scheme, _, name = spec.source.partition(":")
        if not isinstance(running, Running) or scheme not in (MCP, OPENAPI) or not name:
            return None
        if name != spec.namespace:
            _log.warning("tool %s is not run: %s lists no tools of its namespace", spec.id[:200], spec.source[:120])
            return None
        if scheme == MCP:
            return _AtServer(self, running, spec)
        service = running.services.get(name)
        if service is None:
            _log.warning("tool %s is not run: index.toml has no [http.%s]", spec.id[:200], name[:80])
            return None
        return _AtService(self, running, service, spec)

    async def operations(self, running: Running, namespace: str) -> Mapping[str, ToolSpec]:
        """The operations of a namespace by id; documents are read at the first use.

        Raises:
            ToolErrorForModel: no document of the definition has the namespace, or more than one.
        """
        key = (id(running), namespace)
        if key not in self._described:
            try:
                self._described[key] = (running, await asyncio.to_thread(operations_of, running, namespace))
            except InvalidInput as error:
                _log.warning("operations of %s are not run: %s", namespace[:80], error)
                raise ToolErrorForModel(f"The service {namespace!r:.80} of this tool is not set up here.") from error
        return self._described[key][1]

    async def listed(self, key: tuple[int, str], session: Session, connection: Connection) -> Mapping[str, ToolSpec]:
        """The tools of a server by id; it is asked again in a new session, and when it says that they changed.

        Raises:
            ToolErrorForModel: it cannot be asked.
        """
        known = self._listed.get(key)
        if known and known[0] == session.generation and not connection.has_changed():
            return known[1]
        try:
            listing = await connection.listing()
        except InvalidSource as error:
            session.drop()
            raise ToolErrorForModel(f"The server {session.name!r:.80} broke off this call.") from error
        specs = {tool.spec.id: tool.spec for tool in listing.tools}
        self._listed[key] = (session.generation, specs)
        return specs

    async def session(self, running: Running, name: str) -> Session:
        """The session with a server; files are read at its first use.

        Raises:
            ToolErrorForModel: no source of the definition lists the server.
        """
        with self._lock:
            known = self._read.get(id(running))
        if known is None:
            read = await asyncio.to_thread(lambda: servers_in(running.sources()))
            with self._lock:
                known = self._read.setdefault(id(running), (running, read))
        server = known[1].get(name)
        if server is None:
            _log.warning("MCP server %s is in no source of the index's definition, or in two", name[:80])
            raise ToolErrorForModel(f"The server {name!r:.80} of this tool is not known here.")
        bounds = Limits()
        with self._lock:
            made = Session(server.name, partial(connected, server, limits=bounds), bounds.connect, IDLE)
            return self._sessions.setdefault((id(running), name), made)

    async def close(self) -> None:
        """End all sessions; the next call opens them anew."""
        for session in list(self._sessions.values()):
            await session.close()


@dataclass(frozen=True, slots=True)
class _AtServer:
    """Runs one tool of a server, if the server lists it, by the server's own name for it."""

    sourced: Sourced = field(repr=False)
    running: Running = field(repr=False)
    spec: ToolSpec

    async def __call__(self, arguments: Json, context: Any = None) -> Any:
        server = self.spec.namespace
        session = await self.sourced.session(self.running, server)
        async with session.use() as connection:
            listed = await self.sourced.listed((id(self.running), server), session, connection)
        return await ServerTool(session, _own(self.spec, listed).name)(arguments, context)


@dataclass(frozen=True, slots=True)
class _AtService:
    """Calls one operation, if the document of its namespace describes it, as it is described there."""

    sourced: Sourced = field(repr=False)
    running: Running = field(repr=False)
    service: Service
    spec: ToolSpec

    async def __call__(self, arguments: Json, context: Any = None) -> Any:
        name, service = self.spec.namespace, self.service
        own = _own(self.spec, await self.sourced.operations(self.running, name))
        http = HTTPTools(base={name: service.base}, headers={name: service.headers}, seconds=service.seconds)
        return await http.for_tool(own)(arguments, context)


def _own(spec: ToolSpec, listed: Mapping[str, ToolSpec]) -> ToolSpec:
    """A tool as its source has it.

    Raises:
        ToolErrorForModel: the source does not list it, or marks it otherwise, by which calls are approved.
    """
    own = listed.get(spec.id)
    if own is None:
        _log.warning("tool %s is not run: %s does not list it", spec.id[:200], spec.source[:120])
        raise ToolErrorForModel("This tool is not run: its source does not list it.")
    if own.annotations != spec.annotations:
        _log.warning("tool %s is not run: its annotations are not those of %s", spec.id[:200], spec.source[:120])
        raise ToolErrorForModel("This tool is not run: the index describes it otherwise than its source does now.")
    return own
