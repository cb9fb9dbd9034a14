"""All commands, put together. Engines are imported when a command needs them."""

from __future__ import annotations

import click

from toolsearch import __version__
from toolsearch.cli import indexes, searching, tools


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__, message="%(version)s")
@click.option("--debug", is_flag=True, help="Show where an error came from.")
def app(debug: bool) -> None:
    """Let a language model find the right tool among thousands."""
    del debug


for command in (searching.search, searching.explain, searching.evaluate, indexes.index, tools.tool):
    app.add_command(command)
