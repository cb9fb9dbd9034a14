"""The tools of a build on their way into the truth: a block at a time, so that no catalog is held whole.

Bodies come first; nobody sees them before they are listed in a generation. A line of a source that was read before
is known by its digest and is not parsed again.
"""

from __future__ import annotations

import hashlib
from itertools import islice
from typing import TYPE_CHECKING, Final

from toolsearch.catalog.jsonl import READER
from toolsearch.index import bodies
from toolsearch.index.changes import Prepared, Staged
from toolsearch.index.progress import Progress, silent
from toolsearch.tool import SPEC_VERSION

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from toolsearch.catalog.streaming import Entry
    from toolsearch.index.feeds import Feed
    from toolsearch.index.store import Store

BLOCK: Final = 2048
"""Tools that are read and written at a time."""
BLANK: Final = " \t\r\n"
"""What may stand around a JSON text."""
SALT: Final = f"{READER} {SPEC_VERSION}\n".encode()


class Stage:
    """Takes the tools of a feed into the truth.

    `anew` reads every line again and writes the hashes of the encoder's texts anew, after the analyser changed.
    """

    def __init__(self, store: Store, feed: Feed, *, anew: bool = False) -> None:
        self._store, self._feed, self._anew = store, feed, anew
        self._places: dict[str, str] = {}
        self._listed: list[Staged] = []

    def filled(self, progress: Callable[[Progress], None] = silent) -> list[Staged]:
        """All tools of the feed, whose bodies are in the truth now; they belong to no generation yet.

        Raises:
            InvalidInput: the feed refuses one.
            IndexFault: they could not be written.
        """
        entries = self._feed.entries()
        while block := list(islice(entries, BLOCK)):
            self._take(block)
            progress(Progress(stage="read", done=len(self._listed), total=0))
        progress(Progress(stage="read", done=len(self._listed), total=len(self._listed)))
        return self._listed

    def _take(self, block: Sequence[Entry]) -> None:
        digests = ["" if entry.spec else _digest(entry.line) for entry in block]
        known = {} if self._anew else bodies.lines(self._store, [digest for digest in digests if digest])
        fresh: list[tuple[Prepared, str]] = []
        for entry, digest in zip(block, digests, strict=True):
            if digest in known:
                self._list(Staged(*known[digest]), entry.where)
                continue
            spec = self._feed.read(entry)
            if spec is None:
                continue
            prepared = Prepared.of(spec, spec.source)
            if self._list(Staged(spec.id, prepared.hash, prepared.origin), entry.where):
                fresh.append((prepared, digest))
        if fresh:
            self._write(fresh)

    def _list(self, tool: Staged, where: str) -> bool:
        before = self._places.setdefault(tool.tool, where)
        if len(self._places) == len(self._listed):
            self._feed.taken(tool.tool, where, before)
            return False
        self._listed.append(tool)
        return True

    def _write(self, fresh: Sequence[tuple[Prepared, str]]) -> None:
        there: set[str] = (
            set() if self._anew else {own for _, own in bodies.lengths(self._store, [one.hash for one, _ in fresh])}
        )
        fresh_bodies = [(one.hash, one.text_hash, one.body) for one, _ in fresh if one.hash not in there]
        lines = [(digest, one.tool, one.origin, one.hash) for one, digest in fresh if digest]
        with self._store.writing() as transaction:
            transaction.executemany(
                "INSERT INTO bodies (hash, text, body) VALUES (?, ?, ?) "
                "ON CONFLICT (hash) DO UPDATE SET text = excluded.text WHERE text <> excluded.text",
                fresh_bodies,
            )
            transaction.executemany("INSERT OR REPLACE INTO lines VALUES (?, ?, ?, ?)", lines)


def _digest(line: str) -> str:
    return hashlib.blake2b(SALT + line.strip(BLANK).encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
