"""Small catalogs for tests of the index."""

from __future__ import annotations

from toolsearch.index.tool_index import ToolIndex
from toolsearch.text import request_terms
from toolsearch.tool import ToolSpec

WORDS = ("invoice", "letter", "garden", "engine", "bridge", "candle", "forest", "planet", "violin", "harbour")


def tool(number: int, words: str = "", **fields: object) -> ToolSpec:
    """A tool whose words follow from its number."""
    own = words or f"{WORDS[number % 10]} {WORDS[number * 7 % 10]} {WORDS[number * 3 % 9]}"
    return ToolSpec(name=f"tool_{number}", description=own, **fields)  # type: ignore[arg-type]


def catalog(count: int, start: int = 0) -> list[ToolSpec]:
    """That many tools."""
    return [tool(number) for number in range(start, start + count)]


def ids(index: ToolIndex) -> list[str]:
    """All ids in catalog order."""
    return [spec.id for spec in index.view()]


def by_words(index: ToolIndex, request: str, k: int = 10) -> list[tuple[str, float]]:
    """Ids and scores that word matching finds."""
    view = index.view()
    found = view.corpus.lexical.score(request_terms(request), view.allowed).top(k)
    return [(view.corpus.tool(int(row)).id, float(score)) for row, score in zip(found.rows, found.scores, strict=True)]


def by_vectors(index: ToolIndex, request: str, k: int = 10) -> list[tuple[str, float]]:
    """Ids and scores that similarity finds."""
    view = index.view()
    encoder, dense = view.corpus.encoder, view.corpus.dense
    assert encoder is not None
    assert dense is not None
    found = dense.score(encoder.encode([request], "query")[0], view.allowed).top(k)
    return [(view.corpus.tool(int(row)).id, float(score)) for row, score in zip(found.rows, found.scores, strict=True)]
