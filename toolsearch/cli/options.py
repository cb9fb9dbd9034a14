"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import click

index = click.option(
    "--index",
    "-i",
    type=click.Path(path_type=Path),
    envvar="TOOLSEARCH_INDEX",
    required=True,
    help="Folder of the index.",
)
k = click.option("-k", type=click.IntRange(1, 1_000), default=5, show_default=True, help="At most this many.")
strategy = click.option("--strategy", help="simple, vector or hybrid; by default the index's own.")
caller = click.option("--caller", multiple=True, help="Group of the caller, repeatable. Without it, see everything.")
as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
keep_going = click.option("--keep-going", is_flag=True, help="Leave broken tools out instead of stopping.")

BANDS: Final = ("none", "low", "medium", "high")
"""Bands of confidence, least first."""
