"""`toolsearch tool ...`: look at single tools."""

from __future__ import annotations

import json
from enum import StrEnum
from importlib import import_module
from typing import Annotated, Final

import typer

from toolsearch.cli import formats, options
from toolsearch.cli.finding import known_tool

app = typer.Typer(help="Look at single tools.", no_args_is_help=True, rich_markup_mode=None)


class Form(StrEnum):
    """Ways to write a tool."""

    json = "json"
    openai = "openai"
    responses = "responses"
    anthropic = "anthropic"
    gemini = "gemini"
    mcp = "mcp"
    ollama = "ollama"


WRITERS: Final = {
    Form.openai: "toolsearch.catalog.openai_chat:to_openai",
    Form.responses: "toolsearch.catalog.openai_responses:to_responses",
    Form.anthropic: "toolsearch.catalog.anthropic:to_anthropic",
    Form.gemini: "toolsearch.catalog.gemini:to_gemini",
    Form.mcp: "toolsearch.catalog.mcp:to_mcp",
    Form.ollama: "toolsearch.catalog.ollama:to_ollama",
}
"""Form -> what writes it."""


@app.callback()
def start() -> None:
    """Keep `show` a command of its own while it is the only one."""


@app.command()
def show(
    tool: Annotated[str, typer.Argument(metavar="ID", help="Id of the tool.", show_default=False)],
    index: options.Index,
    form: Annotated[Form | None, typer.Option("--as", help="As toolsearch or a provider writes it.")] = None,
    caller: options.Caller = None,
) -> None:
    """Show a tool by its id."""
    from toolsearch import ToolIndex

    with ToolIndex.open(index, read_only=True) as opened:
        spec = known_tool(opened, tool, caller or None)
    if form is None:
        print(formats.format_tool(spec))
    elif form is Form.json:
        print(formats.as_json(json.loads(spec.to_json())))
    else:
        module, _, name = WRITERS[form].partition(":")
        print(formats.as_json(getattr(import_module(module), name)(spec)))
