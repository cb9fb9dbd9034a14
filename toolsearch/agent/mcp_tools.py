"""The tools of MCP servers in an agent: searched like all others, run through sessions that come back."""

from __future__ import annotations

import json
import logging
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final, Self

from toolsearch.agent.providers import Given, ProviderRequest
from toolsearch.agent.results import ToolReturn
from toolsearch.agent.sessions import Session
from toolsearch.catalog.loaded import read_json
from toolsearch.catalog.mcp_connection import Connection, Limits, connected
from toolsearch.catalog.mcp_servers import Server, servers_of
from toolsearch.conversation import Media, Part, Text
from toolsearch.errors import InvalidSource, ToolErrorForModel
from toolsearch.tool import Json, SearchBehavior, Tool, ToolSpec

IDLE: Final = 900.0
"""Seconds after which a session that nobody used ends."""
META: Final = "mcp_meta"
"""Attribute that holds a result's `_meta`, when it is asked for."""
_log = logging.getLogger("toolsearch.agent")


class MCPToolset:
    """Provides the tools of servers.

    The name of a server becomes the namespace of its tools. Tools named in `always_visible` (by id) need no search.
    Sessions are opened when they are needed, and end when nobody used them for `idle` seconds, with `close` or
    `async with`, or with the process. A server that tells that its tools changed is listed again for the next run;
    one that cannot be listed is logged and left out of the run.
    """

    dynamic = False

    def __init__(
        self,
        servers: Iterable[Server],
        *,
        always_visible: Collection[str] = (),
        keep_meta: bool = False,
        limits: Limits | None = None,
        idle: float | None = IDLE,
    ) -> None:
        bounds = limits or Limits()
        self._sessions = [
            Session(one.name, partial(connected, one, limits=bounds), bounds.connect, idle) for one in servers
        ]
        self._pinned, self._keep_meta = frozenset(always_visible), keep_meta
        self._listed: dict[str, tuple[int, list[ToolSpec]]] = {}

    @classmethod
    def of(cls, config: str | Path | Mapping[str, Any], **more: Any) -> Self:
        """The servers of an `mcpServers` file or object. It names commands to run: use only what you trust.

        Raises:
            InvalidSource: it is no such file or object, or an entry of it is broken.
        """
        document = config if isinstance(config, Mapping) else read_json(Path(config))
        servers, broken = servers_of(document)
        if broken or not servers:
            reason = "; ".join(f"{name[:80]!r}: {why}" for name, why in broken[:3]) or "there is none"
            raise InvalidSource(f"the servers cannot be used: {reason}")
        return cls(servers, **more)

    async def provide(self, request: ProviderRequest) -> Iterable[Given]:
        """All tools; a server is listed anew when its session is."""
        found: list[Given] = []
        for session in self._sessions:
            try:
                for spec in await self._specs(session):
                    found.append(Tool(spec, ServerTool(session, spec.name, self._keep_meta)))
            except ToolErrorForModel as error:
                _log.warning("the tools of MCP server %s are missing from a run: %s", session.name[:80], error)
        return found

    async def close(self) -> None:
        """End all sessions."""
        for session in self._sessions:
            await session.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def _specs(self, session: Session) -> list[ToolSpec]:
        async with session.use() as connection:
            return await self._listing(session, connection)

    async def _listing(self, session: Session, connection: Connection) -> list[ToolSpec]:
        known = self._listed.get(session.name)
        if known and known[0] == session.generation and not connection.has_changed():
            return known[1]
        try:
            listing = await connection.listing()
        except InvalidSource as error:
            session.drop()
            raise ToolErrorForModel(str(error)) from error
        for problem in listing.problems[:10]:
            _log.warning("a tool is left out: %s", problem)
        pinned = [self._visible(tool.spec) for tool in listing.tools]
        self._listed[session.name] = (session.generation, pinned)
        return pinned

    def _visible(self, spec: ToolSpec) -> ToolSpec:
        return spec.with_(search=SearchBehavior.ALWAYS_VISIBLE) if spec.id in self._pinned else spec


@dataclass(frozen=True, slots=True)
class ServerTool:
    """Runs one tool of a server, by the server's own name for it."""

    session: Session
    name: str
    keep_meta: bool = False

    async def __call__(self, arguments: Json, context: Any = None) -> ToolReturn:
        """All of the server's answer.

        Raises:
            ToolErrorForModel: the server cannot be reached, or breaks off.
        """
        async with self.session.use() as connection:
            result = await self._result(connection, arguments)
        meta: Json = {META: dict(result.meta)} if self.keep_meta and result.meta else {}
        return ToolReturn(content(result), meta, is_error=bool(result.is_error))

    async def _result(self, connection: Connection, arguments: Json) -> Any:
        try:
            return await connection.result(self.name, arguments)
        except (ToolErrorForModel, InvalidSource) as error:
            self.session.drop()
            raise ToolErrorForModel(f"The server {self.session.name!r:.80} broke off this call.") from error


def content(result: Any) -> list[Part]:
    """A result's content; its structured content as JSON where there is nothing else."""
    found = [part for part in map(_part, result.content or ()) if part is not None]
    if not found and result.structured_content is not None:
        found.append(Text(json.dumps(result.structured_content, ensure_ascii=False)))
    return found or [Text("")]


def _part(block: Any) -> Part | None:
    match block.type:
        case "text":
            return Text(block.text)
        case "image" | "audio":
            return Media(media_type=block.mime_type, data=block.data)
        case "resource_link":
            return Text(f"[{block.name}]({block.uri})")
        case "resource" if getattr(block.resource, "text", None) is not None:
            return Text(block.resource.text)
        case "resource" if getattr(block.resource, "blob", None):
            kind = block.resource.mime_type or "application/octet-stream"
            return Media(media_type=kind, data=block.resource.blob, name=str(block.resource.uri))
        case _:
            return None
