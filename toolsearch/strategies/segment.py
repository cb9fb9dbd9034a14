"""An immutable stretch of a catalog as arrays: words, vectors, facets, names and ids."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from toolsearch import text
from toolsearch.engines.dense import DenseSegment, merged_dense
from toolsearch.engines.keys import Keys, merged_keys
from toolsearch.engines.lexical import LexicalSegment, merged_lexical
from toolsearch.engines.nearest import in_memory
from toolsearch.engines.postings import Postings, merged
from toolsearch.strategies.facets import facets

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from toolsearch.engines.nearest import Room
    from toolsearch.engines.postings import Arrays
    from toolsearch.protocols import Rows
    from toolsearch.tool import ToolSpec


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Segment:
    """Rows of a catalog in its order. `dense` is None without vectors."""

    lexical: LexicalSegment
    dense: DenseSegment | None
    facets: Postings
    names: Keys
    ids: Keys

    @classmethod
    def of(cls, specs: Sequence[ToolSpec], dense: DenseSegment | None = None) -> Segment:
        """A segment of tools, with the vectors that were made of them."""
        return cls(
            lexical=LexicalSegment.of(map(text.tool_terms, specs)),
            dense=dense,
            facets=Postings.of(map(facets, specs)),
            names=Keys.of(map(text.name_keys, specs)),
            ids=Keys.of([spec.id] for spec in specs),
        )

    def __len__(self) -> int:
        return len(self.lexical)

    def to_arrays(self) -> Arrays:
        """Plain arrays that hold everything but the vectors."""
        return {
            **self.lexical.to_arrays(),
            **self.facets.to_arrays("facets"),
            **self.names.to_arrays("names"),
            **self.ids.to_arrays("ids"),
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[np.generic]], dense: DenseSegment | None) -> Segment:
        """What `to_arrays` gave, with vectors.

        Raises:
            IndexDamaged: the arrays do not fit each other.
        """
        return cls(
            lexical=LexicalSegment.from_arrays(arrays),
            dense=dense,
            facets=Postings.from_arrays("facets", arrays),
            names=Keys.from_arrays("names", arrays),
            ids=Keys.from_arrays("ids", arrays),
        )


def dense_of(segments: Sequence[Segment]) -> list[DenseSegment]:
    """Vectors of all segments, marked as missing where one has none; empty when no segment has any."""
    present = [segment.dense for segment in segments if segment.dense is not None]
    if not present:
        return []
    dimension = present[0].vectors.shape[1]
    return [segment.dense or _without_vectors(len(segment), dimension) for segment in segments]


def _without_vectors(rows: int, dimension: int) -> DenseSegment:
    return DenseSegment(np.zeros((rows, dimension), np.float32), np.ones(rows, np.bool_))


def merged_segment(parts: Sequence[tuple[Segment, Rows]], rows: int, room: Room = in_memory) -> Segment:
    """One segment of `rows` rows; each part comes with the new row of each of its rows, -1 where it is dropped.

    `room` is where its vectors go.
    """
    vectors = dense_of([part for part, _ in parts])
    places = [own for _, own in parts]
    return Segment(
        lexical=merged_lexical([(part.lexical, own) for part, own in parts], rows),
        dense=merged_dense(list(zip(vectors, places, strict=True)), rows, room) if vectors else None,
        facets=merged([(part.facets, own) for part, own in parts]),
        names=merged_keys([(part.names, own) for part, own in parts]),
        ids=merged_keys([(part.ids, own) for part, own in parts]),
    )
