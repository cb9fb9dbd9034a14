"""Exact lookup of texts such as names and ids in sorted arrays: small on disk, nothing to load."""

from __future__ import annotations

import hashlib
from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from toolsearch.engines.postings import Arrays
    from toolsearch.protocols import Rows

    Hashes = NDArray[np.uint64]


@dataclass(frozen=True, slots=True, eq=False)
class Keys:
    """hashes: (n,) uint64 ascending; rows: (n,) int32, the row that has the key, ascending within a hash."""

    hashes: Hashes
    rows: Rows

    @classmethod
    def of(cls, keys: Iterable[Iterable[str]]) -> Keys:
        """A table of the keys of each row, in row order."""
        pairs = [(_hash(key), row) for row, own in enumerate(keys) for key in dict.fromkeys(own)]
        return _ordered(np.array([p[0] for p in pairs], np.uint64), np.array([p[1] for p in pairs], np.int32))

    def find(self, key: str) -> Rows:
        """Rows that have the key, ascending. Another key may share its hash: the caller looks at the rows."""
        # A view of memory gives plain integers: quicker to halve for one key than the array itself.
        wanted, hashes = _hash(key), self.hashes.data
        start = bisect_left(hashes, wanted)
        return self.rows[start : bisect_right(hashes, wanted, start)]

    def to_arrays(self, prefix: str) -> Arrays:
        """Plain arrays that hold everything, under names that begin with the prefix."""
        return {f"{prefix}_hashes": self.hashes, f"{prefix}_rows": self.rows}

    @classmethod
    def from_arrays(cls, prefix: str, arrays: Mapping[str, NDArray[np.generic]]) -> Keys:
        """What `to_arrays` gave."""
        return cls(cast("Hashes", arrays[f"{prefix}_hashes"]), cast("Rows", arrays[f"{prefix}_rows"]))


def merged_keys(parts: Sequence[tuple[Keys, Rows]]) -> Keys:
    """One table of several; each part comes with the new row of each of its rows, -1 where it is dropped."""
    hashes = [np.empty(0, np.uint64), *(part.hashes[places[part.rows] >= 0] for part, places in parts)]
    rows = [np.empty(0, np.int32), *(places[part.rows][places[part.rows] >= 0] for part, places in parts)]
    return _ordered(np.concatenate(hashes), np.concatenate(rows))


def _ordered(hashes: Hashes, rows: Rows) -> Keys:
    order = np.lexsort((rows, hashes))
    return Keys(hashes[order], rows[order])


def _hash(key: str) -> int:
    return int.from_bytes(hashlib.blake2b(key.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")
