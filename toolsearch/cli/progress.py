"""A progress bar on standard error, drawn only when somebody can see it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any


@contextmanager
def progress_bar() -> Generator[Callable[[Any], None]]:
    """A function to be told of progress: an object with `stage`, `done` and `total`."""
    if not sys.stderr.isatty():
        yield _ignore
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description:<8}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        stages: dict[str, Any] = {}

        def told(step: Any) -> None:
            if step.stage not in stages:
                stages[step.stage] = bar.add_task(step.stage, total=step.total)
            bar.update(stages[step.stage], completed=step.done, total=step.total)

        yield told


def _ignore(_: Any) -> None:
    """Nobody watches."""
