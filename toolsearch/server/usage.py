"""The usage log, when it is asked for: searches, what they found, and which of it was called."""

from __future__ import annotations

import hashlib
import hmac
import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from toolsearch.server.problems import Problem

if TYPE_CHECKING:
    from collections.abc import Sequence

    from toolsearch.server.callers import Caller
    from toolsearch.server.state import StateFile

DAY: Final = 86_400.0
FOLLOWS: Final = 3_600.0
"""Seconds in which a call counts as following a search."""
RECENT: Final = """
SELECT u.id FROM usage u, json_each(u.hits) h WHERE u.key = ? AND u.at > ? AND h.value = ? ORDER BY u.at DESC LIMIT 1"""
JUDGED: Final = """
SELECT u.query, json_group_array(DISTINCT c.tool) FROM usage u JOIN calls c ON c.search = u.id
WHERE u.name = ? AND u.plain GROUP BY u.query ORDER BY min(u.at)"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Searched:
    """One search: `id` is its request's."""

    id: str
    index: str
    needs: Sequence[str]
    hits: Sequence[str]


class Usage:
    """The log. `mode` is off, hashed (texts only as keyed hashes) or plain."""

    def __init__(self, state: StateFile, mode: str, days: float) -> None:
        self._state, self._mode, self._days = state, mode, days

    def searched(self, caller: Caller, search: Searched) -> None:
        """Note a search."""
        if self._mode == "off":
            return
        plain = self._mode == "plain"
        query = "\n".join(search.needs)
        told = query if plain else hmac.new(self._state.secret, query.encode(), hashlib.sha256).hexdigest()
        values = (search.id, time.time(), caller.name, search.index, told, plain, json.dumps(list(search.hits)))
        self._state.read("INSERT OR IGNORE INTO usage VALUES (?, ?, ?, ?, ?, ?, ?)", values)

    def called(self, key: str, tool: str, search: str | None = None) -> bool:
        """Note that a tool was called after a search, by default the key's last that found it; tells whether it was.

        Raises:
            Problem: the key made no such search.
        """
        if self._mode == "off":
            return False
        if search is None:
            found = self._state.read(RECENT, (key, time.time() - FOLLOWS, tool))
        else:
            found = self._state.read("SELECT id FROM usage WHERE id = ? AND key = ?", (search, key))
            if not found:
                raise Problem(404, "this key made no such search")
        if found:
            self._state.read("INSERT OR IGNORE INTO calls VALUES (?, ?, ?)", (found[0][0], tool, time.time()))
        return bool(found)

    def judged(self, index: str) -> Iterator[str]:
        """Searches that led to a call, as lines of a file of judged requests; only what was logged plain."""
        for query, tools in self._state.read(JUDGED, (index,)):
            name = hashlib.sha256(str(query).encode()).hexdigest()[:16]
            body = {"id": name, "query": query, "relevant": json.loads(tools), "kind": "usage"}
            yield json.dumps(body, ensure_ascii=False) + "\n"

    def sweep(self) -> None:
        """Delete what is older than the days it is kept."""
        self.delete(time.time() - self._days * DAY)

    def delete(self, before: float | None = None, key: str | None = None) -> int:
        """Delete entries, all or those before a time or of a key; gives how many searches went."""
        with self._state.writing() as transaction:
            values = (before, before, key, key)
            which = "(? IS NULL OR at < ?) AND (? IS NULL OR key = ?)"
            chosen = f"SELECT id FROM usage WHERE {which}"  # noqa: S608 - constant
            transaction.execute(f"DELETE FROM calls WHERE search IN ({chosen})", values)  # noqa: S608 - constant
            return transaction.execute(f"DELETE FROM usage WHERE {which}", values).rowcount  # noqa: S608 - constant
