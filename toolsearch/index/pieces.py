"""Arrays made from the truth: stretches of the catalog, each knowing which rows it covers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from toolsearch.engines.dense import DenseSegment, empty_vectors
from toolsearch.engines.nearest import EXACT, Means, in_memory
from toolsearch.errors import IndexDamaged, InvalidTool
from toolsearch.index.analysis import segments
from toolsearch.index.progress import Progress, silent
from toolsearch.strategies.segment import Segment, dense_of, merged_segment
from toolsearch.tool import ToolSpec

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from toolsearch.engines.nearest import Room
    from toolsearch.engines.views import Recent
    from toolsearch.index.store import Numbers, Rows, Store
    from toolsearch.protocols import Floats, Mask

BLOCK: Final = 16_384
"""Tools that are parsed and analysed at a time: what a build holds in memory beside its arrays."""
CACHED: Final = 4096
"""Tools kept parsed by an index in a folder."""


@dataclass(frozen=True, slots=True, eq=False)
class Piece:
    """A segment and the rows of the truth that it holds, in order."""

    segment: Segment
    rows: Rows

    def __len__(self) -> int:
        return len(self.rows.rows)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What pieces are made with: the encoder whose vectors they get, None for none, and how many processors.

    `room` is where large arrays go; `progress` is told how far it is.
    """

    encoder: str | None = None
    dimension: int = 0
    jobs: int = 1
    room: Room = in_memory
    progress: Callable[[Progress], None] = silent

    def told(self, stage: str, done: int, total: int) -> None:
        """Tell how far a stage of a build is."""
        self.progress(Progress(stage=stage, done=done, total=total))


class StoredTools:
    """The tools of a corpus, read from the truth when they are wanted; parsed ones are kept for a while."""

    def __init__(self, store: Store, bodies: Numbers, parsed: Recent[ToolSpec]) -> None:
        self._store, self._bodies, self._parsed = store, bodies, parsed

    def __getitem__(self, row: int) -> ToolSpec:
        number = int(self._bodies[row])
        return self._parsed.get(number, lambda: parsed_body(number, self._store.texts([number])[number]))


def parsed_body(number: int, body: str) -> ToolSpec:
    """The tool of a body in the truth.

    Raises:
        IndexDamaged: it has changed since it was written.
    """
    try:
        return ToolSpec.from_json(body)
    except InvalidTool as error:
        raise IndexDamaged(
            f"tool body {number} in the database is damaged ({str(error)[:120]}); put back a copy with: toolsearch "
            "index restore, or delete the data folder and build it again from its sources"
        ) from None


def made(store: Store, rows: Rows, wanted: Wanted) -> Piece:
    """A piece of rows, analysed anew, BLOCK tools at a time; vectors come from the truth as far as they are there."""
    if len(rows.rows) <= BLOCK:
        segment = Segment.of([parsed_body(number, body) for number, body in _bodies(store, rows, 0)])
        return Piece(_with_vectors(store, segment, rows, wanted), rows)
    starts = range(0, len(rows.rows), BLOCK)
    blocks = ([body for _, body in _bodies(store, rows, start)] for start in starts)
    parts: list[tuple[Segment, NDArray[np.int32]]] = []
    try:
        for start, segment in zip(starts, segments(blocks, wanted.jobs), strict=True):
            parts.append((_packed(segment), np.arange(start, start + len(segment), dtype=np.int32)))
            wanted.told("analyse", start + len(segment), len(rows.rows))
    except InvalidTool:
        for number, body in _bodies(store, rows, len(parts) * BLOCK):
            parsed_body(number, body)
        raise
    segment = merged_segment(parts, len(rows.rows))
    del parts
    return Piece(_with_vectors(store, segment, rows, wanted), rows)


def _packed(segment: Segment) -> Segment:
    """The same without dicts, for a while in which nobody searches it."""
    words, marks = segment.lexical.postings.packed(), segment.facets.packed()
    return replace(segment, lexical=replace(segment.lexical, postings=words), facets=marks)


