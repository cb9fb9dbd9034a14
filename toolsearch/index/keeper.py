"""Keeps the newest generation searchable, and follows the truth when this or another process has changed it."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from toolsearch import text
from toolsearch.engines.nearest import EXACT
from toolsearch.engines.views import Recent
from toolsearch.errors import IndexBusy, IndexDamaged, IndexFault
from toolsearch.index import derived
from toolsearch.index.faults import named_faults
from toolsearch.index.leases import Lease, leased
from toolsearch.index.locks import BuildLock
from toolsearch.index.pieces import CACHED, Piece
from toolsearch.index.progress import Progress, silent
from toolsearch.index.room import room_in
from toolsearch.index.state import Maker, State, wordy

if TYPE_CHECKING:
    from pathlib import Path

    from toolsearch.index.layout import Layout
    from toolsearch.index.store import Store
    from toolsearch.protocols import Encoder
    from toolsearch.tool import ToolSpec

TRIES: Final = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Course:
    """On how many processors tools may be analysed, and who is told how far that is."""

    jobs: int = 1
    progress: Callable[[Progress], None] = silent


ALONE: Final = Course()


class Keeper:
    """The newest corpus of an index.

    Searches take `current`, which never waits; writers call `refresh` before they return. `watch` is a connection of
    its own that tells whether something was written; None in memory. `publish` lets it write derived files; `course`
    is how it works for a build.
    """

    def __init__(
        self,
        store: Store,
        watch: Store | None,
        layout: Layout | None,
        encoder: Encoder | None,
        *,
        publish: bool = False,
        course: Course = ALONE,
    ) -> None:
        self.notes: tuple[str, ...] = ()
        self._store, self._watch, self._layout = store, watch, layout
        self._publishes = publish
        parsed: Recent[ToolSpec] = Recent(CACHED)
        writes = layout is not None and (publish or not store.read_only)
        self._maker = Maker(
            store=store,
            encoder=encoder,
            parsed=parsed,
            jobs=course.jobs,
            room=room_in(layout.data if layout is not None and writes else None),
            progress=course.progress,
        )
        self._folder: Path | None = None
        self._lock = threading.Lock()
        self._moved = -1 if watch is None else watch.moved()
        self._state = self._opened()

    def current(self) -> State:
        """The newest generation; while another thread brings it up to date, the one before."""
        if self._watch is not None:
            moved = self._watch.moved()
            if moved != self._moved and self._lock.acquire(blocking=False):
                try:
                    self._advance()
                    self._moved = moved
                finally:
                    self._lock.release()
        return self._state

    def refresh(self) -> bool:
        """Bring the newest generation in, whoever wrote it; tells whether it has a new base, now written to disk."""
        with self._lock:
            base = self._state.base
            self._advance()
            # A base that others wrote is on disk, and with what came after it no base of this generation.
            settled = self._state.base is not base and self._state.alone
            if settled:
                self._publish_if_possible(self._state)
        return settled

    @property
    def crowded(self) -> bool:
        """Whether so much has changed that `compact` is worth its while."""
        return self._state.crowded

    @property
    def many(self) -> int:
        """So many changes are worth work that reads the whole catalog."""
        return self._state.many

    def compact(self) -> bool:
        """Make base and delta one, and write that to disk, while others search and change; tells whether it was done.

        What changes meanwhile becomes the new delta.
        """
        with self._lock:
            maker, start = self._maker, self._state
        whole = maker.whole([start.base, start.delta], start.corpus.generation)
        with self._lock:
            if self._maker is not maker or self._state.base is not start.base:
                return False
            generation, lease = leased(self._layout, self._store)
            newest = maker.later(whole, generation) if generation != whole.corpus.generation else whole
            self._state = _holding(newest, lease)
        self._publish_if_possible(whole)
        if len(whole.base) > EXACT:
            self._move_to_disk(whole)
        return True

    def _move_to_disk(self, whole: State) -> None:
        """Search the files that were just written in place of the same arrays in memory."""
        found = self._loaded() if self._publishes else None
        if found is None or found[1].generation != whole.corpus.generation:
            return
        with self._lock:
            if self._state.base is whole.base:
                generation, lease = leased(self._layout, self._store)
                self._state = _holding(self._maker.on(found[0], found[1].generation, generation), lease)

    def rebase(self, encoder: Encoder | None, *, anew: bool = False) -> None:
        """One base of the newest generation, with the vectors of this encoder, written to disk.

        What is analysed already is taken over, unless all is to be made `anew`.

        Raises:
            IndexFault: it could not be written; it is searchable all the same.
        """
        with self._lock:
            same = _name(encoder) == _name(self._maker.encoder)
            if anew or not same or not self._settled():
                pieces = [] if anew else [self._state.base, self._state.delta]
                pieces = pieces if same else [wordy(piece) for piece in pieces]
                self._maker = replace(self._maker, encoder=encoder)
                generation, lease = leased(self._layout, self._store)
                self._state = _holding(self._maker.whole(pieces, generation), lease)
            self.notes = ()
            self._publish(self._state)

    def _settled(self) -> bool:
        """Whether the base is the newest generation, whole, with every vector."""
        state, dense = self._state, self._state.base.segment.dense
        lacking = self._maker.encoder is not None and (dense is None or bool(dense.missing.any()))
        planned = dense is None or dense.nearest is not None or dense.hopeless or len(dense) <= EXACT
        return state.alone and planned and not lacking and state.corpus.generation == self._store.generation

    def _advance(self) -> None:
        if self._store.generation != self._state.corpus.generation:
            generation, lease = leased(self._layout, self._store)
            later = self._maker.later(self._state, generation)
            self._state = _holding(self._on_newer_base(generation) or later if later.crowded else later, lease)

    def _on_newer_base(self, generation: int) -> State | None:
        """The state on a base that another process has written since ours was read; None when there is none."""
        if self._layout is None or derived.newest(self._layout) == self._folder:
            return None
        found = self._loaded()
        if found is None or found[1].encoder != _name(self._maker.encoder) or found[1].generation > generation:
            return None
        return self._maker.on(found[0], found[1].generation, generation)

    def _opened(self) -> State:
        found = self._loaded()
        generation, lease = leased(self._layout, self._store)
        if found is None or found[1].generation > generation:
            self._state = _holding(self._maker.whole([], generation), lease)
            self._publish_if_possible(self._state)
            return self._state
        base, facts = found
        encoder = self._maker.encoder
        if encoder is not None and facts.encoder != encoder.id:
            base = self._maker.refilled(base)
        return _holding(self._maker.on(base, facts.generation, generation), lease)

    def _loaded(self) -> tuple[Piece, derived.Facts] | None:
        """The newest derived arrays; None when there are none that can be used."""
        for _ in range(TRIES):
            folder = None if self._layout is None else derived.newest(self._layout)
            if self._layout is None or folder is None:
                return None
            try:
                found = derived.load(folder)
            except IndexDamaged as fault:
                if derived.newest(self._layout) != folder:
                    continue
                self.notes = (f"{fault}; made again from the tools. To write them anew: {self._layout.mend}",)
                return None
            if found[1].analyser == text.ANALYSER:
                self._folder = folder
                return found
            self.notes = (
                f"the words were made by analyser {found[1].analyser!r}, this is {text.ANALYSER!r}; made again from "
                f"the tools. To write them anew: {self._layout.mend}",
            )
            return None
        return None

    def _publish_if_possible(self, state: State) -> None:
        """Write derived files that were missing, when this process may and nobody else does."""
        if self._layout is None or not self._publishes:
            return
        try:
            with named_faults(self._layout.root), BuildLock(self._layout.lock):
                self._publish(state)
        except IndexBusy:
            return
        except IndexFault as fault:
            self.notes = (*self.notes, str(fault))

    def _publish(self, state: State) -> None:
        if self._layout is None:
            return
        facts = derived.Facts(
            generation=state.corpus.generation, encoder=_name(self._maker.encoder), analyser=text.ANALYSER
        )
        with named_faults(self._layout.root):
            self._folder = derived.publish(self._layout, state.base, facts)
            derived.sweep(self._layout, self._folder)


def _name(encoder: Encoder | None) -> str | None:
    return None if encoder is None else encoder.id


def _holding(state: State, lease: Lease | None) -> State:
    """The state, whose corpus gives the lease up when nobody uses it any more."""
    if lease is not None:
        weakref.finalize(state.corpus, lease.release)
    return state
