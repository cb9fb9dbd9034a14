"""Where the sources of a gateway put their tools: one index, in which every tool belongs to one source."""

from __future__ import annotations

import logging
from collections.abc import Collection, Sequence
from threading import Lock

from toolsearch.catalog.loaded import Problem
from toolsearch.index.tool_index import ToolIndex
from toolsearch.mcp.approvals import Book, Change
from toolsearch.strategies.filters import Eq
from toolsearch.tool import Tool, ToolSpec

_log = logging.getLogger("toolsearch.mcp")


class Shelf:
    """The index and the book of changes, written by one thread at a time. Its methods block."""

    def __init__(self, index: ToolIndex, book: Book) -> None:
        self.index = index
        self._book, self._lock = book, Lock()
        self._owners: dict[str, str] = {}

    def changes(self) -> list[Change]:
        """Changes of known tools, those approved left out."""
        with self._lock:
            return self._book.changes()

    def approve(self, ids: Sequence[str]) -> None:
        """Let changed tools in from the next listing on.

        Raises:
            InvalidInput: a tool has no change that waits.
        """
        with self._lock:
            self._book.approve(ids)

    def known(self, source: str) -> dict[str, ToolSpec]:
        """The tools of a source that the index holds, by id."""
        found: dict[str, ToolSpec] = {}
        cursor: str | None = None
        while True:
            page = self.index.tools(filter=Eq("source", source), cursor=cursor, limit=1000)
            found |= {spec.id: spec for spec in page.tools}
            cursor = page.next_cursor
            if cursor is None:
                return found

    def put(self, source: str, tools: Sequence[Tool]) -> tuple[Problem, ...]:
        """Make these the tools of a source that is trusted; tools that belong to another source are problems."""
        with self._lock:
            own, problems = self._own(source, tools)
            self.index.replace(source, own)
            return problems

    def take(self, source: str, tools: Sequence[Tool]) -> tuple[Problem, ...]:
        """Make these the tools of a server, less those whose change is held back. `source` is that of each tool."""
        with self._lock:
            own, problems = self._own(source, tools)
            known = self.known(source)
            before = self._book.changes()
            accepted = {spec.id for spec in self._book.accepted(known, [tool.spec for tool in own])}
            self._tell([one for one in self._book.changes() if one not in before])
            fresh = [tool for tool in own if tool.spec.id in accepted]
            if {tool.spec.id: tool.spec for tool in fresh} != known:
                self.index.replace(source, fresh)
            return problems

    def keep_only(self, sources: Collection[str]) -> None:
        """Take out what was neither put here in this run nor is remembered of one of these sources."""
        with self._lock:
            owned = self._owners
            stray = [spec.id for spec in self.index.view() if spec.id not in owned and spec.source not in sources]
            self.index.remove(stray)

    def _own(self, source: str, tools: Sequence[Tool]) -> tuple[list[Tool], tuple[Problem, ...]]:
        """The tools that may be this source's: none takes the place of a tool that is somebody else's."""
        own: list[Tool] = []
        problems: list[Problem] = []
        for tool in tools:
            owner = self._owners.get(tool.spec.id) or self._found(tool.spec.id, source)
            if owner == source:
                own.append(tool)
            else:
                problems.append(Problem(tool.spec.id[:120], f"this id belongs to {owner[:120]}"))
        self._owners = {key: one for key, one in self._owners.items() if one != source}
        self._owners |= {tool.spec.id: source for tool in own}
        return own, tuple(problems)

    def _found(self, tool_id: str, source: str) -> str:
        """Whose tool it was before this run: a source never takes a tool that the index has of somebody else."""
        origin = self.index.origin(tool_id)
        return source if origin is None else origin or "the index"

    def _tell(self, changes: Sequence[Change]) -> None:
        for one in changes:
            what = "is held back until approved" if one.held else "is used as it is now"
            _log.warning("the tool %s was %s by its server and %s:\n%s", one.id[:120], one.kind, what, one.diff)
