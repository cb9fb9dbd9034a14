"""Reading a registered source: an MCP server's list, or an OpenAPI document."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Literal, cast

import anyio
import anyio.to_thread
import httpx2

from toolsearch.catalog.loaded import Collector, Problem, parse_json
from toolsearch.catalog.mcp_connection import connected
from toolsearch.catalog.mcp_servers import Server
from toolsearch.catalog.openapi import collect_openapi
from toolsearch.catalog.yaml_text import parse_yaml
from toolsearch.errors import InvalidSource, LimitExceeded
from toolsearch.server.network import Policy, client

if TYPE_CHECKING:
    from collections.abc import Sequence

    from toolsearch.tool import ToolSpec

Kind = Literal["mcp", "openapi"]
SECONDS: Final = 120.0
"""For one source as a whole."""
MAX_FETCHED: Final = 32_000_000
"""Bytes of a document."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A registered source. Its tools get its name as their namespace, and its groups."""

    name: str
    kind: Kind
    url: str
    headers: dict[str, str]
    groups: tuple[str, ...] = ()
    hold_changes: bool = False

    @property
    def origin(self) -> str:
        """What its tools have as their source, and no others."""
        return f"{self.kind}:{self.name}"

    def to_json(self) -> str:
        """The text that is kept of it."""
        return json.dumps({name: getattr(self, name) for name in ("kind", "url", "headers", "groups", "hold_changes")})

    @classmethod
    def from_json(cls, name: str, text: str) -> Source:
        """The source that was kept."""
        body = cast("dict[str, Any]", json.loads(text))
        body["groups"] = tuple(body["groups"])
        return cls(name=name, **body)


async def fetch(source: Source, policy: Policy) -> tuple[list[ToolSpec], Sequence[Problem]]:
    """The tools of a source as they are now, and what was wrong with some.

    Raises:
        InvalidInput: it cannot be reached, is not allowed, or gives no tools that can be read.
    """
    policy.check_url(source.url)
    try:
        with anyio.fail_after(SECONDS):
            found, problems = await (_listed if source.kind == "mcp" else _described)(source, policy)
    except TimeoutError:
        raise InvalidSource(f"the source {source.name!r} did not answer in {SECONDS:g} seconds") from None
    except httpx2.HTTPError as error:
        raise InvalidSource(f"the source {source.name!r} cannot be read: {str(error)[:200]}") from None
    return [_own(spec, source) for spec in found], problems


def _own(spec: ToolSpec, source: Source) -> ToolSpec:
    return spec.with_(namespace=source.name, source=source.origin, groups=source.groups)


async def _listed(source: Source, policy: Policy) -> tuple[list[ToolSpec], Sequence[Problem]]:
    made = partial(client, policy, source.headers)
    server = Server(name=source.name, transport="http", url=source.url, headers=source.headers, client=made)
    async with connected(server) as connection:
        listing = await connection.listing()
    return [tool.spec for tool in listing.tools], listing.problems


async def _described(source: Source, policy: Policy) -> tuple[list[ToolSpec], Sequence[Problem]]:
    async with client(policy, source.headers) as web, web.stream("GET", source.url) as answer:
        if answer.status_code != 200:
            raise InvalidSource(f"the source {source.name!r} answered {answer.status_code}, not 200")
        pieces, size = list[bytes](), 0
        async for piece in answer.aiter_bytes(65_536):
            pieces.append(piece)
            size += len(piece)
            if size > MAX_FETCHED:
                raise LimitExceeded(f"the source {source.name!r} is larger than {MAX_FETCHED} bytes")
    return await anyio.to_thread.run_sync(_read, b"".join(pieces), source)


def _read(raw: bytes, source: Source) -> tuple[list[ToolSpec], Sequence[Problem]]:
    text = raw.decode("utf-8-sig", "replace")
    body = parse_json(text, source.name) if text.lstrip().startswith("{") else parse_yaml(text, source.name)
    collector = Collector(keep_going=True)
    collect_openapi(body, source.name, collector)
    loaded = collector.loaded()
    return [tool.spec for tool in loaded.tools], loaded.problems
