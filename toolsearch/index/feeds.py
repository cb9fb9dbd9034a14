"""What an index is built from: tools that were given, or files that are read while it is built."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Protocol

from toolsearch.catalog.loaded import MAX_TOOLS, Problem
from toolsearch.catalog.streaming import Entry, entries
from toolsearch.errors import DuplicateTool, InvalidInput, InvalidSource, LimitExceeded
from toolsearch.tool import ToolSpec


class Feed(Protocol):
    """Tools one after another, and what happens to those that cannot be taken."""

    def entries(self) -> Iterator[Entry]:
        """The tools in catalog order."""
        ...

    def read(self, entry: Entry) -> ToolSpec | None:
        """The tool of an entry; None when it is left out."""
        ...

    def taken(self, tool: str, where: str, before: str) -> None:
        """Leave out a tool whose id another one has, which stands at `before`."""
        ...


class GivenTools:
    """Tools in memory."""

    def __init__(self, specs: Iterable[ToolSpec]) -> None:
        self._specs = specs

    def entries(self) -> Iterator[Entry]:
        """The tools in their order."""
        return (Entry("", spec=spec) for spec in self._specs)

    def read(self, entry: Entry) -> ToolSpec | None:
        """The tool itself."""
        return entry.spec

    def taken(self, tool: str, where: str, before: str) -> None:
        """Refuse two tools with one id.

        Raises:
            DuplicateTool: always.
        """
        raise DuplicateTool(f"two tools have the id {tool[:200]!r}; give one another name, namespace or id")


def _ignored(_: Problem) -> None:
    """Nobody asks."""


class SourceTools:
    """The tools of files, folders and modules, read one by one; see `toolsearch.catalog.sources.load`.

    With `keep_going` what is broken is left out and told to `problem`; without it, it ends the reading. What looks
    wrong with a tool that is taken is told to `doubt`.

    Raises:
        InvalidInput: while they are read; a source cannot be read, or one of its tools is not acceptable.
    """

    def __init__(
        self,
        sources: Iterable[str | Path],
        *,
        keep_going: bool = False,
        problem: Callable[[Problem], None] = _ignored,
        doubt: Callable[[Problem], None] = _ignored,
    ) -> None:
        self._sources = tuple(sources)
        self._keep_going, self._problem, self._doubt = keep_going, problem, doubt

    def __iter__(self) -> Iterator[ToolSpec]:
        """The tools that can be read; equal ids are not looked for."""
        return (spec for entry in self.entries() if (spec := self.read(entry)) is not None)

    def entries(self) -> Iterator[Entry]:
        """The tools of all sources in order, lines of JSONL unread."""
        for source in self._sources:
            for number, found in enumerate(entries(source, keep_going=self._keep_going)):
                if number >= MAX_TOOLS:
                    raise LimitExceeded(f"{str(source)[:200]}: a source may hold {MAX_TOOLS} tools")
                if isinstance(found, Problem):
                    self._problem(found)
                else:
                    yield found

    def read(self, entry: Entry) -> ToolSpec | None:
        """The tool of an entry; None when it was left out."""
        try:
            return entry.read(lambda reason: self._doubt(Problem(entry.where, reason)))
        except InvalidInput as error:
            self._left_out(entry.where, str(error).removeprefix(f"{entry.where}: "))
        return None

    def taken(self, tool: str, where: str, before: str) -> None:
        """Leave out a second tool with one id."""
        self._left_out(where, f"the id {tool[:200]!r} is taken by {before}")

    def _left_out(self, where: str, reason: str) -> None:
        if not self._keep_going:
            raise InvalidSource(f"{where}: {reason}")
        self._problem(Problem(where, reason))
