"""One generation, ready to be searched: a large base, a small delta, and marks on rows that have left.

Every state is made from the one before and from what the truth says happened since; what is analysed already is
taken over. Results equal those of a fresh build, because statistics are counted over all live rows at query time.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from toolsearch.engines.nearest import in_memory
from toolsearch.index.pieces import Piece, StoredTools, Wanted, joined, planned
from toolsearch.index.progress import Progress, silent
from toolsearch.index.store import NO_ROWS
from toolsearch.strategies.corpus import MemoryCorpus

if TYPE_CHECKING:
    from collections.abc import Callable

    from toolsearch.engines.nearest import Room
    from toolsearch.engines.views import Recent
    from toolsearch.index.store import Numbers, Rows, Store
    from toolsearch.protocols import Encoder, Mask
    from toolsearch.tool import ToolSpec

SMALL: Final = 1024
"""A delta up to this size is never merged into its base."""
SHARE: Final = 16
"""Above SMALL, changes may come to one row for SHARE rows of the base; then base and delta should become one."""
HARD: Final = 4
"""So many times as many changes, and they become one before anybody goes on."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class State:
    """A generation as arrays. `live` marks rows of the base that have not left the catalog."""

    corpus: MemoryCorpus
    base: Piece
    delta: Piece
    live: Mask

    @property
    def changes(self) -> int:
        """Rows of the delta, and rows of the base that have left."""
        return len(self.delta) + int(np.count_nonzero(~self.live))

    @property
    def alone(self) -> bool:
        """Whether the base is the whole generation: nothing was added since it was made, and nothing has left."""
        return not len(self.delta) and bool(self.live.all())

    @property
    def crowded(self) -> bool:
        """Whether base and delta should become one, to be searched quickly and to give space back."""
        return self.changes > self.many

    @property
    def many(self) -> int:
        """So many changes are worth work that reads the whole catalog."""
        return max(SMALL, len(self.base) // SHARE)

    @property
    def places(self) -> Numbers:
        """The place in the truth of each row of the corpus, (n,) int64, ascending."""
        return np.concatenate([self.base.rows.places, self.delta.rows.places])


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Maker:
    """Makes states from the truth with the vectors of one encoder, None for words only, on `jobs` processors.

    Large arrays go to `room`; `progress` is told how far it is.
    """

    store: Store
    encoder: Encoder | None
    parsed: Recent[ToolSpec]
    jobs: int = 1
    room: Room = in_memory
    progress: Callable[[Progress], None] = silent

    def whole(self, pieces: list[Piece], generation: int) -> State:
        """A state of one base, taken as far as possible from what the pieces hold."""
        base = planned(self._joined(pieces, self.store.rows(generation)), self._wanted, pieces)
        return self._state(base, self.nothing(), np.ones(len(base), np.bool_), generation)

    def on(self, base: Piece, built: int, generation: int) -> State:
        """A state of a generation on a base that was made at an earlier one."""
        start = self._state(base, self.nothing(), np.ones(len(base), np.bool_), built)
        return self.later(start, generation)

    def later(self, state: State, generation: int) -> State:
        """The state of a later generation."""
        before = state.corpus.generation
        born = self.store.rows(generation, after=before)
        died = self.store.died(before, generation)
        # Asked last: what was collected in between is told too.
        if max(self.store.arranged, self.store.collected) > before:
            return self.whole([state.base, state.delta], generation)
        live = state.live & ~np.isin(state.base.rows.rows, died, assume_unique=True)
        old = state.delta.rows
        rows = old.take(~np.isin(old.rows, died, assume_unique=True)).then(born)
        changes = len(rows.rows) + int(np.count_nonzero(~live))
        if changes > HARD * max(SMALL, len(state.base) // SHARE):
            return self.whole([state.base, state.delta], generation)
        return self._state(state.base, self._joined([state.delta], rows), live, generation)

    def nothing(self) -> Piece:
        """A piece without rows."""
        return self._joined([], NO_ROWS)

    def refilled(self, base: Piece) -> Piece:
        """The base with the vectors that the truth has for this encoder, whatever it had before."""
        return planned(self._joined([wordy(base)], base.rows), self._wanted)

    def _joined(self, pieces: list[Piece], rows: Rows) -> Piece:
        return joined(self.store, pieces, rows, self._wanted)

    @property
    def _wanted(self) -> Wanted:
        encoder, dimension = (self.encoder.id, self.encoder.dimension) if self.encoder else (None, 0)
        return Wanted(encoder=encoder, dimension=dimension, jobs=self.jobs, room=self.room, progress=self.progress)

    def _state(self, base: Piece, delta: Piece, live: Mask, generation: int) -> State:
        marks = np.concatenate([live, np.ones(len(delta), np.bool_)])
        corpus = MemoryCorpus(
            [piece.segment for piece in (base, delta) if len(piece)],
            StoredTools(self.store, np.concatenate([base.rows.bodies, delta.rows.bodies]), self.parsed),
            live=None if marks.all() else marks,
            encoder=self.encoder,
            generation=generation,
        )
        return State(corpus=corpus, base=base, delta=delta, live=live)


def wordy(piece: Piece) -> Piece:
    """The piece without its vectors."""
    return Piece(replace(piece.segment, dense=None), piece.rows)
