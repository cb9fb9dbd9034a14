"""Changing an index: encode what is new, write the truth, bring the searchable form up to date."""

from __future__ import annotations

import threading
from contextlib import nullcontext
from typing import TYPE_CHECKING

from toolsearch.errors import EncoderFailed, IndexFault, IndexReadOnly
from toolsearch.index import changes
from toolsearch.index.encoding import encode_missing, encode_staged
from toolsearch.index.feeds import GivenTools
from toolsearch.index.leases import oldest
from toolsearch.index.locks import WAIT, BuildLock, held
from toolsearch.index.staging import Stage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from toolsearch.index.changes import Changes, Encoded, Prepared
    from toolsearch.index.opening import Parts
    from toolsearch.index.store import Store
    from toolsearch.tool import ToolSpec


class Writer:
    """Changes one index, one change at a time; when a method returns, it is on disk and every search shows it."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._changing = threading.Lock()
        self._left = 0
        self.notes: tuple[str, ...] = ()
        self._compacting: threading.Thread | None = None

    def upsert(self, specs: Iterable[ToolSpec]) -> Changes:
        """Add tools, or change those with their ids."""
        tools = changes.prepared(specs)
        return self._change(tools, lambda store, encoded: changes.upsert(store, tools, encoded))

    def remove(self, ids: Iterable[str]) -> Changes:
        """Take tools out."""
        return self._change((), lambda store, _: changes.remove(store, ids))

    def replace(self, source: str, specs: Iterable[ToolSpec]) -> Changes:
        """Make these all the tools of a source."""
        tools = changes.prepared(specs, origin=source)
        return self._change(tools, lambda store, encoded: changes.replace(store, source, tools, encoded))

    def fill(self, specs: Iterable[ToolSpec]) -> Changes:
        """Make these the whole catalog.

        Raises:
            EncoderFailed: a tool could not be encoded.
        """
        tools = Stage(self._store(), GivenTools(specs)).filled()
        if self._parts.encoder is not None:
            encode_staged(self._store(), self._parts.encoder, tools)
        return self._change((), lambda store, _: changes.arrange(store, tools))

    def rederive(self) -> None:
        """Make the derived files anew from the truth.

        Raises:
            IndexReadOnly: the index was opened to be read.
            IndexBusy: another process is building it, or writes derived files for too long.
        """
        self._store()
        layout = self._parts.layout
        with self._changing, BuildLock(layout.lock, patience=WAIT) if layout else nullcontext():
            self._parts.keeper.rebase(self._parts.encoder, anew=True)

    def _store(self) -> Store:
        if self._parts.writer is None:
            raise IndexReadOnly(
                f"index {str(self._parts.reader.root)!r} was opened to be read only; open it with read_only=False"
            )
        return self._parts.writer

    def _change(self, tools: Sequence[Prepared], write: Callable[[Store, Encoded], Changes]) -> Changes:
        store = self._store()
        encoded = self._encode(store, tools)
        with self._changing:
            done = write(store, encoded)
            self._left += len(done.changed) + len(done.removed)
            if self._parts.keeper.refresh():
                self.collect()
            elif self._parts.keeper.crowded or self._left > self._parts.keeper.many:
                self._begin_compacting()
            elif encoded.vectors and not done:
                self._parts.keeper.rebase(self._parts.encoder)
        return done

    def _encode(self, store: Store, tools: Sequence[Prepared]) -> Encoded:
        """A failing encoder never keeps a tool out: it is found by its words until it is encoded."""
        if self._parts.encoder is None:
            return changes.NOTHING
        try:
            found = encode_missing(store, self._parts.encoder, tools)
        except EncoderFailed as error:
            self.notes = (f"tools changed lately have no vectors, since the encoder failed: {str(error)[:200]}",)
            return changes.NOTHING
        self.notes = ()
        return changes.Encoded(self._parts.encoder.id, found)

    def collect(self) -> None:
        """Give back the space of what no reader needs any more."""
        store, encoder = self._parts.writer, self._parts.encoder
        self._left = 0
        if store is not None:
            kept = oldest(self._parts.layout, store)
            changes.collect(store, kept, None if encoder is None else encoder.id, self._building)
            store.give_back()

    def settled(self) -> None:
        """Wait until nothing is compacted any more."""
        running = self._compacting
        if running is not None:
            running.join()

    def close(self) -> None:
        """Let the files go when nothing is compacted any more."""
        self.settled()
        self._parts.close()

    def _begin_compacting(self) -> None:
        """Compact on a thread of its own, once at a time."""
        if self._compacting is None or not self._compacting.is_alive():
            self._compacting = threading.Thread(target=self._compact, name="compact")
            self._compacting.start()

    def _compact(self) -> None:
        try:
            if self._parts.keeper.compact():
                self.collect()
        except IndexFault as fault:
            self.notes = (f"changes could not be compacted: {str(fault)[:200]}",)

    def _building(self) -> bool:
        return self._parts.layout is not None and held(self._parts.layout.lock)
