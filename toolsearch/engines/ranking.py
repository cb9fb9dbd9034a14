"""The k best of an array of scores, without sorting all of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from toolsearch.protocols import Ranking

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from toolsearch.protocols import Floats, Mask

BLOCK: Final = 64
_NEVER: Final = np.float32(-np.inf)


def best(scores: Floats, k: int, allowed: Mask | None = None) -> Ranking:
    """The k largest scores, best first, ties by row; rows outside `allowed` and scores of -inf never count.

    scores: (rows,) float32. A lower bound for the k-th best comes from the maxima of blocks, so that only a few
    survivors are sorted; a partition of a million scores would cost ten times as much.
    """
    if k <= 0 or not len(scores):
        return Ranking(np.empty(0, np.int32), np.empty(0, np.float32))
    kept = scores if allowed is None else np.where(allowed, scores, _NEVER)
    bound = _bound(kept, k)
    rows = (kept >= bound if bound > _NEVER else kept > _NEVER).nonzero()[0]
    found = kept[rows]
    order = (-found).argsort(kind="stable")[:k]
    return Ranking(rows[order].astype(np.int32), found[order])


def distinct(rows: NDArray[Any]) -> NDArray[Any]:
    """Each row once, ascending. Of a few hundred rows quicker than numpy's own, which makes a table of them."""
    ordered = np.sort(rows)
    return ordered[np.concatenate(([True], ordered[1:] != ordered[:-1]))] if len(ordered) else ordered


def _bound(scores: Floats, k: int) -> np.float32:
    """A value that at least k scores reach, when there are that many blocks."""
    blocks = len(scores) // BLOCK
    if blocks < k:
        if len(scores) <= max(4 * k, BLOCK):
            return _NEVER
        maxima = scores.copy()
    else:
        maxima = scores[: blocks * BLOCK].reshape(BLOCK, blocks).max(axis=0)
    maxima.partition(len(maxima) - k)
    return maxima[-k]
