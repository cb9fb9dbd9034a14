"""`toolsearch serve`: the service over HTTP."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from toolsearch.cli import options

if TYPE_CHECKING:
    from starlette.types import ASGIApp

    from toolsearch.server.settings import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class ServeOptions:
    """What `serve` is given; what is not comes from the environment, then from the file."""

    index: Annotated[
        list[Path] | None, typer.Option("--index", "-i", help="Folder of an index; repeatable, the first is the usual.")
    ] = None
    config: Annotated[
        Path | None, typer.Option(envvar="TOOLSEARCH_CONFIG", help="TOML file of settings, see README.")
    ] = None
    mcp: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="File of mcpServers behind the gateway at /mcp; the first index keeps their tools."
        ),
    ] = None
    host: Annotated[str | None, typer.Option(help="Address to listen on; other than loopback needs keys.")] = None
    port: Annotated[int | None, typer.Option(min=0, max=65535, help="Port to listen on, 8000 by default.")] = None
    workers: Annotated[int | None, typer.Option(min=1, max=64, help="Processes over the same index.")] = None
    state: Annotated[Path | None, typer.Option(help="File of keys, sessions and usage.")] = None


@options.taking(ServeOptions)
def serve(given: ServeOptions) -> None:
    """Serve indexes over HTTP: REST, the page and the MCP gateway.

    Open on loopback until the first key is made; elsewhere only with keys (toolsearch keys create). Exit codes:
    2 settings, index or address (such as a taken port) that cannot be used, 3 a worker that did not start; a signal
    ends it once requests are answered, with 128 and its number.
    """
    from toolsearch.server.running import serve as run

    settings = settings_of(given)
    _check(settings)
    run(settings, "toolsearch.cli.serving:worker")


def _check(settings: Settings) -> None:
    """Read what every worker will read, so that what cannot be is one error instead of workers that end.

    Raises:
        InvalidInput: the gateway's file is not acceptable.
        IndexFault: an index cannot be opened.
    """
    from toolsearch import ToolIndex
    from toolsearch.mcp.config import Config

    if settings.mcp is not None:
        Config.read(settings.mcp)
    for path in settings.indexes:
        ToolIndex.open(path, read_only=True).close()


def settings_of(given: ServeOptions) -> Settings:
    """The settings that options, environment and file make together."""
    from toolsearch.server.settings import read_settings

    said: dict[str, Any] = {
        "indexes": given.index,
        "mcp": given.mcp,
        "host": given.host,
        "port": given.port,
        "workers": given.workers,
        "state": given.state,
    }
    return read_settings(given.config, os.environ, {key: value for key, value in said.items() if value is not None})


def worker() -> ASGIApp:
    """The application of one worker process."""
    from toolsearch.cli.gateway import beside
    from toolsearch.server.application import Mounted, create_app
    from toolsearch.server.running import handed, settle
    from toolsearch.server.tracing import start_exporting

    settings = handed(os.environ)
    if settings.tracing:
        start_exporting()
    gateway = beside(settings.indexes[0], settings.mcp, workers=settings.workers)
    challenge = gateway.challenge if gateway.takes_tokens else None
    behind = gateway.gateway
    mounted = Mounted(app=gateway, running=gateway.running, tokens=challenge, behind=behind, index=behind.index)
    return create_app(settings, mounted, settle)
