"""`toolsearch mcp`: the gateway over standard input and output, and the changes of tools that wait for approval."""

from __future__ import annotations

import hashlib
import os
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from toolsearch.cli import formats, options
from toolsearch.errors import IndexReadOnly, InvalidInput

if TYPE_CHECKING:
    from toolsearch.index.tool_index import ToolIndex
    from toolsearch.mcp.gateway import Gateway
    from toolsearch.mcp.http import HTTPGateway

MEMORY: Final = "gateway.json"
"""File in an index's data folder that remembers approved tools."""
app = typer.Typer(help="Serve many MCP servers, OpenAPI documents and tools as one MCP server.", rich_markup_mode=None)
ConfigFile = Annotated[
    Path | None,
    typer.Option("--config", "-c", metavar="FILE", envvar="TOOLSEARCH_MCP_CONFIG", help="File of mcpServers."),
]
Place = Annotated[
    Path | None,
    typer.Option("--index", "-i", metavar="PATH", help="Index to serve and to remember tools in; by default a cache."),
]


@app.callback(invoke_without_command=True)
def serve(
    context: typer.Context, config: ConfigFile = None, index: Place = None, caller: options.Caller = None
) -> None:
    """Serve as an MCP server on standard input and output."""
    context.obj = (config, index)
    if context.invoked_subcommand is not None:
        return
    import asyncio
    import logging

    from toolsearch.mcp.calling import Caller
    from toolsearch.mcp.stdio import serve as serve_stdio

    logging.basicConfig(level=logging.WARNING, format="toolsearch: %(message)s")
    gateway = opened(config, index)
    asyncio.run(serve_stdio(gateway, Caller(None if caller is None else frozenset(caller))))


@app.command()
def changes(context: typer.Context, as_json: options.AsJson = False) -> None:
    """List known tools whose definition changed at their server."""
    from dataclasses import asdict

    found = _opened(context).changes()
    if as_json:
        print(formats.as_json([asdict(one) for one in found]))
        return
    if not found:
        print("nothing has changed", file=sys.stderr)
    for one in found:
        held = ", held back" if one.held else ""
        print(f"{formats.shown(one.id, 200)}: {one.kind} {one.since}{held}")
        for line in one.diff.splitlines():
            print(f"    {formats.shown(line, 200)}")
    raise typer.Exit(0 if found else 1)


@app.command()
def approve(
    context: typer.Context,
    ids: Annotated[list[str], typer.Argument(metavar="ID", help="Ids of tools.", show_default=False)],
) -> None:
    """Let changed tools in, as they are now; a running gateway sees it at its next listing."""
    _opened(context).approve(ids)
    print(f"approved: {len(ids)}")


@app.command()
def login(
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="SERVER", help="Name of the server.", show_default=False)],
) -> None:
    """Sign in to a server that wants OAuth; its tokens are kept for later."""
    import asyncio
    from dataclasses import replace

    from toolsearch.catalog.mcp_connection import Limits
    from toolsearch.catalog.mcp_live import listings
    from toolsearch.catalog.mcp_oauth import SECONDS
    from toolsearch.mcp.config import Config

    config: Path | None = context.obj[0]
    known = {one.server.name: one.server for one in Config.read(config).servers} if config else {}
    if name not in known or known[name].oauth is None:
        raise InvalidInput(f"there is no server {name[:80]!r} with OAuth in the configuration; name it with --config")
    server = replace(known[name], sign_in=_shown)
    [found] = asyncio.run(listings([server], limits=Limits(connect=SECONDS)))
    if isinstance(found, InvalidInput):
        raise found
    print(f"signed in to {formats.shown(name, 80)}: {len(found.tools)} tools")


def _shown(url: str) -> None:
    """Show an address in a browser, and in the terminal for where there is none."""
    import webbrowser

    print(f"sign in at: {formats.shown(url, 4_000)}", file=sys.stderr)
    webbrowser.open(url)


def opened(config: Path | None, index: Path | None) -> Gateway:
    """The gateway of a configuration, an index, or both.

    Raises:
        InvalidInput: neither is given, or one cannot be read.
        IndexFault: the index cannot be used.
    """
    from toolsearch.mcp.config import Config
    from toolsearch.mcp.gateway import Gateway

    if config is None and index is None:
        raise InvalidInput("say what to serve: --config FILE with mcpServers, --index PATH, or both")
    known = Config() if config is None else Config.read(config)
    place = index if index is not None else cache_of(config or Path())
    own = index is None
    return Gateway(_open(place, own), known, memory=place / "data" / MEMORY, own=own)


def beside(index: Path, config: Path | None = None, *, workers: int = 1) -> HTTPGateway:
    """The gateway of an index for a service that has looked at keys and hosts and says who asks.

    Raises:
        InvalidInput: the configuration cannot be read.
        IndexFault: the index cannot be used.
    """
    from toolsearch.mcp.http import http_application, told
    from toolsearch.mcp.issuer import Issuer

    gateway = opened(config, index)
    part = gateway.options.issuer
    issuer = Issuer(part.url, part.audience, groups=part.groups) if part else None
    return http_application(gateway, caller_of=told, issuer=issuer, hosts=["*"], stateless=workers > 1)


def cache_of(config: Path) -> Path:
    """The folder where the tools of a configuration are remembered."""
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    full = str(config.resolve())
    name = re.sub(r"[^A-Za-z0-9_-]+", "-", config.stem)[:40]
    return base / "toolsearch" / "mcp" / f"{name}-{hashlib.sha256(full.encode()).hexdigest()[:12]}"


def _open(place: Path, own: bool) -> ToolIndex:
    """The index in a folder, made when there is none; our own is made anew when a newer version reads it otherwise."""
    from toolsearch import ToolIndex

    if not (place / "data").is_dir() and not (place / "index.toml").is_file():
        place.mkdir(parents=True, exist_ok=True)
        return ToolIndex.build(place, [])
    try:
        index = ToolIndex.open(place)
    except IndexReadOnly:
        index = ToolIndex.open(place, read_only=True)
    if not own or not index.status.notes:
        return index
    index.close()
    return ToolIndex.build(place)


def _opened(context: typer.Context) -> Gateway:
    config, index = context.obj
    return opened(config, index)
