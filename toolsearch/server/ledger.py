"""Which tools came by requests, and not from the sources of an index: a rebuild leaves them alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from toolsearch.server.state import StateFile


class Ledger:
    """Ids of written tools by index."""

    def __init__(self, state: StateFile) -> None:
        self._state = state

    def add(self, index: str, tools: Iterable[str]) -> None:
        """Note tools that a request wrote."""
        with self._state.writing() as transaction:
            transaction.executemany("INSERT OR IGNORE INTO written VALUES (?, ?)", [(index, tool) for tool in tools])

    def forget(self, index: str, tools: Iterable[str]) -> None:
        """Note tools that are gone."""
        with self._state.writing() as transaction:
            transaction.executemany("DELETE FROM written WHERE name = ? AND tool = ?", [(index, one) for one in tools])

    def tools(self, index: str) -> set[str]:
        """All written tools of an index."""
        return {tool for (tool,) in self._state.read("SELECT tool FROM written WHERE name = ?", (index,))}
