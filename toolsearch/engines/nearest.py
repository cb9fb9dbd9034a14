"""Approximate search of many vectors: cells of one-bit codes, whose best are refined by eight-bit ones (faiss).

Trained on the catalog itself. How many cells are looked into and how many rows are refined is chosen so that at
least AIM of the exact ten best are found for a sample of requests mixed from the catalog's own vectors.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

import numpy as np

from toolsearch.engines.products import threads

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from toolsearch.engines.postings import Arrays
    from toolsearch.protocols import Floats, Mask

    Bytes = NDArray[np.uint8]
    Places = NDArray[np.int64]
    Room = Callable[[int], Bytes]

EXACT: Final = 16_384
"""Up to so many rows every row is compared: a scan of them costs less than a millisecond or two."""
CELLS_FROM: Final = 50_000
"""From so many rows on they are parted into cells; below, looking through all codes is as quick and finds more."""
LEAST: Final = 0.97
"""Recall of the exact ten best below which the approximate index is not used."""
AIM: Final = 0.985
"""Recall that is aimed at on the sample, since real requests lie farther from the tools than mixed ones."""
SAMPLE: Final = 64
POOL: Final = 50
"""Rows asked for while measuring, as a search does; the ten best of them count."""
TEN: Final = 10
PER_CELL: Final = 64
"""Vectors a cell's centre is trained on."""
PART: Final = 1 << 20
"""Bytes of an index that are written or read at a time."""


def in_memory(size: int) -> Bytes:
    """Room for so many bytes, all 0."""
    return np.zeros(size, np.uint8)


@dataclass(frozen=True, slots=True, kw_only=True)
class Means:
    """What large arrays are made with: who gives room for them, and how many threads may work, 0 for all there are."""

    room: Room = in_memory
    threads: int = 0


MEANS: Final = Means()


class Effort(NamedTuple):
    """Cells looked into, and rows refined for each row wanted."""

    probes: int
    factor: int


