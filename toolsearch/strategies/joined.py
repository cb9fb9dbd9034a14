"""Several catalogs searched as one: their segments laid end to end, with the statistics of all of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from toolsearch.encoders.adapted import request_id, without
from toolsearch.engines.views import Recent
from toolsearch.errors import InvalidInput
from toolsearch.protocols import RowSet, ToolView
from toolsearch.strategies.corpus import MemoryCorpus

if TYPE_CHECKING:
    from toolsearch.protocols import Corpus, Encoder, Mask
    from toolsearch.tool import ToolSpec

KEPT: Final = 8
"""How many joined catalogs are kept."""

_joined: Final[Recent[tuple[tuple[MemoryCorpus, ...], MemoryCorpus]]] = Recent(KEPT)


class _Chained:
    """The tools of several corpora by row."""

    def __init__(self, parts: Sequence[Corpus], sizes: Sequence[int]) -> None:
        self._parts = list(zip(parts, sizes, strict=True))

    def __getitem__(self, row: int, /) -> ToolSpec:
        for corpus, size in self._parts:
            if row < size:
                return corpus.tool(row)
            row -= size
        raise IndexError(row)


def joined(views: Sequence[ToolView]) -> ToolView:
    """One view of all these views' tools, in their order. Ids must differ between them.

    An adaptation of requests is used when all have the same one, and otherwise none is.

    Raises:
        InvalidInput: there is no view, or one is over a corpus that has no segments.
    """
    if not views:
        raise InvalidInput("there is nothing to join")
    if len(views) == 1:
        return views[0]
    parts = tuple(_segmented(view.corpus) for view in views)
    key = tuple(id(part) for part in parts)
    _, corpus = _joined.get(key, lambda: (parts, _corpus(parts)))
    sizes = [_rows(part) for part in parts]
    starts = [sum(sizes[:place]) for place in range(len(sizes))]
    masks = [
        view.allowed.mask if view.allowed.mask is not None else part.live
        for view, part in zip(views, parts, strict=True)
    ]
    excluded = frozenset(start + row for start, view in zip(starts, views, strict=True) for row in view.excluded)
    allowed = RowSet(("joined", *(view.allowed.key for view in views)), _concatenated(masks, sizes))
    return ToolView(corpus, allowed, _concatenated([view.kept for view in views], sizes), excluded)


def _segmented(corpus: Corpus) -> MemoryCorpus:
    if not isinstance(corpus, MemoryCorpus):
        raise InvalidInput(f"catalogs of {type(corpus).__name__!r} cannot be searched together with others")
    return corpus


def _rows(corpus: MemoryCorpus) -> int:
    return sum(len(segment) for segment in corpus.segments)


def _corpus(parts: Sequence[MemoryCorpus]) -> MemoryCorpus:
    sizes = [_rows(part) for part in parts]
    return MemoryCorpus(
        [segment for part in parts for segment in part.segments],
        _Chained(parts, sizes),
        live=_concatenated([part.live for part in parts], sizes),
        encoder=_shared([part.encoder for part in parts if part.encoder is not None]),
        generation=sum(part.generation for part in parts),
    )


def _shared(encoders: Sequence[Encoder]) -> Encoder | None:
    """The encoder of all; without its adaptation where they differ in that only."""
    if not encoders or len({one.id for one in encoders}) > 1:
        return None
    return encoders[0] if len({request_id(one) for one in encoders}) == 1 else without(encoders[0])


def _concatenated(masks: Sequence[Mask | None], sizes: Sequence[int]) -> Mask | None:
    """One mask of all; None when none of them leaves anything out."""
    if all(mask is None for mask in masks):
        return None
    filled = [np.ones(size, np.bool_) if mask is None else mask for mask, size in zip(masks, sizes, strict=True)]
    return np.concatenate(filled)
