"""A catalog made searchable: segments of arrays, which rows are alive, and where the tools themselves are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol

import numpy as np

from toolsearch import text
from toolsearch.engines.dense import DenseEngine, DenseSegment
from toolsearch.engines.lexical import LexicalEngine
from toolsearch.engines.postings import offsets
from toolsearch.engines.views import Recent, intersected, live_mask
from toolsearch.language import LANGUAGES
from toolsearch.protocols import RowSet, ToolView
from toolsearch.strategies.facets import EVERYBODY, PINNED, WRITTEN, evaluated, facet
from toolsearch.strategies.filters import parse
from toolsearch.strategies.segment import Segment, dense_of
from toolsearch.strategies.vectors import encoded
from toolsearch.tool import SearchBehavior

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from toolsearch.protocols import Corpus, Encoder, Mask, Rows
    from toolsearch.tool import ToolSpec

CALLERS: Final = 64
"""How many callers' views a corpus keeps."""
FOREIGN: Final = 4


class Tools(Protocol):
    """The tools of a corpus by row."""

    def __getitem__(self, row: int, /) -> ToolSpec:
        """The tool in a row."""
        ...


class MemoryCorpus:
    """One generation of a catalog over segments of arrays, laid end to end. Never changes; safe under threads.

    `live` marks rows that have not been removed, None when all are. The catalog's order is the order of rows: a
    tool whose definition changed has a new row at the end.
    """

    def __init__(
        self,
        segments: Sequence[Segment],
        tools: Tools,
        *,
        live: Mask | None = None,
        encoder: Encoder | None = None,
        generation: int = 0,
    ) -> None:
        self.segments = tuple(segments)
        self._spans = offsets(len(segment) for segment in segments)
        self._size = self._spans[-1][1] if self._spans else 0
        self._tools, self._live, self._generation = tools, live, generation
        vectors = dense_of(self.segments) if encoder is not None else []
        self._lexical = LexicalEngine([segment.lexical for segment in self.segments], live)
        self._dense = DenseEngine(vectors, live) if vectors else None
        self._encoder = encoder if vectors else None
        self._callers: Recent[RowSet] = Recent(CALLERS)
        self._foreign: Recent[Mask | None] = Recent(FOREIGN)

    @classmethod
    def build(cls, specs: Iterable[ToolSpec], encoder: Encoder | None = None) -> MemoryCorpus:
        """A corpus of tools in memory, encoded when there is an encoder.

        Raises:
            EncoderFailed: the tools could not be encoded.
        """
        tools = tuple(specs)
        dense = None
        if encoder is not None and tools:
            dense = DenseSegment.of(encoded([text.encoder_text(spec) for spec in tools], encoder))
        return cls([Segment.of(tools, dense)] if tools else [], tools, encoder=encoder)

    def asked_by(self, encoder: Encoder) -> MemoryCorpus:
        """The same rows, with requests read by another encoder whose vectors go with those of the tools."""
        return MemoryCorpus(self.segments, self._tools, live=self._live, encoder=encoder, generation=self._generation)

    @property
    def generation(self) -> int:
        """Grows with every change of the catalog."""
        return self._generation

    @property
    def live(self) -> Mask | None:
        """Rows that have not been removed, (rows,) bool; None when none has been."""
        return self._live

    @property
    def lexical(self) -> LexicalEngine:
        """Scores weighted terms."""
        return self._lexical

    @property
    def dense(self) -> DenseEngine | None:
        """Scores a unit vector; None without vectors."""
        return self._dense

    @property
    def encoder(self) -> Encoder | None:
        """The encoder of `dense`."""
        return self._encoder

    @property
    def unvectored(self) -> Mask | None:
        """Rows without a vector, (rows,) bool; None when all have one, or when there is no `dense`."""
        return None if self._dense is None else self._dense.missing

    def frequencies(self, terms: Iterable[str], view: RowSet) -> tuple[int, Mapping[str, int]]:
        """How many tools the view has, and how many of them have each term."""
        return self._lexical.frequencies(terms, view)

    def everyone(self) -> RowSet:
        """All live rows."""
        return RowSet("everyone", self._live)

    def visible_to(self, groups: frozenset[str]) -> RowSet:
        """Rows that a member of the groups may see: tools without groups, or sharing one."""
        known = sorted(group for group in groups if any(len(part) for _, part in self._found(facet("group", group))))
        return self._callers.get(tuple(known), lambda: self._visible(known))

    def matching(self, condition: object, view: RowSet) -> Mask:
        """Rows of the view that a filter keeps.

        Raises:
            InvalidFilter: the condition is outside the filter language.
        """
        kept = evaluated(parse(condition), self._size, self._facet)
        seen = intersected(kept, live_mask(view, self._live))
        return kept if seen is None else seen

    def named(self, key: str) -> Sequence[int]:
        """Rows whose name, title, alias or id has this key, in catalog order."""
        found = [start + int(row) for (start, _), part in self._parts() for row in part.names.find(key)]
        return [row for row in found if self._is_live(row) and key in text.name_keys(self._tools[row])]

    def pinned(self) -> Sequence[int]:
        """Rows of the tools that are always visible, in catalog order."""
        return [int(row) for row in self._facet(PINNED) if self._is_live(int(row))]

    def marked(self, mark: str, rows: Rows) -> Mask:
        """Which of given rows, ascending, have a facet, (len(rows),) bool."""
        held = np.zeros(len(rows), np.bool_)
        for start, found in self._found(mark):
            if len(found):
                own = rows - np.int32(start)
                held |= found.take(found.searchsorted(own), mode="clip") == own
        return held

    def foreign(self, languages: Sequence[str]) -> Mask | None:
        """Rows of tools that are written in none of the languages, (rows,) bool; None when there are none."""
        return self._foreign.get(tuple(languages), lambda: self._written([c for c in LANGUAGES if c not in languages]))

    def row(self, tool_id: str) -> int | None:
        """The row of a tool, None when there is none."""
        for (start, _), part in self._parts():
            for own in part.ids.find(tool_id):
                row = start + int(own)
                if self._is_live(row) and self._tools[row].id == tool_id:
                    return row
        return None

    def tool(self, row: int) -> ToolSpec:
        """The tool in a row."""
        return self._tools[row]

    def rows(self, view: RowSet) -> Rows:
        """All rows of a view in catalog order. Walks the whole catalog."""
        mask = live_mask(view, self._live)
        return np.arange(self._size, dtype=np.int32) if mask is None else np.flatnonzero(mask).astype(np.int32)

    def __len__(self) -> int:
        """How many tools there are."""
        return self._size if self._live is None else int(np.count_nonzero(self._live))

    def _parts(self) -> Iterable[tuple[tuple[int, int], Segment]]:
        return zip(self._spans, self.segments, strict=True)

    def _is_live(self, row: int) -> bool:
        return self._live is None or bool(self._live[row])

    def _found(self, term: str) -> list[tuple[int, Rows]]:
        return [(start, part.facets.find(term)[0]) for (start, _), part in self._parts()]

    def _facet(self, term: str) -> Rows:
        found = [rows + np.int32(start) for start, rows in self._found(term)]
        return np.concatenate(found).astype(np.int32) if found else np.empty(0, np.int32)

    def _written(self, languages: Sequence[str]) -> Mask | None:
        mask = np.zeros(self._size, np.bool_)
        for code in languages:
            mask[self._facet(facet(WRITTEN, code))] = True
        return mask if mask.any() else None

    def _visible(self, groups: Sequence[str]) -> RowSet:
        mask = np.zeros(self._size, np.bool_)
        mask[self._facet(EVERYBODY)] = True
        for group in groups:
            mask[self._facet(facet("group", group))] = True
        seen = mask if self._live is None else np.logical_and(mask, self._live)
        return self.everyone() if len(self) == np.count_nonzero(seen) else RowSet(("groups", *groups), seen)


