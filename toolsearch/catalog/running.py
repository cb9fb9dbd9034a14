"""What an index's definition says of running its tools: where MCP servers are listed, and where services are.

    sources = ["servers.json", "shop.yaml"]         # tools of the servers in servers.json run there

    [http.shop]                                     # operations of the namespace shop run here
    base = "https://shop.example/v1"
    headers = { Authorization = "Bearer ${SHOP_KEY}" }
    document = "shop.yaml"                          # only needed when several documents have the namespace

A tool's source is data and may come from anywhere. Only servers that the definition's own sources list are started, and
only operations that its own OpenAPI documents describe are called, with method and path from the document: see
`catalog.operations`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, cast
from urllib.parse import urlsplit

from toolsearch.catalog.mcp_servers import Server, servers_of
from toolsearch.errors import InvalidInput, InvalidSource
from toolsearch.tool import Json

ENDINGS: Final = (".json", ".jsonc", ".yaml", ".yml", ".toml")
"""Of files that may list servers or describe operations."""
KEYS: Final = ("base", "headers", "seconds", "document")
SECONDS: Final = 30.0
_log = logging.getLogger("toolsearch.catalog")


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """Where the operations of one namespace are called, what is sent with every call, and time for one in seconds.

    `${NAME}` in headers stands for a variable of the environment. `document` names the file that describes them,
    relative to the definition; "" for the only one with the namespace.
    """

    base: str
    headers: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    seconds: float = SECONDS
    document: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    """`sources` gives the files and folders of the definition in `folder`; `services` are by namespace."""

    sources: Callable[[], Iterable[str | Path]] = tuple
    services: Mapping[str, Service] = field(default_factory=dict[str, Service])
    folder: Path = Path()


def services_of(table: object, where: str) -> dict[str, Service]:
    """The services of a definition's `http` table.

    Raises:
        InvalidSource: an entry has no base with a host, or a field that is unknown or of the wrong type.
    """
    entries = _table(table, f"{where}: http")
    return {name: _service(given, f"{where}: http.{name[:80]}") for name, given in entries.items()}


def _service(given: object, place: str) -> Service:
    entry = _table(given, place)
    unknown = [key for key in entry if key not in KEYS]
    if unknown:
        raise InvalidSource(f"{place}: unknown key {unknown[0][:80]!r}; use {', '.join(KEYS)}")
    base, seconds, document = entry.get("base"), entry.get("seconds", SECONDS), entry.get("document", "")
    if not isinstance(base, str) or not base.startswith(("http://", "https://")) or not _host(base):
        raise InvalidSource(f"{place}: base must begin with http:// or https:// and name a host, not {base!r:.80}")
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not seconds > 0:
        raise InvalidSource(f"{place}: seconds must be a number above 0, not {seconds!r:.80}")
    if not isinstance(document, str):
        raise InvalidSource(f"{place}: document must be a text, not {document!r:.80}")
    headers = _headers(entry.get("headers", {}), place)
    return Service(base=base, headers=headers, seconds=float(seconds), document=document)


def servers_in(sources: Iterable[str | Path]) -> dict[str, Server]:
    """The MCP servers by name that files and folders list.

    Broken ones are logged and left out, and so are all of a name that stands for different servers.
    """
    from toolsearch.catalog.documents import parsed  # whoever opens an index needs no readers of formats

    found: dict[str, Server] = {}
    unclear: set[str] = set()
    for path in files_in(sources):
        try:
            document = parsed(path)
            good, broken = servers_of(document, path.name) if _lists_servers(document) else ([], [])
        except InvalidInput as error:
            _log.warning("no servers can be read from %s: %s", path.name[:200], str(error)[:300])
            continue
        for name, reason in broken:
            _log.warning("the server %s of %s cannot be used: %s", name[:80], path.name[:200], reason[:300])
        for server in good:
            if found.setdefault(server.name, server) != server:
                unclear.add(server.name)
    for name in sorted(unclear):
        del found[name]
        _log.warning("different servers are called %s in the sources: none is started; rename one", name[:80])
    return found


def files_in(sources: Iterable[str | Path]) -> Iterator[Path]:
    """Files that may hold documents, those of folders in order of names."""
    for path in map(Path, sources):
        inside = sorted(path.iterdir()) if path.is_dir() else [path]
        yield from (one for one in inside if one.suffix in ENDINGS and one.name[0] not in "._" and one.is_file())


def _host(address: str) -> str | None:
    try:
        return urlsplit(address).hostname
    except ValueError:
        return None


def _headers(given: object, place: str) -> dict[str, str]:
    headers = _table(given, f"{place}.headers")
    for name, value in headers.items():
        if not isinstance(value, str):
            raise InvalidSource(f"{place}: the header {name[:80]!r} must be a text, not {value!r:.80}")
    return cast("dict[str, str]", headers)


def _table(value: object, where: str) -> Json:
    if not isinstance(value, dict):
        raise InvalidSource(f"{where} must be a table, not {value!r:.80}")
    return cast(Json, value)


def _lists_servers(document: object) -> bool:
    known = cast(Json, document) if isinstance(document, dict) else {}
    listed: object = known.get("mcpServers", known.get("servers"))
    return isinstance(listed, dict) and "openapi" not in known and "swagger" not in known
