"""`toolsearch index ...`: build, list, show, add, remove, verify."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from toolsearch.cli import formats, options
from toolsearch.cli.progress import progress_bar
from toolsearch.errors import InvalidInput

if TYPE_CHECKING:
    from toolsearch import ToolIndex
    from toolsearch.index.changes import Changes
    from toolsearch.tool import Tool

_PLACE: Final = click.argument("path", type=click.Path(path_type=Path))


@click.group()
def index() -> None:
    """Build and change indexes."""


@index.command()
@_PLACE
@click.option("--from", "sources", multiple=True, help="File, folder or module:name; repeatable.")
@click.option("--encoder", help="Name of the encoder; by default what index.toml says.")
@options.keep_going
def build(path: Path, sources: tuple[str, ...], encoder: str | None, keep_going: bool) -> None:
    """Build an index from its index.toml, or from sources."""
    from toolsearch import ToolIndex

    if not sources and not (path / "index.toml").is_file() and not (path / "data").is_dir():
        raise InvalidInput(f"{str(path)!r} has no index.toml; name where its tools come from with --from")
    tools = _loaded(sources, keep_going=keep_going) if sources else None
    with progress_bar() as told, ToolIndex.build(path, tools, encoder=encoder, progress=told) as built:
        _say(path, built, built.changes)


@index.command()
@_PLACE
@click.argument("source")
@options.keep_going
def add(path: Path, source: str, keep_going: bool) -> None:
    """Add the tools of SOURCE, or change those that are there."""
    from toolsearch import ToolIndex

    tools = _loaded([source], keep_going=keep_going)
    with ToolIndex.open(path) as opened:
        _say(path, opened, opened.upsert(tools))


@index.command()
@_PLACE
@click.argument("ids", nargs=-1, required=True)
def remove(path: Path, ids: tuple[str, ...]) -> None:
    """Take tools out by their ids; all of them or none."""
    from toolsearch import ToolIndex

    with ToolIndex.open(path) as opened:
        missing = [one for one in ids if opened.get(one) is None]
        if missing:
            raise InvalidInput(f"no tool {missing[0][:200]!r} in {str(path)!r}; nothing was removed")
        _say(path, opened, opened.remove(ids))


@index.command("list")
@click.argument("folder", type=click.Path(path_type=Path), default=Path("indexes"))
@options.as_json
def list_(folder: Path, as_json: bool) -> None:
    """List the indexes in FOLDER (default: indexes)."""
    places = sorted({path.parent for name in ("index.toml", "data") for path in folder.glob(f"*/{name}")})
    if not places:
        raise InvalidInput(f"no index in {str(folder)!r}")
    rows = [(str(place), _size(place)) for place in places]
    if as_json:
        print(formats.as_json([{"path": place, "tools": size} for place, size in rows]))
    else:
        print(
            formats.rows(
                [("index", "tools"), *((place, "not built" if size is None else size) for place, size in rows)]
            )
        )


def _size(place: Path) -> int | None:
    from toolsearch import ToolIndex

    if not (place / "data").is_dir():
        return None
    with ToolIndex.open(place, read_only=True) as opened:
        return len(opened)


@index.command()
@_PLACE
@options.as_json
def show(path: Path, as_json: bool) -> None:
    """Say what an index holds, and what does not fit."""
    from toolsearch import ToolIndex

    with ToolIndex.open(path, read_only=True) as opened:
        status = opened.status
    facts = {name: getattr(status, name) for name in ("tools", "generation", "encoder", "analyser", "format")}
    if as_json:
        print(formats.as_json({**facts, "notes": list(status.notes)}))
    else:
        print("\n".join([formats.rows(list(facts.items())), *(f"note: {note}" for note in status.notes)]))


@index.command()
@_PLACE
@click.option("--repair", is_flag=True, help="Make what is damaged anew from the database.")
def verify(path: Path, repair: bool) -> None:
    """Read every file of an index and say what is wrong."""
    from toolsearch import ToolIndex

    with ToolIndex.open(path, read_only=not repair) as opened:
        report = opened.verify(repair=repair)
    for problem in report.problems:
        print(problem)
    print("all files are sound" if report.ok else f"mend it with: toolsearch index verify {path} --repair")
    raise SystemExit(0 if report.ok else 2)


def _loaded(sources: tuple[str, ...] | list[str], *, keep_going: bool) -> list[Tool]:
    from toolsearch.catalog.sources import load

    tools: list[Tool] = []
    for source in sources:
        found = load(source, keep_going=keep_going)
        tools += found.tools
        for problem in found.problems:
            print(f"left out: {formats.short(str(problem), 300)}", file=sys.stderr)
    return tools


def _say(path: Path, opened: ToolIndex, done: Changes) -> None:
    counts = f"{len(done.added)} added, {len(done.changed)} changed, {len(done.removed)} removed"
    print(f"{path}: {len(opened)} tools ({counts}, {done.unchanged} unchanged)")
