"""Terms and the rows they occur in, as flat arrays: compressed sparse columns with sorted terms.

One structure serves words (with weighted frequencies) and facets such as groups or tags (all weights 1). It is
never changed: segments are merged into a new one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Final, cast

import numpy as np

from toolsearch.engines.terms import Terms, columns
from toolsearch.errors import IndexDamaged

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from toolsearch.protocols import Floats, Rows

    Bounds = NDArray[np.int64]
    Arrays = dict[str, NDArray[np.generic]]


@dataclass(frozen=True, slots=True, eq=False)
class Postings:
    """Column `columns[term]` spans `bounds[column]:bounds[column + 1]` of `rows` and `weights`.

    columns: terms in sorted order -> position. bounds: (terms + 1,) int64. rows: (n,) int32, ascending within a
    column. weights: (n,) float32.
    """

    columns: Mapping[str, int]
    bounds: Bounds
    rows: Rows
    weights: Floats

    @classmethod
    def of(cls, documents: Iterable[Mapping[str, float]]) -> Postings:
        """Postings of documents in row order, each a mapping of term to weight."""
        numbers: dict[str, int] = {}
        terms: list[int] = []
        weights: list[float] = []
        lengths: list[int] = []
        for document in documents:
            terms += [numbers.setdefault(term, len(numbers)) for term in document]
            weights += document.values()
            lengths.append(len(document))
        rows = np.repeat(np.arange(len(lengths), dtype=np.int32), lengths)
        return _assembled(numbers, np.array(terms, np.int64), rows, np.array(weights, np.float32))

    def find(self, term: str) -> tuple[Rows, Floats]:
        """Rows of a term and its weights there; empty when the term is unknown."""
        column = self.columns.get(term)
        if column is None:
            return self.rows[:0], self.weights[:0]
        span = slice(int(self.bounds[column]), int(self.bounds[column + 1]))
        return self.rows[span], self.weights[span]

    def packed(self) -> Postings:
        """The same with its terms as one text: slower to ask, and much smaller than a dict."""
        return replace(self, columns=Terms("".join(self.columns), self._ends()))

    def _ends(self) -> Bounds:
        return np.cumsum([len(term) for term in self.columns], dtype=np.int64)

    def to_arrays(self, prefix: str) -> Arrays:
        """Plain arrays that hold everything, under names that begin with the prefix."""
        text = "".join(self.columns).encode("utf-8", "surrogatepass")
        return {
            f"{prefix}_terms": np.frombuffer(text, np.uint8),
            f"{prefix}_ends": self._ends(),
            f"{prefix}_bounds": self.bounds,
            f"{prefix}_rows": self.rows,
            f"{prefix}_weights": self.weights,
        }

    @classmethod
    def from_arrays(cls, prefix: str, arrays: Mapping[str, NDArray[np.generic]]) -> Postings:
        """What `to_arrays` gave.

        Raises:
            IndexDamaged: the arrays do not fit each other.
        """
        bounds = cast("Bounds", arrays[f"{prefix}_bounds"])
        rows = cast("Rows", arrays[f"{prefix}_rows"])
        weights = cast("Floats", arrays[f"{prefix}_weights"])
        text = arrays[f"{prefix}_terms"].tobytes().decode("utf-8", "surrogatepass")
        terms = columns(text, cast("Bounds", arrays[f"{prefix}_ends"]))
        if len(terms) + 1 != len(bounds) or len(rows) != len(weights) or int(bounds[-1]) != len(rows):
            raise IndexDamaged(f"the {prefix} arrays do not fit each other; rebuild with: toolsearch index build PATH")
        return cls(terms, bounds, rows, weights)


def merged(parts: Sequence[tuple[Postings, Rows]]) -> Postings:
    """One posting list of several; each part comes with the new row of each of its rows, -1 where it is dropped."""
    if not parts:
        return Postings.of(())
    numbers: dict[str, int] = {}
    columns = [
        np.array([numbers.setdefault(term, len(numbers)) for term in part.columns], np.int64) for part, _ in parts
    ]
    filled = [places for _, places in parts if len(places)]
    if all(_follows(first, second) for first, second in pairwise([_NOWHERE, *filled])):
        return _laid_out(numbers, parts, columns)
    terms: list[NDArray[np.int64]] = []
    rows: list[Rows] = []
    weights: list[Floats] = []
    for (part, places), renumbered in zip(parts, columns, strict=True):
        moved = places[part.rows]
        kept = moved >= 0
        terms.append(np.repeat(renumbered, np.diff(part.bounds))[kept])
        rows.append(moved[kept])
        weights.append(part.weights[kept])
    return _assembled(numbers, np.concatenate(terms), np.concatenate(rows), np.concatenate(weights))


_NOWHERE: Final = np.array([-1], np.int32)


def _follows(before: Rows, places: Rows) -> bool:
    """Whether places ascend, none is dropped, and all come after those before."""
    return int(places[0]) > int(before[-1]) and bool((np.diff(places) > 0).all())


def _laid_out(
    numbers: Mapping[str, int], parts: Sequence[tuple[Postings, Rows]], columns: Sequence[Bounds]
) -> Postings:
    """Parts one after another: nothing has to be sorted but the terms."""
    counts = np.zeros(len(numbers), np.int64)
    for (part, _), own in zip(parts, columns, strict=True):
        counts[own] += np.diff(part.bounds)
    ordered = sorted(term for term, number in numbers.items() if counts[number])
    places = np.array([numbers[term] for term in ordered], np.int64)
    bounds = np.concatenate(([0], np.cumsum(counts[places]))).astype(np.int64)
    free = np.zeros(len(numbers), np.int64)
    free[places] = bounds[:-1]
    rows, weights = np.empty(int(bounds[-1]), np.int32), np.empty(int(bounds[-1]), np.float32)
    for (part, moved), own in zip(parts, columns, strict=True):
        sizes = np.diff(part.bounds)
        spots = np.repeat(free[own] - part.bounds[:-1], sizes) + np.arange(len(part.rows), dtype=np.int64)
        rows[spots], weights[spots] = moved[part.rows], part.weights
        free[own] += sizes
    return Postings({term: position for position, term in enumerate(ordered)}, bounds, rows, weights)


def _assembled(numbers: Mapping[str, int], terms: NDArray[np.int64], rows: Rows, weights: Floats) -> Postings:
    """Columns in sorted order of terms, rows ascending within each; terms that occur nowhere are left out."""
    counts = np.bincount(terms, minlength=len(numbers))
    ordered = sorted(term for term, number in numbers.items() if counts[number])
    column = np.empty(len(numbers), np.int64)
    column[[numbers[term] for term in ordered]] = np.arange(len(ordered))
    place = column[terms] if len(terms) else terms
    # One key, sorted stably: what is in order already, such as the base of a merge, costs one pass.
    order = np.argsort(place * np.int64(int(rows.max(initial=0)) + 1) + rows, kind="stable")
    sizes = np.bincount(place, minlength=len(ordered))
    bounds = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
    columns = {term: position for position, term in enumerate(ordered)}
    return Postings(columns, bounds, rows[order].astype(np.int32), weights[order])


def offsets(sizes: Iterable[int]) -> list[tuple[int, int]]:
    """Start and end of consecutive spans of these sizes."""
    ends = [0]
    for size in sizes:
        ends.append(ends[-1] + size)
    return list(pairwise(ends))
