"""The service's own file: keys, sessions, limits, sources, jobs and usage, in one SQLite database of all workers."""

from __future__ import annotations

import secrets
import sqlite3
import threading
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from toolsearch.errors import InvalidInput

if TYPE_CHECKING:
    from pathlib import Path

WAIT: Final = 10.0
"""Seconds that a writer waits for another one."""
FORMAT: Final = 1
SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS keys (
    id TEXT PRIMARY KEY, name TEXT NOT NULL, digest BLOB NOT NULL, role TEXT NOT NULL, groups TEXT,
    created REAL NOT NULL, expires REAL, revoked REAL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS rates (key TEXT PRIMARY KEY, free REAL NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS sessions (
    id TEXT PRIMARY KEY, key TEXT NOT NULL, name TEXT NOT NULL, expires REAL NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS found (
    session TEXT NOT NULL, place INTEGER NOT NULL, tool TEXT NOT NULL, PRIMARY KEY (session, tool)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS replies (
    key TEXT NOT NULL, token TEXT NOT NULL, digest TEXT NOT NULL, status INTEGER, body BLOB, at REAL NOT NULL,
    PRIMARY KEY (key, token)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS written (name TEXT NOT NULL, tool TEXT NOT NULL, PRIMARY KEY (name, tool)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS sources (
    name TEXT NOT NULL, source TEXT NOT NULL, body TEXT NOT NULL, state TEXT NOT NULL, tools INTEGER NOT NULL,
    synced REAL, error TEXT NOT NULL, PRIMARY KEY (name, source)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS held (
    name TEXT NOT NULL, source TEXT NOT NULL, tool TEXT NOT NULL, body TEXT NOT NULL,
    PRIMARY KEY (name, source, tool)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS jobs (
    id TEXT PRIMARY KEY, name TEXT NOT NULL, state TEXT NOT NULL, stage TEXT NOT NULL, done INTEGER NOT NULL,
    total INTEGER NOT NULL, error TEXT NOT NULL, touched REAL NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS usage (
    id TEXT PRIMARY KEY, at REAL NOT NULL, key TEXT NOT NULL, name TEXT NOT NULL, query TEXT NOT NULL,
    plain INTEGER NOT NULL, hits TEXT NOT NULL) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS used_at ON usage (at);
CREATE TABLE IF NOT EXISTS calls (
    search TEXT NOT NULL, tool TEXT NOT NULL, at REAL NOT NULL, PRIMARY KEY (search, tool)) WITHOUT ROWID;
"""


class StateFile:
    """One connection to the file, safe under threads; every worker has its own.

    Raises:
        InvalidInput: the file cannot be made or read, or another version wrote it.
    """

    def __init__(self, path: Path) -> None:
        self._lock = threading.RLock()
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._connection = sqlite3.connect(path, timeout=WAIT, check_same_thread=False, isolation_level=None)
            path.chmod(0o600)
            self._connection.execute("PRAGMA journal_mode=WAL")
            self._connection.execute("PRAGMA synchronous=NORMAL")
            self._connection.executescript(SCHEMA)
        except (OSError, sqlite3.Error) as error:
            raise InvalidInput(f"the service's file {str(path)!r} cannot be used ({error}); set state = ...") from None
        self._check_format(path)
        self.secret: Final = bytes.fromhex(self._first_time("secret", secrets.token_hex(32)))
        """Shared by all workers of this file."""

    def read(self, statement: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        """All rows of one statement; one that writes is on its own a transaction."""
        with self._lock:
            return self._connection.execute(statement, values).fetchall()

    @contextmanager
    def writing(self) -> Generator[sqlite3.Connection]:
        """A transaction that happens as a whole or not at all."""
        with self._lock:
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
                self._connection.execute("COMMIT")
            except BaseException:
                self._connection.execute("ROLLBACK")
                raise

    def moved(self) -> int:
        """A number that changes when another connection has written."""
        return int(self.read("PRAGMA data_version")[0][0])

    def reloads(self, index: str) -> int:
        """How often an index was asked to be opened anew."""
        found = self.read("SELECT value FROM meta WHERE key = ?", (f"reload {index}",))
        return int(found[0][0]) if found else 0

    def ask_reload(self, index: str) -> int:
        """Ask all workers to open an index anew; gives how often that was asked."""
        statement = "INSERT INTO meta VALUES (?, '1') ON CONFLICT (key) DO UPDATE SET value = value + 1 RETURNING value"
        return int(self.read(statement, (f"reload {index}",))[0][0])

    def close(self) -> None:
        """Let the file go."""
        with self._lock:
            self._connection.close()

    def _check_format(self, path: Path) -> None:
        found = self._first_time("format", str(FORMAT))
        if found != str(FORMAT):
            raise InvalidInput(f"the service's file {str(path)!r} has format {found[:20]!r}, this version has {FORMAT}")

    def _first_time(self, key: str, value: str) -> str:
        """The value of a fact, which is written down by whoever comes first."""
        self.read("INSERT OR IGNORE INTO meta VALUES (?, ?)", (key, value))
        return str(self.read("SELECT value FROM meta WHERE key = ?", (key,))[0][0])
