"""Tools analysed by several processes at once, for a build that may use several processors."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from contextlib import ExitStack
from typing import IO, TYPE_CHECKING, cast

from toolsearch.strategies.segment import Segment
from toolsearch.tool import ToolSpec

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from types import TracebackType

    from toolsearch.engines.postings import Arrays


class _Helper:
    """A process that analyses one list of bodies at a time; it gives way to others (see `helper`)."""

    def __init__(self) -> None:
        paths = os.pathsep.join(path or os.curdir for path in sys.path)
        self._process = subprocess.Popen(
            [sys.executable, "-m", "toolsearch.index.helper"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": paths},
        )
        self._asked: list[Sequence[str]] = []

    def __enter__(self) -> _Helper:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if kind is not None:
            self._process.kill()
        self._process.communicate()

    def ask(self, bodies: Sequence[str]) -> None:
        """Give it bodies; it must not be at work."""
        self._asked = [bodies]
        try:
            given = cast("IO[bytes]", self._process.stdin)
            pickle.dump(list(bodies), given, protocol=5)
            given.flush()
        except OSError:
            # It has ended: `answer` will do the work.
            return

    def answer(self) -> Iterator[Segment]:
        """The segment of what it was asked, if it was; analysed here when the process failed, so errors are named."""
        for bodies in self._asked:
            try:
                out = cast("IO[bytes]", self._process.stdout)
                yield Segment.from_arrays(cast("Arrays", pickle.load(out)), None)  # noqa: S301 - from our own process
            except (OSError, EOFError, pickle.UnpicklingError):
                yield analysed(bodies)
        self._asked = []


def analysed(bodies: Sequence[str]) -> Segment:
    """The segment of tools, given by their JSON.

    Raises:
        InvalidTool: one has changed since it was written.
    """
    return Segment.of([ToolSpec.from_json(body) for body in bodies])


def segments(blocks: Iterable[Sequence[str]], jobs: int) -> Iterator[Segment]:
    """The segment of each block of bodies, in order, `jobs` blocks at a time.

    Raises:
        InvalidTool: a body has changed since it was written.
    """
    if jobs < 2:
        yield from map(analysed, blocks)
        return
    with ExitStack() as stack:
        helpers = [stack.enter_context(_Helper()) for _ in range(jobs)]
        number = 0
        for number, bodies in enumerate(blocks):
            helper = helpers[number % jobs]
            yield from helper.answer()
            helper.ask(bodies)
        for place in range(number + 1, number + 1 + jobs):
            yield from helpers[place % jobs].answer()
