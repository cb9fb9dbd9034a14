"""`toolsearch index ...`: build, list, show, add, remove, lint, verify."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from toolsearch.cli import formats, linting, options
from toolsearch.cli.progress import low_priority, progress_bar
from toolsearch.cli.reading import Doubts, defined_sources, read_sources, tell_left_out
from toolsearch.errors import InvalidInput, ToolSearchError

if TYPE_CHECKING:
    from toolsearch.index.feeds import SourceTools

app = typer.Typer(help="Build, look at and change indexes.", no_args_is_help=True, rich_markup_mode=None)
app.command()(linting.lint)
Sources = Annotated[
    list[str] | None,
    typer.Option("--from", metavar="SOURCE", help="File, folder or module:name; repeatable. By default index.toml."),
]


@app.command()
def build(
    path: options.Place,
    sources: Sources = None,
    encoder: options.Encoder = None,
    keep_going: options.KeepGoing = False,
    jobs: Annotated[
        int, typer.Option("--jobs", "-j", min=1, max=256, help="Processors to use, at low priority when above 1.")
    ] = 1,
) -> None:
    """Make an index from its index.toml, or from sources.

    Afterwards it holds exactly their tools. Only what changed is encoded again.
    """
    from toolsearch.index import building

    if jobs > 1:
        low_priority()
    doubts = Doubts()
    with progress_bar() as told:
        tools = _wanted(path, sources or [], keep_going, doubts)
        done = building.build(path, building.Order(tools=tools, encoder=encoder, progress=told, jobs=jobs))
    doubts.end()
    print(formats.format_changes(path, len(done.added) + len(done.changed) + done.unchanged, done))


def _wanted(path: Path, sources: list[str], keep_going: bool, doubts: Doubts) -> SourceTools | None:
    """The tools to build from; None means those that the index holds already."""
    from toolsearch.index.feeds import SourceTools

    if path.exists() and not path.is_dir():
        raise InvalidInput(f"{str(path)!r} is a file; an index is a folder")
    named = list[str | Path](sources) or defined_sources(path)
    if named is None and not (path / "data").is_dir():
        raise InvalidInput(f"{str(path)!r} has no index.toml; say where its tools come from with --from SOURCE")
    return None if named is None else SourceTools(named, keep_going=keep_going, problem=tell_left_out, doubt=doubts)


@app.command()
def add(
    path: options.Place,
    source: Annotated[str, typer.Argument(metavar="SOURCE", help="File, folder or module:name.", show_default=False)],
    keep_going: options.KeepGoing = False,
) -> None:
    """Add the tools of a source, or change those that are there."""
    from toolsearch import ToolIndex

    with ToolIndex.open(path) as index:
        done = index.upsert(read_sources([source], keep_going=keep_going))
        print(formats.format_changes(path, len(index), done))


@app.command()
def remove(
    path: options.Place,
    ids: Annotated[list[str], typer.Argument(metavar="ID", help="Ids of tools.", show_default=False)],
) -> None:
    """Take tools out; all of them or none."""
    from toolsearch import ToolIndex

    with ToolIndex.open(path) as index:
        missing = [one for one in ids if index.get(one) is None]
        if missing:
            raise InvalidInput(f"there is no tool {missing[0][:200]!r} in {str(path)!r}; nothing was removed")
        print(formats.format_changes(path, len(index) - len(set(ids)), index.remove(ids)))


@app.command("list")
def list_(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Where the indexes are.")] = Path("indexes"),
    as_json: options.AsJson = False,
) -> None:
    """List the indexes in a folder."""
    if not folder.is_dir():
        raise InvalidInput(f"there is no folder {str(folder)!r}; name the one that holds your indexes")
    places = sorted({path.parent for name in ("index.toml", "data") for path in folder.glob(f"*/{name}")})
    found = [{"path": str(place), **_state(place)} for place in places]
    if as_json:
        print(formats.as_json(found))
    else:
        print(formats.format_rows([("index", "tools", "state"), *(tuple(one.values()) for one in found)]))
    raise typer.Exit(0 if found else 1)


def _state(place: Path) -> dict[str, Any]:
    from toolsearch import ToolIndex

    if not (place / "data").is_dir():
        return {"tools": 0, "state": "not built"}
    try:
        with ToolIndex.open(place, read_only=True) as index:
            return {"tools": len(index), "state": "; ".join(index.status.notes) or "ready"}
    except ToolSearchError as error:
        return {"tools": 0, "state": str(error)[:200]}


@app.command()
def show(path: options.Place, as_json: options.AsJson = False) -> None:
    """Say what an index holds, and what does not fit."""
    from toolsearch import ToolIndex

    with ToolIndex.open(path, read_only=True) as index:
        status = index.status
    print(formats.as_json(formats.status_json(status)) if as_json else formats.format_status(status))


@app.command()
def verify(
    path: options.Place,
    repair: Annotated[bool, typer.Option("--repair", help="Make what is damaged anew from the database.")] = False,
) -> None:
    """Read every file of an index and say what is wrong.

    Ends with 2 when something is.
    """
    from toolsearch import ToolIndex

    with ToolIndex.open(path, read_only=not repair) as index:
        report = index.verify(repair=repair)
    for problem in report.problems:
        print(formats.shown(problem, 400))
    if report.recall is not None:
        print(f"approximate search finds {report.recall:.3f} of the exact ten best")
    way_out = "build it again" if repair else f"mend it with: toolsearch index verify {path} --repair"
    print("all files are sound" if report.ok else way_out)
    raise typer.Exit(0 if report.ok else 2)


@app.command()
def backup(
    path: options.Place,
    target: Annotated[Path, typer.Argument(metavar="COPY", help="A folder that does not exist yet.")],
) -> None:
    """Copy an index to a new folder, while it is used."""
    from toolsearch.index import copies

    print(f"copied {path} to {copies.backup(path, target)}")


@app.command()
def restore(
    copy: Annotated[Path, typer.Argument(metavar="COPY", help="What backup made.")],
    path: options.Place,
    replace: Annotated[bool, typer.Option("--replace", help="Put it in the place of the index that is there.")] = False,
) -> None:
    """Put a copy of an index back.

    The copy is checked first, and stays.
    """
    from toolsearch import ToolIndex
    from toolsearch.index import copies

    with ToolIndex.open(copies.restore(copy, path, replace=replace)) as index:
        print(f"{path} holds {len(index)} tools again")
