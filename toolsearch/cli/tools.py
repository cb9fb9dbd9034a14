"""`toolsearch tool ...`: look at single tools."""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path
from typing import Final

import click

from toolsearch.cli import formats, options
from toolsearch.errors import InvalidInput

FORMATS: Final = {
    "openai": "toolsearch.catalog.openai_chat:to_openai",
    "responses": "toolsearch.catalog.openai_responses:to_responses",
    "anthropic": "toolsearch.catalog.anthropic:to_anthropic",
    "gemini": "toolsearch.catalog.gemini:to_gemini",
    "ollama": "toolsearch.catalog.ollama:to_ollama",
    "mcp": "toolsearch.catalog.mcp:to_mcp",
}
"""Name of a format -> what writes it."""


@click.group()
def tool() -> None:
    """Look at tools."""


@tool.command()
@click.argument("tool_id")
@options.index
@click.option("--as", "form", type=click.Choice(["json", *FORMATS]), help="As a provider wants it.")
@options.caller
def show(tool_id: str, index: Path, form: str | None, caller: tuple[str, ...]) -> None:
    """Show a tool by its id."""
    from toolsearch import ToolIndex

    with ToolIndex.open(index, read_only=True) as opened:
        spec = opened.get(tool_id, caller or None)
    if spec is None:
        raise InvalidInput(
            f"no tool {tool_id[:200]!r} in {str(index)!r}; try: toolsearch search {tool_id[:80]!r} -i {index}"
        )
    if form is None:
        print(formats.tool(spec))
    elif form == "json":
        print(formats.as_json(json.loads(spec.to_json())))
    else:
        module, _, name = FORMATS[form].partition(":")
        print(formats.as_json(getattr(import_module(module), name)(spec)))
