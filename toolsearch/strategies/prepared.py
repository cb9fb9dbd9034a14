"""A request made ready to be ranked: how it and its clauses are read, their vectors, and what those tell by themselves.

Agents ask again and again for the same few things. All of this is the same for one text, view and settings, and costs
a small catalog's search as much as the ranking does; so the last ones of each corpus are kept.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, cast
from weakref import WeakKeyDictionary

import numpy as np

from toolsearch.engines.views import Recent
from toolsearch.errors import EncoderFailed
from toolsearch.language import language
from toolsearch.protocols import Corpus, Encoder, ToolView
from toolsearch.strategies.clauses import clauses
from toolsearch.strategies.corrections import Reading, read
from toolsearch.strategies.routing import understands

if TYPE_CHECKING:
    from toolsearch.protocols import Floats
    from toolsearch.strategies.settings import Settings

KEPT: Final = 512
"""Requests that are kept of a corpus."""
SHORT: Final = 400
"""Longer requests are not kept."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Prepared:
    """`readings` of the whole request, then of its clauses, with a vector for each; None where words decide alone.

    `rarity`: how much each term of the whole tells, its inverse document frequency in the view. `elsewhere`: how near
    the request is to what tools elsewhere do, None when that is not known.
    """

    readings: Sequence[Reading]
    vectors: Sequence[Floats] | None
    rarity: Mapping[str, float]
    elsewhere: float | None = None
    notes: tuple[str, ...] = ()


class _FailedError(Exception):
    """Carries what could be prepared although the encoder failed: the next time it may not."""

    def __init__(self, prepared: Prepared) -> None:
        super().__init__()
        self.prepared = prepared


def prepared(text: str, view: ToolView, settings: Settings) -> Prepared:
    """The request made ready; kept only where the encoder itself keeps the vectors of requests."""
    try:
        if len(text) > SHORT or not _keeps(view.corpus.encoder):
            return _prepared(text, view, settings)
        kept = _kept.get(view.corpus)
        if kept is None:
            kept = _kept.setdefault(view.corpus, Recent(KEPT))
        return kept.get((text, view.allowed.key, settings), lambda: _prepared(text, view, settings))
    except _FailedError as failed:
        return failed.prepared


_kept: Final = WeakKeyDictionary[Corpus, Recent[Prepared]]()


def _keeps(encoder: Encoder | None) -> bool:
    return encoder is None or bool(getattr(encoder, "keeps", False))


def _prepared(text: str, view: ToolView, settings: Settings) -> Prepared:
    readings = [read(part, view, settings) for part in (text, *clauses(text, settings.clauses, settings.clause_terms))]
    notes = list(dict.fromkeys(note for reading in readings for note in reading.notes))
    vectors, failed = None, False
    if readings[0].terms and _counts(readings[0].text, view.corpus, settings, notes):
        vectors = _vectors([reading.text for reading in readings], view.corpus, notes)
        failed = vectors is None
    found = Prepared(
        readings=readings,
        vectors=vectors,
        rarity=rarity(readings[0].terms, view),
        elsewhere=_elsewhere(readings[0].text, vectors[0], view.corpus) if vectors else None,
        notes=tuple(notes),
    )
    if failed:
        raise _FailedError(found)
    return found


def rarity(terms: Mapping[str, float], view: ToolView) -> dict[str, float]:
    """How much each term of a request tells: its inverse document frequency in the view."""
    rows, counts = view.corpus.frequencies(terms, view.allowed)
    return {term: math.log1p((rows - counts[term] + 0.5) / (counts[term] + 0.5)) for term in terms}


def _counts(text: str, corpus: Corpus, settings: Settings, notes: list[str]) -> bool:
    """Whether similarity has a say of a text."""
    encoder = corpus.encoder
    if encoder is None and settings.share(1) >= 1:
        notes.append("this index has no vectors: ranked by words")
    if settings.share(1) <= 0 or corpus.dense is None or encoder is None:
        return False
    return understands(encoder, language(text))


def _vectors(texts: list[str], corpus: Corpus, notes: list[str]) -> list[Floats] | None:
    """A vector for each text, made in one call; None where the encoder fails."""
    encoder = cast("Encoder", corpus.encoder)
    try:
        vectors = np.asarray(encoder.encode(texts, "query"), np.float32)
    except EncoderFailed as error:
        notes.append(f"ranked by words alone, for the encoder failed: {str(error)[:200]}")
        return None
    if vectors.shape != (len(texts), encoder.dimension) or not np.isfinite(vectors).all():
        notes.append(f"ranked by words alone, for the encoder gave {vectors.shape} instead of finite vectors")
        return None
    return list(vectors)


def _elsewhere(text: str, vector: Floats, corpus: Corpus) -> float | None:
    told = cast("Callable[[Floats], float] | None", getattr(corpus.encoder, "elsewhere", None))
    if told is None or language(text) not in cast("Sequence[str]", getattr(corpus.encoder, "languages", ())):
        return None
    return told(vector)
