"""`toolsearch keys ...`: create, list and revoke the keys of a service."""

from __future__ import annotations

import datetime
from collections.abc import Generator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from toolsearch.cli import formats

if TYPE_CHECKING:
    from toolsearch.server.keys import Keys

app = typer.Typer(help="Keys of a service.", no_args_is_help=True, rich_markup_mode=None)
Index = Annotated[
    list[Path] | None, typer.Option("--index", "-i", help="Folder of the service's (first) index.", show_default=False)
]
State = Annotated[Path | None, typer.Option(help="The service's file, when it is not in that folder.")]


class Roles(StrEnum):
    """What a key may do; each may do what those before it may."""

    search = "search"
    write = "write"
    admin = "admin"


@app.command()
def create(
    name: Annotated[str, typer.Argument(help="What the key is for.", show_default=False)],
    index: Index = None,
    state: State = None,
    role: Annotated[Roles, typer.Option(help="search, write or admin.")] = Roles.search,
    group: Annotated[
        list[str] | None, typer.Option(metavar="GROUP", help="Sees tools of this group too; repeatable.")
    ] = None,
    days: Annotated[float | None, typer.Option(help="Days that the key works; without, until revoked.")] = None,
) -> None:
    """Make a key and print it: it cannot be shown again.

    A search key without groups sees the tools that are open to everybody; write and admin keys see all. Of keys that
    work, no two have one name.
    """
    from toolsearch.server.callers import Role

    with _keys(index, state) as keys:
        groups = None if role is not Roles.search and not group else group or []
        key, token = keys.create(name, Role(role.value), groups, days)
    typer.echo(f"key {key.id} ({role.value}) made; it is shown this once:", err=True)
    print(token)


@app.command("list")
def list_(index: Index = None, state: State = None) -> None:
    """List all keys, never the keys themselves."""
    with _keys(index, state) as keys:
        rows = [
            (
                key.id,
                key.name,
                key.role.value,
                _groups(key.groups),
                _day(key.created),
                _day(key.expires),
                _day(key.revoked),
            )
            for key in keys.list()
        ]
    print(formats.format_rows([("key", "name", "role", "groups", "created", "expires", "revoked"), *rows]))


@app.command()
def revoke(
    key: Annotated[
        str, typer.Argument(metavar="KEY", help="Its id or its name, as list shows them.", show_default=False)
    ],
    index: Index = None,
    state: State = None,
) -> None:
    """Make a key useless; workers that run notice within a second."""
    with _keys(index, state) as keys:
        gone = keys.revoke(key)
    print(f"key {gone.id} ({gone.name}) revoked")


@contextmanager
def _keys(index: list[Path] | None, state: Path | None) -> Generator[Keys]:
    from toolsearch.cli.serving import ServeOptions, settings_of
    from toolsearch.server.keys import Keys
    from toolsearch.server.state import StateFile

    file = StateFile(settings_of(ServeOptions(index=index, state=state)).state_file)
    try:
        yield Keys(file)
    finally:
        file.close()


def _groups(groups: frozenset[str] | None) -> str:
    return "(all tools)" if groups is None else ", ".join(sorted(groups)) or "(open tools)"


def _day(time: float | None) -> str:
    return "" if time is None else datetime.datetime.fromtimestamp(time, datetime.UTC).strftime("%Y-%m-%d %H:%M")
