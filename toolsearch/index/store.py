"""The truth of an index: one SQLite database of tools, generations and vectors.

A tool's body is immutable and kept once by content hash. A row says that a body is in the catalog from generation
`born` until before generation `died`; the catalog of a generation is its rows by `place`. Bodies and rows are not
rewritten, so a reader may hold a generation while others write; only places move, when a build orders them anew.
Vectors are kept by encoder and hash of the text; lines of sources that were read, by their digest.
"""

from __future__ import annotations

import json
import os
import sqlite3
import threading
import weakref
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final, NamedTuple, cast

import numpy as np

from toolsearch.errors import IndexDamaged, IndexFault, IndexMismatch
from toolsearch.index.faults import named_faults
from toolsearch.index.layout import FORMAT, Layout
from toolsearch.index.tables import SCHEMA

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from toolsearch.protocols import Floats, Mask

    Numbers = NDArray[np.int64]

WAIT: Final = 30.0
"""Seconds that a writer waits for another one."""
ROOM: Final = 16_384
"""Pages that a build keeps in memory, and writes before it cuts the journal: keys of texts fall on pages at random."""
PAGES: Final = 50_000
"""Pages of 4 kB that are given back at a time, so that nobody waits long."""

EVERY_ENTRY: Final = """
SELECT e.tool, e.row, b.hash, e.origin, e.place FROM entries e CROSS JOIN bodies b ON b.number = e.body
WHERE e.died IS NULL ORDER BY e.place"""
SOME_ENTRIES: Final = """
SELECT e.tool, e.row, b.hash, e.origin, e.place FROM json_each(?) j
CROSS JOIN entries e ON e.tool = j.value AND e.died IS NULL CROSS JOIN bodies b ON b.number = e.body
ORDER BY e.place"""


class Rows(NamedTuple):
    """Rows of the catalog in its order: their numbers, numbers of their bodies, and places; (n,) int64 each."""

    rows: Numbers
    bodies: Numbers
    places: Numbers

    def take(self, chosen: NDArray[np.int64] | Mask) -> Rows:
        """Some of the rows, by position or mask."""
        return Rows(self.rows[chosen], self.bodies[chosen], self.places[chosen])

    def then(self, other: Rows) -> Rows:
        """These rows and others behind them."""
        return Rows(*(np.concatenate(pair) for pair in zip(self, other, strict=True)))


NO_ROWS: Final = Rows(*(np.empty(0, np.int64) for _ in range(3)))


class Entry(NamedTuple):
    """What the catalog holds of one tool now."""

    row: int
    hash: str
    origin: str
    place: int


