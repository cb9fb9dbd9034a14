"""Resources and prompts of the servers behind: passed on as they are, under names that say whose they are.

A resource `file:///a` of the server `files` is `mcp://files/file:///a` here, and a prompt `sum_up` is `files__sum_up`.
Servers that the caller may not see are the same as servers that are not there.
"""

from __future__ import annotations

import base64
import binascii
import json
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final, TypeVar
from urllib.parse import unquote

from mcp import Client, MCPError
from mcp_types import (
    INVALID_PARAMS,
    GetPromptResult,
    ListPromptsResult,
    ListResourcesResult,
    ListResourceTemplatesResult,
    ReadResourceResult,
)

from toolsearch.errors import InvalidInput, ToolErrorForModel, ToolSearchError
from toolsearch.mcp.calling import Caller
from toolsearch.mcp.gateway import Gateway
from toolsearch.mcp.results import own_uri
from toolsearch.mcp.showing import cleaned
from toolsearch.mcp.upstream import Upstream

PAGE: Final = 500
"""Entries after which an answer ends, once a server's page is whole."""
MAX_TEXT: Final = 2_000
"""Characters of a title or description."""
SEPARATOR: Final = "__"
T = TypeVar("T")
_log = logging.getLogger("toolsearch.mcp")


class Passing:
    """Lists and reads for one gateway."""

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway

    async def resources(self, caller: Caller, cursor: str | None) -> ListResourcesResult:
        """A page of all resources, server after server.

        Raises:
            MCPError: the cursor is not one of ours.
        """
        found, more = await self._listed(
            caller, cursor, "resources", lambda client, at: client.list_resources(cursor=at, cache_mode="bypass")
        )
        told = [_told(one, uri=own_uri(server.name, str(one.uri))) for server, one in found]
        return ListResourcesResult(resources=told, next_cursor=more)

    async def templates(self, caller: Caller, cursor: str | None) -> ListResourceTemplatesResult:
        """A page of all templates of resources.

        Raises:
            MCPError: the cursor is not one of ours.
        """
        found, more = await self._listed(
            caller,
            cursor,
            "resources",
            lambda client, at: client.list_resource_templates(cursor=at, cache_mode="bypass"),
        )
        told = [_told(one, uri_template=own_uri(server.name, one.uri_template)) for server, one in found]
        return ListResourceTemplatesResult(resource_templates=told, next_cursor=more)

    async def prompts(self, caller: Caller, cursor: str | None) -> ListPromptsResult:
        """A page of all prompts.

        Raises:
            MCPError: the cursor is not one of ours.
        """
        found, more = await self._listed(
            caller, cursor, "prompts", lambda client, at: client.list_prompts(cursor=at, cache_mode="bypass")
        )
        told = [_told(one, name=f"{server.name}{SEPARATOR}{one.name}") for server, one in found]
        return ListPromptsResult(prompts=told, next_cursor=more)

    async def read(self, caller: Caller, uri: str) -> ReadResourceResult:
        """The contents of a resource.

        Raises:
            MCPError: there is none, or its server does not answer.
        """
        name, _, inner = uri.removeprefix("mcp://").partition("/")
        server = next((one for one in self._servers(caller) if one.name == unquote(name)), None)
        if server is None or not uri.startswith("mcp://") or not inner:
            raise MCPError(INVALID_PARAMS, f"there is no resource {uri[:200]!r} here")
        answer = await _asked(
            server, caller, "resources", lambda client: client.read_resource(inner, cache_mode="bypass")
        )
        contents = [one.model_copy(update={"uri": own_uri(server.name, str(one.uri))}) for one in answer.contents]
        return ReadResourceResult(contents=contents)

    async def prompt(self, caller: Caller, name: str, arguments: dict[str, str] | None) -> GetPromptResult:
        """A prompt, filled in.

        Raises:
            MCPError: there is none, or its server does not answer.
        """
        known = [one for one in self._servers(caller) if name.startswith(one.name + SEPARATOR)]
        if not known:
            raise MCPError(INVALID_PARAMS, f"there is no prompt {name[:200]!r} here")
        server = max(known, key=lambda one: len(one.name))
        inner = name.removeprefix(server.name + SEPARATOR)
        answer = await _asked(server, caller, "prompts", lambda client: client.get_prompt(inner, arguments))
        return GetPromptResult(description=answer.description, messages=answer.messages)

    def _servers(self, caller: Caller) -> list[Upstream]:
        return [one for one in self._gateway.servers if one.may_be_seen_by(caller)]

    async def _listed(
        self, caller: Caller, cursor: str | None, part: str, page: Callable[[Client, str | None], Awaitable[Any]]
    ) -> tuple[list[tuple[Upstream, Any]], str | None]:
        """Entries with their servers, and the cursor of what follows; servers that do not answer are left out."""
        await self._gateway.settled()
        servers, found = self._servers(caller), list[tuple[Upstream, Any]]()
        first, at = _opened(cursor, servers)
        for place, server in enumerate(servers[first:], first):
            while True:
                try:
                    answer = await server.ask(caller, part, lambda client, at=at: page(client, at))
                except (MCPError, ToolSearchError) as error:
                    _log.warning("server %s does not list its %s: %s", server.name[:80], part, str(error)[:300])
                    answer = None
                found += [] if answer is None else [(server, one) for one in _entries(answer)]
                at = None if answer is None else answer.next_cursor
                if len(found) >= PAGE and (at is not None or place + 1 < len(servers)):
                    return found, _sealed(server.name if at else servers[place + 1].name, at)
                if at is None:
                    break
        return found, None


async def _asked(server: Upstream, caller: Caller, part: str, work: Callable[[Client], Awaitable[T]]) -> T:
    try:
        answer = await server.ask(caller, part, work)
    except (ToolErrorForModel, InvalidInput) as error:
        raise MCPError(INVALID_PARAMS, str(error)[:300]) from None
    if answer is None:
        raise MCPError(INVALID_PARAMS, f"the server {server.name[:80]!r} has no {part}")
    return answer


def _told(one: Any, **own: str) -> Any:
    """An entry under our name, its texts as data."""
    texts = {name: getattr(one, name) for name in ("title", "description")}
    cut = {name: cleaned(text)[:MAX_TEXT] for name, text in texts.items() if text}
    return one.model_copy(update={**cut, **own})


def _entries(answer: Any) -> Sequence[Any]:
    kinds = ("resources", "resource_templates", "prompts")
    return next(getattr(answer, kind) for kind in kinds if hasattr(answer, kind))


def _sealed(server: str, at: str | None) -> str:
    return base64.urlsafe_b64encode(json.dumps([server, at]).encode()).decode()


def _opened(cursor: str | None, servers: Sequence[Upstream]) -> tuple[int, str | None]:
    """Where a page begins: the place of its server, and that server's own cursor."""
    if cursor is None:
        return 0, None
    try:
        name, at = json.loads(base64.urlsafe_b64decode(cursor[:8_000]))
        place = [one.name for one in servers].index(name)
    except (binascii.Error, ValueError, TypeError):
        raise MCPError(INVALID_PARAMS, "this is no cursor of this list; begin without one") from None
    return place, at if isinstance(at, str) else None
