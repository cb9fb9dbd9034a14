"""How far a build is, on standard error: a bar where somebody can see it, else a line now and then."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from toolsearch.index.progress import Progress as Step

PAUSE: Final = 15.0
"""Seconds between two lines where there is no terminal; what is quicker says nothing."""


@contextmanager
def progress_bar() -> Generator[Callable[[Step], None]]:
    """A function to be told how far a build is: one bar a stage."""
    if not sys.stderr.isatty():
        yield Lines().told
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description:<8}"),
        BarColumn(),
        TextColumn("{task.fields[told]}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        stages: dict[str, tuple[TaskID, float]] = {}

        def told(step: Step) -> None:
            if step.stage not in stages:
                stages[step.stage] = (bar.add_task(step.stage, total=None, told=""), monotonic())
            task, begun = stages[step.stage]
            words = told_of(step, monotonic() - begun)
            bar.update(task, completed=step.done, total=step.total or None, told=words)

        yield told


class Lines:
    """A line about a stage every PAUSE seconds."""

    def __init__(self) -> None:
        self._stage, self._begun = "", 0.0
        self._said = monotonic()

    def told(self, step: Step) -> None:
        """Take a step, and say it if it is time."""
        now = monotonic()
        if step.stage != self._stage:
            self._stage, self._begun = step.stage, now
        if now - self._said < PAUSE or 0 < step.total <= step.done:
            return
        self._said = now
        left = (now - self._begun) * (step.total - step.done) / step.done if step.done and step.total else 0
        rest = f", {left:,.0f} s left" if left else ""
        print(f"{step.stage} {told_of(step, now - self._begun)}{rest}", file=sys.stderr, flush=True)


def told_of(step: Step, seconds: float) -> str:
    """How far a stage is, and how many a second: "1,200 of 5,000, 400/s"."""
    far = f"{step.done:,} of {step.total:,}" if step.total else f"{step.done:,}"
    return f"{far}, {step.done / seconds:,.0f}/s" if seconds >= 1 and step.done else far


def low_priority() -> None:
    """Let others, such as a service on this machine, go first."""
    if hasattr(os, "nice"):
        os.nice(10)


@contextmanager
def stages() -> Generator[Callable[[str], Callable[[int, int, float], None]]]:
    """A function from a stage's name to one that is told done, total and a running loss; see `progress_bar`."""
    from toolsearch.index.progress import Progress as Step

    with progress_bar() as told:
        yield lambda stage: lambda done, total, _: told(Step(stage=stage, done=done, total=total))