def pinned(corpus: Corpus) -> Sequence[int]:
    """Rows of the tools that are always visible, in catalog order. Walks a corpus that is not one of segments."""
    if isinstance(corpus, MemoryCorpus):
        return corpus.pinned()
    rows = corpus.rows(corpus.everyone()).tolist()
    return [row for row in rows if corpus.tool(row).search is SearchBehavior.ALWAYS_VISIBLE]


def foreign(corpus: Corpus, languages: Sequence[str]) -> Mask | None:
    """Rows of tools in none of the languages, (rows,) bool; None when there are none, or nothing is known."""
    return corpus.foreign(languages) if isinstance(corpus, MemoryCorpus) else None


def marked(corpus: Corpus, mark: str, rows: Rows) -> Mask:
    """Which of given rows, ascending, have a facet, (len(rows),) bool; none where the corpus has no facets."""
    return corpus.marked(mark, rows) if isinstance(corpus, MemoryCorpus) else np.zeros(len(rows), np.bool_)


def view(
    corpus: Corpus,
    groups: Iterable[str] | None = None,
    condition: object = None,
    exclude_ids: Iterable[str] = (),
) -> ToolView:
    """What one caller can find: all tools for `groups` None, else what a member of the groups may see.

    `condition` is a filter (see `filters.parse`); it and the excluded ids only narrow the answer. Ids of tools that
    the caller may not see change nothing.

    Raises:
        InvalidFilter: the condition is outside the filter language.
    """
    allowed = corpus.everyone() if groups is None else corpus.visible_to(frozenset(groups))
    kept = None if condition is None else corpus.matching(condition, allowed)
    rows = {row for tool_id in exclude_ids if (row := corpus.row(tool_id)) is not None}
    excluded = frozenset(row for row in rows if allowed.mask is None or allowed.mask[row])
    return ToolView(corpus, allowed, kept, excluded)