@dataclass(frozen=True, eq=False)
class Nearest:
    """An approximate index over the rows of one segment, and the recall that was measured when it was made."""

    index: Any
    body: Bytes
    effort: Effort
    recall: float

    @classmethod
    def trained(cls, vectors: Floats, means: Means = MEANS) -> Nearest | None:
        """An index of vectors, (rows, dimension) float32; None when none is good enough."""
        faiss = import_module("faiss")
        rows, dimension = vectors.shape
        cells = _cells(rows)
        index = faiss.index_factory(dimension, f"IVF{cells},RaBitQ,Refine(SQ8)", faiss.METRIC_INNER_PRODUCT)
        learned = min(rows, max(PER_CELL * cells, EXACT))
        with threads(faiss, means.threads):
            index.train(np.ascontiguousarray(vectors[np.arange(learned, dtype=np.int64) * rows // learned]))
        index, body = _filled(index, vectors, means)
        requests = mixed(vectors, SAMPLE)
        exact = exact_best(vectors, requests)
        for effort in _efforts(rows, cells):
            found = cls(index, body, effort, 0.0)
            recall = found.measured(vectors, requests, exact)
            if recall >= AIM or (recall >= LEAST and effort == _efforts(rows, cells)[-1]):
                return cls(index, body, effort, recall)
        return None

    def refilled(self, vectors: Floats, means: Means = MEANS) -> Nearest | None:
        """An index of other vectors with the same training and effort; None when it finds too little or cannot fit."""
        faiss = import_module("faiss")
        if vectors.shape[1] != self.index.d or self.cells != _cells(len(vectors)):
            return None
        # A copy: faiss ends the process when an index that reads a mapped file is emptied or filled.
        index = faiss.read_index(faiss.PyCallbackIOReader(_reader(self.body), PART))
        index.reset()
        found = Nearest(*_filled(index, vectors, means), self.effort, 0.0)
        requests = mixed(vectors, SAMPLE)
        recall = found.measured(vectors, requests, exact_best(vectors, requests))
        return replace(found, recall=recall) if recall >= AIM else None

    @cached_property
    def cells(self) -> int:
        """How many cells there are."""
        return int(import_module("faiss").downcast_index(self.index.base_index).nlist)

    @cached_property
    def _settings(self) -> Any:
        """How the whole is searched; nothing changes it."""
        return self._settings_of(self.effort.probes, None)

    def _settings_of(self, probes: int, selector: Any) -> Any:
        faiss = import_module("faiss")
        inner = faiss.IVFRaBitQSearchParameters(nprobe=probes, sel=selector)
        return faiss.IndexRefineSearchParameters(k_factor=self.effort.factor, base_index_params=inner)

    def find(self, query: Floats, k: int, allowed: Mask | None, share: float) -> Places:
        """About k rows near a unit vector, in no order; `share` is the part of the rows that is allowed."""
        faiss = import_module("faiss")
        settings = self._settings
        if allowed is not None:
            probes = min(self.cells, math.ceil(self.effort.probes / max(share, 1e-6)))
            bits = np.packbits(allowed, bitorder="little")
            selector = faiss.IDSelectorBitmap(bits)
            settings = self._settings_of(probes, selector)
        with one_thread(faiss):
            _, found = self.index.search(query.reshape(1, -1), k, params=settings)
        rows = cast("Places", found[0])
        # Rows outside could only come from a damaged file.
        return rows[(rows >= 0) & (rows < self.index.ntotal)]

    def measured(self, vectors: Floats, requests: Floats, exact: Places) -> float:
        """The share of the exact ten best, (requests, 10) int64, that is found."""
        hits = 0
        for request, best in zip(requests, exact, strict=True):
            rows = self.find(request, POOL, None, 1.0)
            ranked = rows[np.argsort(-(vectors[rows] @ request), kind="stable")][:TEN]
            hits += len(np.intersect1d(ranked, best))
        return hits / max(exact.size, 1)

    def to_arrays(self) -> Arrays:
        """Plain arrays that hold everything."""
        return {"nearest": self.body, "nearest_effort": np.array([*self.effort, self.recall], np.float64)}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[np.generic]], rows: int, dimension: int) -> Nearest | None:
        """What `to_arrays` gave; None when there is none.

        Raises:
            ValueError: the bytes are no index of these rows.
        """
        if "nearest" not in arrays:
            return None
        faiss, body = import_module("faiss"), cast("Bytes", arrays["nearest"])
        try:
            index = _reading(faiss, body)
        except RuntimeError as error:
            raise ValueError(f"the approximate index cannot be read ({str(error)[-120:]})") from None
        if (index.ntotal, index.d) != (rows, dimension):
            raise ValueError(f"the approximate index has {index.ntotal} rows where {rows} were written")
        probes, factor, recall = cast("list[float]", arrays["nearest_effort"].tolist())
        return cls(index, body, Effort(int(probes), int(factor)), recall)


def _filled(index: Any, vectors: Floats, means: Means) -> tuple[Any, Bytes]:
    """The index with vectors, and its bytes, which it reads: what was filled is let go."""
    faiss = import_module("faiss")
    with threads(faiss, means.threads):
        # At once: added in parts its arrays would grow by doubling.
        index.add(np.ascontiguousarray(vectors))
    body = _written(faiss, index, means.room)
    return _reading(faiss, body), body


def _written(faiss: Any, index: Any, room: Room) -> Bytes:
    """The bytes of an index: counted first, so that no second copy of them is ever in memory."""
    sizes: list[int] = []

    def count(part: bytes) -> None:
        sizes.append(len(part))

    faiss.write_index(index, faiss.PyCallbackIOWriter(count, PART))
    body, end = room(sum(sizes)), 0

    def write(part: bytes) -> None:
        nonlocal end
        body[end : end + len(part)] = np.frombuffer(part, np.uint8)
        end += len(part)

    faiss.write_index(index, faiss.PyCallbackIOWriter(write, PART))
    return body


def _reading(faiss: Any, body: Bytes) -> Any:
    """The index that reads these bytes; nothing is copied, so they must live as long as it does."""
    return faiss.read_index(faiss.ZeroCopyIOReader(faiss.swig_ptr(body), body.size))


def _reader(body: Bytes) -> Callable[[int], bytes]:
    """What gives the next bytes."""
    start = 0

    def read(size: int) -> bytes:
        nonlocal start
        start += size
        return body[start - size : start].tobytes()

    return read


def _cells(rows: int) -> int:
    return 1 if rows < CELLS_FROM else 2 ** round(math.log2(2 * math.sqrt(rows)))


def _efforts(rows: int, cells: int) -> list[Effort]:
    """Efforts from the cheapest to the dearest, by what scanning a code and refining a row cost."""
    probes = [2**power for power in range(cells.bit_length()) if 2**power <= cells]
    every = [Effort(probe, factor) for probe in probes for factor in (4, 8, 16, 32)]
    return sorted(every, key=lambda effort: 0.022 * rows * effort.probes / cells + 1.2 * POOL * effort.factor)


def mixed(vectors: Floats, count: int) -> Floats:
    """Made-up requests, (count, dimension) float32: each lies between two rows, nearer to one."""
    chosen = np.random.default_rng(0).integers(0, len(vectors), (2, count))
    found = vectors[chosen[0]] + np.float32(0.6) * vectors[chosen[1]]
    return (found / np.maximum(np.linalg.norm(found, axis=1, keepdims=True), 1e-9)).astype(np.float32)


def exact_best(vectors: Floats, requests: Floats) -> Places:
    """The exact ten best rows of each request, (requests, 10) int64."""
    scores, rows = np.empty((len(requests), 0), np.float32), np.empty((len(requests), 0), np.int64)
    for start in range(0, len(vectors), EXACT):
        part = requests @ vectors[start : start + EXACT].T
        scores = np.concatenate([scores, part], axis=1)
        places = np.tile(np.arange(start, start + part.shape[1], dtype=np.int64), (len(requests), 1))
        rows = np.concatenate([rows, places], axis=1)
        kept = np.argpartition(-scores, min(TEN, scores.shape[1] - 1), axis=1)[:, :TEN]
        scores, rows = np.take_along_axis(scores, kept, 1), np.take_along_axis(rows, kept, 1)
    return rows


def one_thread(faiss: Any) -> AbstractContextManager[None]:
    """Search on the calling thread alone: a pool of threads stalls on a busy machine."""
    return threads(faiss, 1)
