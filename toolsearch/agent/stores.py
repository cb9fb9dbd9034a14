"""Where conversations are kept: in memory, or in a SQLite file that several processes may use."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from toolsearch.agent.entries import Conversation
from toolsearch.errors import InvalidInput

WAIT: Final = 30.0
"""Seconds to wait for another writer."""


class MemoryStore:
    """Conversations of this process. They are gone when it ends."""

    def __init__(self) -> None:
        self._kept: dict[str, tuple[Conversation, float]] = {}
        self._lock = threading.Lock()

    def load(self, memory_id: str) -> Conversation:
        """A conversation; an unknown one is empty."""
        with self._lock:
            return self._kept.get(memory_id, (Conversation(), 0.0))[0]

    def update(self, memory_id: str, change: Callable[[Conversation], Conversation]) -> Conversation:
        """Replace a conversation by what `change` makes of it."""
        with self._lock:
            new = change(self._kept.get(memory_id, (Conversation(), 0.0))[0])
            self._kept[memory_id] = (new, time.time())
            return new

    def delete(self, memory_id: str) -> None:
        """Forget a conversation."""
        with self._lock:
            self._kept.pop(memory_id, None)

    def delete_idle(self, seconds: float) -> int:
        """Forget all conversations that were not written to for so long; gives their number."""
        with self._lock:
            idle = [one for one, (_, at) in self._kept.items() if at <= time.time() - seconds]
            for memory_id in idle:
                del self._kept[memory_id]
            return len(idle)


class SQLiteStore:
    """Conversations in a SQLite file; each change is one transaction.

    Raises:
        InvalidInput: the file cannot be opened, or is something else.
    """

    def __init__(self, path: str | Path) -> None:
        self._path = str(path)
        table = "CREATE TABLE IF NOT EXISTS conversations (id TEXT PRIMARY KEY, body TEXT NOT NULL, at REAL NOT NULL)"
        try:
            with self._open() as database:
                database.execute("PRAGMA journal_mode = WAL")
                database.execute(table)
        except sqlite3.DatabaseError as error:
            raise InvalidInput(f"{self._path[:200]!r} cannot keep conversations: {error!s:.200}") from None

    def load(self, memory_id: str) -> Conversation:
        """A conversation; an unknown one is empty.

        Raises:
            InvalidInput: what is stored is not a conversation of this version.
        """
        with self._open() as database:
            return _read(database, memory_id)

    def update(self, memory_id: str, change: Callable[[Conversation], Conversation]) -> Conversation:
        """Replace a conversation by what `change` makes of it; other writers wait.

        Raises:
            InvalidInput: what is stored is not a conversation of this version.
        """
        with self._open() as database:
            database.execute("BEGIN IMMEDIATE")
            new = change(_read(database, memory_id))
            database.execute(
                "INSERT OR REPLACE INTO conversations VALUES (?, ?, ?)", (memory_id, new.to_json(), time.time())
            )
            database.execute("COMMIT")
            return new

    def delete(self, memory_id: str) -> None:
        """Forget a conversation."""
        with self._open() as database:
            database.execute("DELETE FROM conversations WHERE id = ?", (memory_id,))

    def delete_idle(self, seconds: float) -> int:
        """Forget all conversations that were not written to for so long; gives their number."""
        with self._open() as database:
            done = database.execute("DELETE FROM conversations WHERE at <= ?", (time.time() - seconds,))
            return done.rowcount

    @contextmanager
    def _open(self) -> Generator[sqlite3.Connection]:
        database = sqlite3.connect(self._path, timeout=WAIT, isolation_level=None)
        try:
            yield database
        finally:
            database.close()


def _read(database: sqlite3.Connection, memory_id: str) -> Conversation:
    row = database.execute("SELECT body FROM conversations WHERE id = ?", (memory_id,)).fetchone()
    return Conversation.from_json(row[0]) if row else Conversation()
