"""Sources that are read once: OpenAPI documents, Python tools, and other indexes with what runs their tools."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import cast

from toolsearch.agent.http_tools import HTTPTools
from toolsearch.catalog.documents import parsed
from toolsearch.catalog.loaded import Collector, Problem
from toolsearch.catalog.openapi import collect_openapi
from toolsearch.catalog.sources import load
from toolsearch.errors import InvalidSource, ToolSearchError
from toolsearch.index.tool_index import ToolIndex
from toolsearch.mcp.config import Config, OpenAPI
from toolsearch.mcp.running import Elsewhere
from toolsearch.mcp.shelf import Shelf
from toolsearch.mcp.upstream import SourceStatus
from toolsearch.tool import Json, Tool

Read = Callable[[], tuple[list[Tool], list[Problem]]]


@dataclass(frozen=True, slots=True)
class Fixed:
    """One source: its kind, its name, and what reads its tools, which blocks."""

    kind: str
    name: str
    read: Read

    def put(self, shelf: Shelf) -> SourceStatus:
        """Read it into the index; what cannot be read is down, and says why."""
        try:
            tools, problems = self.read()
            more = shelf.put(f"{self.kind}:{self.name}", tools)
        except (ToolSearchError, OSError) as error:
            return SourceStatus(name=self.name, kind=self.kind, state="down", reason=str(error)[:300])
        return SourceStatus(
            name=self.name, kind=self.kind, state="ready", tools=len(tools), problems=(*problems, *more)
        )


def fixed_sources(config: Config) -> Iterator[Fixed]:
    """The sources of a configuration that are no servers."""
    options, folder = config.options, config.folder
    for name, api in options.openapi.items():
        yield Fixed("openapi", name, partial(_operations, name, api, folder))
    for source in options.python:
        yield Fixed("python", source, partial(_functions, source, folder))
    for place in options.indexes:
        yield Fixed("index", place, partial(_indexed, folder / place))


def _operations(name: str, api: OpenAPI, folder: Path) -> tuple[list[Tool], list[Problem]]:
    path = folder / api.file
    document = parsed(path)
    collector = Collector(keep_going=True)
    collect_openapi(document, path.name, collector)
    loaded = collector.loaded()
    service = HTTPTools(
        base={name: api.base or _address(document, name)},
        hosts=api.hosts,
        headers={name: api.headers},
        seconds=api.seconds,
    )
    specs = [
        one.spec.with_(namespace=name, source=f"openapi:{name}", groups=api.groups or one.spec.groups)
        for one in loaded.tools
    ]
    unset = [Problem("its headers", f"the variable {one[:80]!r} is not set, so calls fail") for one in service.unset()]
    return [Tool(spec, service.for_tool(spec)) for spec in specs], [*unset, *loaded.problems]


def _address(document: object, name: str) -> str:
    servers: object = cast(Json, document).get("servers") if isinstance(document, Mapping) else None
    first: object = cast("list[object]", servers)[0] if isinstance(servers, list) and servers else None
    url: object = cast(Json, first).get("url") if isinstance(first, Mapping) else None
    if not isinstance(url, str) or not url.startswith(("http://", "https://")):
        raise InvalidSource(f"the document of {name[:80]!r} names no server with an address; give it with base")
    return url


def _functions(source: str, folder: Path) -> tuple[list[Tool], list[Problem]]:
    path = folder / source
    loaded = load(path if path.exists() else source, keep_going=True)
    return list(loaded.tools), list(loaded.problems)


def _indexed(path: Path) -> tuple[list[Tool], list[Problem]]:
    index = ToolIndex.open(path, read_only=True)
    return [Tool(spec, Elsewhere(index, spec.id)) for spec in index.view()], []
