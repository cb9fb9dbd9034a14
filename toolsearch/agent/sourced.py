"""What runs the tools of an index by their source: a session with an MCP server, or a call over HTTP.

The index's definition names servers and services; see `catalog.running`. Python sources are the index's own affair.
"""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass, field
from functools import partial
from threading import Lock
from typing import Any, Final

from toolsearch.agent.http_tools import HTTPTools
from toolsearch.agent.mcp_tools import IDLE, ServerTool
from toolsearch.agent.sessions import Session
from toolsearch.catalog.mcp_connection import Limits, connected
from toolsearch.catalog.mcp_servers import Server
from toolsearch.catalog.running import Running, servers_in
from toolsearch.errors import ToolErrorForModel
from toolsearch.tool import Executor, Json, ToolSpec

MCP: Final = "mcp"
OPENAPI: Final = "openapi"
_log = logging.getLogger("toolsearch.agent")


class Sourced:
    """Executors by source for the libraries of one agent. Sessions are opened at the first call and shared by all."""

    def __init__(self) -> None:
        self._read: dict[int, tuple[Running, dict[str, Server]]] = {}
        self._sessions: dict[tuple[int, str], Session] = {}
        self._lock = Lock()

    def executor(self, library: object, spec: ToolSpec) -> Executor | None:
        """What runs a tool of a library; None when its definition names nothing that could."""
        running = getattr(library, "running", None)
        scheme, _, name = spec.source.partition(":")
        if not isinstance(running, Running):
            return None
        if scheme == MCP and name:
            return _AtServer(self, running, name, spec.name)
        service = running.services.get(spec.namespace) if scheme == OPENAPI else None
        if service is None:
            if scheme == OPENAPI:
                _log.warning("tool %s is not run: index.toml has no [http.%s]", spec.id[:200], spec.namespace[:80])
            return None
        headers = {spec.namespace: service.headers}
        return HTTPTools(base={spec.namespace: service.base}, headers=headers, seconds=service.seconds).for_tool(spec)

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
            _log.warning("MCP server %s is in no source of the index's definition", name[:80])
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
    """Runs one tool of a server, by the server's own name for it."""

    sourced: Sourced = field(repr=False)
    running: Running = field(repr=False)
    server: str
    name: str

    async def __call__(self, arguments: Json, context: Any = None) -> Any:
        session = await self.sourced.session(self.running, self.server)
        return await ServerTool(session, self.name)(arguments, context)
