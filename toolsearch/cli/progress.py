"""A progress bar on standard error, drawn only when somebody can see it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from toolsearch.index.progress import Progress as Step


@contextmanager
def progress_bar() -> Generator[Callable[[Step], None]]:
    """A function to be told how far a build is: one bar a stage."""
    if not sys.stderr.isatty():
        yield _ignore
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description:<8}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        stages: dict[str, TaskID] = {}

        def told(step: Step) -> None:
            if step.stage not in stages:
                stages[step.stage] = bar.add_task(step.stage, total=step.total)
            bar.update(stages[step.stage], completed=step.done, total=step.total)

        yield told


def _ignore(_: Step) -> None:
    """Nobody watches."""