def _bodies(store: Store, rows: Rows, start: int) -> list[tuple[int, str]]:
    """Number and JSON of the tools of a block."""
    numbers: list[int] = rows.bodies[start : start + BLOCK].tolist()
    texts = store.texts(numbers)
    return [(number, texts[number]) for number in numbers]


def joined(store: Store, pieces: Sequence[Piece], rows: Rows, wanted: Wanted) -> Piece:
    """One piece of the given rows; what the pieces have analysed already is taken from them."""
    order = np.argsort(rows.bodies, kind="stable")
    free = np.ones(len(order), np.bool_)
    parts = [(piece.segment, _places(piece, rows.bodies, order, free)) for piece in pieces]
    rest = np.flatnonzero(free)
    if len(rest):
        fresh = made(store, rows.take(rest), wanted)
        if len(rest) == len(order):
            return fresh
        parts.append((fresh.segment, rest.astype(np.int32)))
    return Piece(_with_vectors(store, merged_segment(parts, len(order), wanted.room), rows, wanted), rows)


def planned(piece: Piece, wanted: Wanted, before: Sequence[Piece] = ()) -> Piece:
    """The piece, ready for approximate search when it is large; what was trained `before` is used again if it fits."""
    trained = (one.segment.dense.nearest for one in before if one.segment.dense is not None)
    like = next((one for one in trained if one is not None), None)
    old = piece.segment.dense
    if old is not None and len(old) > EXACT:
        wanted.told("train", 0, 1)
    dense = None if old is None else old.planned(like, Means(room=wanted.room, threads=wanted.jobs))
    return piece if dense is old else Piece(replace(piece.segment, dense=dense), piece.rows)


def _places(piece: Piece, wanted: Numbers, order: Numbers, free: np.ndarray) -> np.ndarray:
    """For each row of the piece its place among the wanted bodies, -1 without; places taken are no longer free."""
    places = np.full(len(piece), -1, np.int32)
    if not len(wanted):
        return places
    spots = np.minimum(np.searchsorted(wanted, piece.rows.bodies, sorter=order), len(order) - 1)
    found = order[spots]
    fits = (wanted[found] == piece.rows.bodies) & free[found]
    _, first = np.unique(found[fits], return_index=True)
    chosen = np.flatnonzero(fits)[first]
    places[chosen] = found[chosen]
    free[found[chosen]] = False
    return places


def _with_vectors(store: Store, segment: Segment, rows: Rows, wanted: Wanted) -> Segment:
    """The segment with a vector for every row that has one in the truth; without any when there is no encoder."""
    if wanted.encoder is None:
        return replace(segment, dense=None)
    old = dense_of([segment])
    if old and not old[0].missing.any():
        return replace(segment, dense=old[0])
    vectors = empty_vectors(len(rows.rows), wanted.dimension, wanted.room)
    if old:
        vectors[:] = old[0].vectors
    missing = old[0].missing.copy() if old else np.ones(len(rows.rows), np.bool_)
    filled = _fill(store, vectors, missing, rows, wanted.encoder)
    return replace(segment, dense=DenseSegment(vectors, missing) if filled or not old else old[0])


def _fill(store: Store, vectors: Floats, missing: Mask, rows: Rows, encoder: str) -> int:
    """Put vectors of the truth, BLOCK at a time, where they are missing; gives how many there were."""
    lacking = np.flatnonzero(missing)
    for start in range(0, len(lacking), BLOCK):
        places = lacking[start : start + BLOCK]
        found = store.vectors(encoder, rows.bodies[places].tolist())
        known = (
            (place, found.get(body)) for place, body in zip(places.tolist(), rows.bodies[places].tolist(), strict=True)
        )
        for place, vector in known:
            if vector is not None and len(vector) == vectors.shape[1] and np.isfinite(vector).all():
                vectors[place], missing[place] = vector, False
    return len(lacking) - int(np.count_nonzero(missing))
