"""All commands, put together. Engines are imported when a command needs them."""

from __future__ import annotations

from typing import Annotated

import typer

from toolsearch import __version__
from toolsearch.cli import calibrating, chat, evaluating, gateway, indexes, keys, searching, serving, tools, training

app = typer.Typer(
    help="Let a language model find the right tool among thousands.",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


def _version(asked: bool) -> None:
    if asked:
        print(__version__)
        raise typer.Exit


@app.callback()
def start(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=_version, is_eager=True)
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show where an error came from.")] = False,
) -> None:
    """Take the options that stand before a command; `main` reads them."""
    del version, debug


app.command()(searching.search)
app.command()(searching.explain)
app.command("eval")(evaluating.evaluate)
app.command()(calibrating.calibrate)
app.command()(chat.chat)
app.command()(serving.serve)
app.command()(training.train)
app.add_typer(indexes.app, name="index")
app.add_typer(tools.app, name="tool")
app.add_typer(keys.app, name="keys")
app.add_typer(gateway.app, name="mcp")
