"""The tools of MCP servers in an agent: searched like all others, run through sessions that come back."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Self, cast

from toolsearch.agent.providers import Given, ProviderRequest
from toolsearch.agent.results import ToolReturn
from toolsearch.agent.sessions import Session
from toolsearch.catalog.loaded import as_object, read_json
from toolsearch.catalog.mcp import from_listing
from toolsearch.conversation import Media, Part, Text
from toolsearch.errors import InvalidSource, ToolErrorForModel
from toolsearch.tool import Json, SearchBehavior, Tool, ToolSpec

PAGES: Final = 1_000
TOOLS: Final = 100_000
META: Final = "mcp_meta"
"""Attribute that holds a result's `_meta`, when it is asked for."""
_log = logging.getLogger("toolsearch.agent")


class MCPToolset:
    """Provides the tools of servers. `async with` closes the sessions; under `run_sync` they end with the run.

    `servers` maps a name, which becomes the namespace, to what opens a client of the MCP SDK. Tools named in
    `always_visible` (by id) need no search. A server that cannot be listed is logged and left out of the run.
    """

    dynamic = False

    def __init__(
        self,
        servers: Mapping[str, Callable[[], AbstractAsyncContextManager[Any]]],
        *,
        always_visible: Collection[str] = (),
        keep_meta: bool = False,
        seconds: float = 30.0,
    ) -> None:
        self._sessions = {name: Session(name, connect, seconds) for name, connect in servers.items()}
        self._pinned, self._keep_meta = frozenset(always_visible), keep_meta
        self._listed: dict[str, tuple[int, list[ToolSpec]]] = {}

    @classmethod
    def of(cls, config: str | Path | Mapping[str, Any], **more: Any) -> Self:
        """The servers of an `mcpServers` file or object. It names commands to run: use only what you trust.

        Raises:
            InvalidSource: it is no such file or object.
        """
        body = config if isinstance(config, Mapping) else as_object(read_json(Path(config)), str(config))
        listed: object = body.get("mcpServers", body.get("servers", body))
        if not isinstance(listed, dict) or not listed:
            raise InvalidSource("mcpServers must map names to servers")
        servers = cast("dict[str, Any]", listed)
        return cls({name: _connector(name, as_object(entry, name)) for name, entry in servers.items()}, **more)

    async def provide(self, request: ProviderRequest) -> Iterable[Given]:
        """All tools; a server is listed anew when its session is."""
        found: list[Given] = []
        for session in self._sessions.values():
            try:
                found += [Tool(spec, _Call(session, spec.name, self._keep_meta)) for spec in await self._specs(session)]
            except ToolErrorForModel as error:
                _log.warning("the tools of MCP server %s are missing from a run: %s", session.name[:80], error)
        return found

    async def close(self) -> None:
        """End all sessions."""
        for session in self._sessions.values():
            await session.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def _specs(self, session: Session) -> list[ToolSpec]:
        client = await session.client()
        known = self._listed.get(session.name)
        if known and known[0] == session.generation:
            return known[1]
        try:
            bodies = await _pages(client)
        except Exception as error:
            session.drop()
            raise ToolErrorForModel(f"The server {session.name!r:.80} gives no list of tools.") from error
        specs, problems = from_listing(bodies, session.name)
        for problem in problems[:10]:
            _log.warning("a tool is left out: %s", problem)
        pinned = [self._visible(spec) for spec in specs]
        self._listed[session.name] = (session.generation, pinned)
        return pinned

    def _visible(self, spec: ToolSpec) -> ToolSpec:
        return spec.with_(search=SearchBehavior.ALWAYS_VISIBLE) if spec.id in self._pinned else spec


async def _pages(client: Any) -> list[Json]:
    """All tools of a server; pages that go in a circle or on for ever are cut off."""
    cursor: str | None = None
    seen: set[str] = set()
    found: list[Json] = []
    for _ in range(PAGES):
        page = await client.list_tools(cursor=cursor)
        found += [one.model_dump(by_alias=True, mode="json", exclude_none=True) for one in page.tools]
        cursor = page.next_cursor
        if cursor is None or cursor in seen or len(found) > TOOLS:
            break
        seen.add(cursor)
    return found[:TOOLS]


@dataclass(frozen=True, slots=True)
class _Call:
    """Runs one tool of a server, by the server's own name for it."""

    session: Session
    name: str
    keep_meta: bool

    async def __call__(self, arguments: Json, context: Any = None) -> ToolReturn:
        client = await self.session.client()
        try:
            result: Any = await client.call_tool(self.name, arguments)
        except Exception as error:
            self.session.drop()
            raise ToolErrorForModel(f"The server {self.session.name!r:.80} broke off this call.") from error
        meta: Json = {META: dict(result.meta)} if self.keep_meta and result.meta else {}
        return ToolReturn(content(result), meta, is_error=bool(result.is_error))


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


def _connector(name: str, entry: Mapping[str, Any]) -> Callable[[], AbstractAsyncContextManager[Any]]:
    """What opens a client for one entry of a file."""
    command, url = entry.get("command"), entry.get("url")
    if isinstance(command, str):
        return lambda: _stdio(command, entry)
    if isinstance(url, str):
        return lambda: _http(url, dict(entry.get("headers") or {}))
    raise InvalidSource(f"the server {name!r:.80} has neither command nor url")


def _stdio(command: str, entry: Mapping[str, Any]) -> AbstractAsyncContextManager[Any]:
    from mcp import Client, StdioServerParameters

    given = {key: entry[key] for key in ("args", "env", "cwd") if entry.get(key)}
    return Client(StdioServerParameters(command=command, **given))


def _http(url: str, headers: dict[str, str]) -> AbstractAsyncContextManager[Any]:
    import httpx2
    from mcp import Client
    from mcp.client.streamable_http import streamable_http_client

    transport: Any = streamable_http_client(url, http_client=httpx2.AsyncClient(headers=headers, timeout=30.0))
    return Client(transport)