class Store:
    """One connection to the truth, safe under threads. `root` None keeps it in memory.

    Raises:
        IndexMismatch: the database was written in another format.
        IndexFault: it cannot be opened, or is damaged.
    """

    def __init__(self, root: Path | None, *, read_only: bool = False) -> None:
        self.root, self.read_only = root, read_only
        self._lock = threading.RLock()
        with self.guarded():
            self._connection = _connected(root, read_only=read_only)
            self._close = weakref.finalize(self, self._connection.close)
            if not read_only:
                self._prepare()
            self._check_format()

    def _prepare(self) -> None:
        # Only a database without tables takes this on.
        self._connection.execute("PRAGMA auto_vacuum=INCREMENTAL")
        if self._connection.execute("PRAGMA journal_mode").fetchone()[0] == "delete":
            self._connection.execute("PRAGMA journal_mode=WAL")
        self._connection.execute("PRAGMA synchronous=FULL")
        if not self._connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'lines'").fetchone():
            self._connection.executescript(SCHEMA)
            self._connection.execute("INSERT OR IGNORE INTO meta VALUES ('format', ?)", (str(FORMAT),))

    def _check_format(self) -> None:
        found = self.meta("format")
        if found != str(FORMAT):
            raise IndexMismatch(
                f"index {str(self.root)!r} has format {found!r}, this version of toolsearch reads {FORMAT}; "
                "install the version that wrote it, or build it again from its sources"
            )

    def make_room(self) -> None:
        """Work with more memory, for a build writes much at a time."""
        with self.guarded():
            self._connection.execute(f"PRAGMA cache_size={ROOM}")
            self._connection.execute(f"PRAGMA wal_autocheckpoint={ROOM}").fetchall()

    def close(self) -> None:
        """Let the database go."""
        self._close()

    @contextmanager
    def guarded(self) -> Generator[None]:
        """One thread at a time; faults named.

        Raises:
            IndexFault: the database or the disk failed, or the store is closed.
        """
        with self._lock, named_faults(self.root):
            try:
                yield
            except sqlite3.ProgrammingError as error:
                raise IndexFault(f"the index is closed ({error}); open it again") from None

    @contextmanager
    def writing(self) -> Generator[sqlite3.Connection]:
        """A transaction that is on disk, whole, when it ends, or not there at all.

        Raises:
            IndexFault: it could not be written; nothing changed.
        """
        with self.guarded():
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise

    def read(self, statement: str, values: Sequence[object] = ()) -> list[tuple[object, ...]]:
        """All rows of one statement.

        Raises:
            IndexFault: the database failed.
        """
        with self.guarded():
            return self._connection.execute(statement, values).fetchall()

    def meta(self, key: str) -> str | None:
        """One fact about the index: format, generation, encoder, encoder_name."""
        found = self.read("SELECT value FROM meta WHERE key = ?", (key,))
        return str(found[0][0]) if found else None

    @property
    def generation(self) -> int:
        """The newest generation."""
        return int(self.meta("generation") or 0)

    @property
    def arranged(self) -> int:
        """The last generation that put tools elsewhere than at the end of the catalog."""
        return int(self.meta("arranged") or 0)

    @property
    def collected(self) -> int:
        """Up to this generation rows that left the catalog are forgotten: nobody can tell any more which they were."""
        return int(self.meta("collected") or 0)

    def moved(self) -> int:
        """A number that changes when another connection has written; nearly free to ask."""
        return cast("int", self.read("PRAGMA data_version")[0][0])

    def rows(self, generation: int, *, after: int | None = None) -> Rows:
        """Rows alive in a generation; with `after` only those that are newer than that generation."""
        statement = "SELECT row, body, place FROM entries WHERE born <= ? AND (died IS NULL OR died > ?)"
        values = [generation, generation]
        if after is not None:
            statement, values = f"{statement} AND born > ?", [*values, after]
        found = np.array(self.read(f"{statement} ORDER BY place", values), np.int64).reshape(-1, 3)
        return Rows(*np.ascontiguousarray(found.T))

    def died(self, after: int, generation: int) -> Numbers:
        """Rows that left the catalog after one generation, up to and with another."""
        return np.array(
            self.read("SELECT row FROM entries WHERE died > ? AND died <= ? ORDER BY row", (after, generation)),
            np.int64,
        ).reshape(-1)

    def texts(self, bodies: Sequence[int]) -> dict[int, str]:
        """The JSON of bodies by number.

        Raises:
            IndexDamaged: one is missing.
        """
        # CROSS JOIN keeps SQLite from walking the list once for every row of the table.
        statement = "SELECT b.number, b.body FROM json_each(?) j CROSS JOIN bodies b ON b.number = j.value"
        found = {cast("int", number): str(body) for number, body in self.read(statement, (json.dumps(bodies),))}
        if len(found) < len(set(bodies)):
            raise IndexDamaged(f"{len(set(bodies)) - len(found)} tools are missing from the database of {self.root}")
        return found

    def entries(self, tools: Iterable[str] | None = None) -> dict[str, Entry]:
        """What the newest generation holds of tools, by id; None means all. In catalog order."""
        found = self.read(EVERY_ENTRY) if tools is None else self.read(SOME_ENTRIES, (json.dumps(list(tools)),))
        return {
            str(tool): Entry(cast("int", row), str(own), str(origin), cast("int", place))
            for tool, row, own, origin, place in found
        }

    def vectors(self, encoder: str, bodies: Sequence[int]) -> dict[int, Floats]:
        """Vectors of bodies by number, as far as they are there."""
        statement = (
            "SELECT b.number, v.vector FROM json_each(?) j CROSS JOIN bodies b ON b.number = j.value "
            "CROSS JOIN vectors v ON v.encoder = ? AND v.text = b.text"
        )
        found = self.read(statement, (json.dumps(bodies), encoder))
        return {cast("int", number): np.frombuffer(cast("bytes", vector), np.float32) for number, vector in found}

    def vectored(self, encoder: str, hashes: Sequence[str]) -> set[str]:
        """Those hashes of bodies that are here with the vector of their text."""
        statement = (
            "SELECT b.hash FROM json_each(?) j CROSS JOIN bodies b ON b.hash = j.value "
            "CROSS JOIN vectors v ON v.encoder = ? AND v.text = b.text"
        )
        return {str(found) for (found,) in self.read(statement, (json.dumps(hashes), encoder))}

    def encoded(self, encoder: str, texts: Sequence[str]) -> set[str]:
        """Those hashes of texts that have a vector."""
        statement = "SELECT v.text FROM json_each(?) j CROSS JOIN vectors v ON v.encoder = ? AND v.text = j.value"
        return {str(text) for (text,) in self.read(statement, (json.dumps(texts), encoder))}

    def give_back(self) -> None:
        """Return free pages at the end of a collection to the disk, at most PAGES, and cut the journal."""
        with self.guarded():
            # A plain execute would stop after one page.
            self._connection.executescript(f"PRAGMA incremental_vacuum({PAGES})")
            self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    def copy_to(self, path: Path) -> None:
        """Write a copy of the database, as of one moment; others may write meanwhile.

        Raises:
            IndexFault: the database or the disk failed.
        """
        with self.guarded():
            copy = sqlite3.connect(path)
            try:
                self._connection.backup(copy)
            finally:
                copy.close()


def _connected(root: Path | None, *, read_only: bool) -> sqlite3.Connection:
    if root is None:
        return sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None)
    path = Layout(root).truth
    target = path.resolve().as_uri() + _mode(path, read_only=read_only)
    return sqlite3.connect(target, timeout=WAIT, check_same_thread=False, isolation_level=None, uri=True)


def _mode(path: Path, *, read_only: bool) -> str:
    """A folder that cannot be written, with no journal beside the database, is read as a plain file."""
    if not read_only:
        return "?mode=rwc"
    journal = path.with_name(path.name + "-wal")
    if os.access(path.parent, os.W_OK) or (journal.exists() and journal.stat().st_size):
        return "?mode=ro"
    return "?mode=ro&immutable=1"
