"""How likely the best hit is right: a few features, one logistic curve, and bands to show.

The estimate ranks well within one catalog (is it more likely than for another request) and tells requests from
foreign subjects apart. As a percentage it does not transfer between catalogs, so only bands are shown. A sibling
of a missing tool looks as good as the tool itself; no score can see that. `calibration` fits curve and bands to one
catalog by judged requests.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from toolsearch.errors import InvalidInput
from toolsearch.protocols import Retriever, SearchResult, ToolView

Bands = tuple[tuple[float, str], ...]
BANDS: Final[Bands] = ((0.1, "none"), (0.35, "low"), (0.65, "medium"))
"""Confidence below the number has the band; above the last it is high."""
EXACT: Final = 0.98
"""Confidence in a hit that was asked for by its name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What is known of the best hit.

    Its cosine (None without vectors), the share of the request's words that it has, how many distinct terms were asked
    for, how near the request is to ones that were judged answered and unanswered, whether it is in another language
    than the tools, so that only the cosine tells, how near it is to what tools elsewhere do (None when not known), and
    the mean of the three best cosines of the view.
    """

    cosine: float | None
    coverage: float
    terms: int
    near: tuple[float, float] = (0.0, 0.0)
    foreign: bool = False
    elsewhere: float | None = None
    around: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """The curve: sigmoid(offset + cosine * best cosine + coverage * share of words met + length * ln(1 + terms)).

    Fitted to a catalog, it also has answered * likeness to answered requests + unanswered * that to unanswered ones.
    The share counts rare words for more. The first four were fitted on the development parts with another build of the
    ranking. The two of likeness were fitted on the development half of the demo's requests in other languages, with
    the encoder `multilingual`. Where it is known how near a request is to what tools elsewhere do, the `world_` numbers
    and `elsewhere` take the place of the first four, with two more: `world_around` * the mean of the best three
    cosines, and `world_mixed` * coverage * ln(1 + terms). They were fitted on the development half of the demo's slices
    by `python -m benchmarks confidence`, and are to be fitted anew with another built-in encoder. `words_offset` and
    `words_coverage` serve requests without vectors; they, and the bands, were set by hand.
    """

    offset: float = -5.24
    cosine: float = 5.86
    coverage: float = 3.901
    length: float = 0.248
    words_offset: float = -2.6
    words_coverage: float = 4.6
    likeness_offset: float = -3.77
    likeness_cosine: float = 8.14
    answered: float = 0.0
    unanswered: float = 0.0
    world_offset: float = -0.353
    world_cosine: float = 11.7
    world_coverage: float = 0.9
    world_length: float = -0.073
    world_around: float = 7.22
    world_mixed: float = 2.06
    elsewhere: float = -13.8

    def chance(
        self, cosine: float | None, coverage: float, terms: int, near: tuple[float, float] = (0.0, 0.0)
    ) -> float:
        """The chance that the best hit is right, 0 to 1."""
        length = self.length * math.log1p(terms)
        if cosine is None:
            return self._by_words(coverage, length)
        return _sigmoid(self.offset + self.cosine * cosine + self.coverage * coverage + length + self._liked(near))

    def of(self, evidence: Evidence) -> float:
        """The chance that the best hit is right, 0 to 1."""
        if evidence.foreign and evidence.cosine is not None:
            return self.likeness(evidence.cosine)
        if evidence.elsewhere is None:
            return self.chance(evidence.cosine, evidence.coverage, evidence.terms, evidence.near)
        return self._told(evidence, evidence.elsewhere)

    def _told(self, evidence: Evidence, elsewhere: float) -> float:
        """The same for a request that is so near to what tools elsewhere do."""
        coverage, said = evidence.coverage, math.log1p(evidence.terms)
        length = self.world_length * said
        if evidence.cosine is None:
            return self._by_words(coverage, length)
        offset = self.world_offset + self.elsewhere * elsewhere + self.world_around * evidence.around
        offset += self.world_mixed * coverage * said
        curve = offset + self.world_cosine * evidence.cosine + self.world_coverage * coverage + length
        return _sigmoid(curve + self._liked(evidence.near))

    def _by_words(self, coverage: float, length: float) -> float:
        return _sigmoid(self.words_offset + self.words_coverage * coverage + length)

    def _liked(self, near: tuple[float, float]) -> float:
        return self.answered * near[0] + self.unanswered * near[1]

    def likeness(self, cosine: float) -> float:
        """The same where a request and the tools are in different languages, so that only similarity tells."""
        return _sigmoid(self.likeness_offset + self.likeness_cosine * cosine)


FIT: Final = Fit()


def _sigmoid(value: float) -> float:
    return 1 / (1 + math.exp(-value))


def band(confidence: float | None, bands: Bands = BANDS) -> str:
    """What may be shown of a confidence: none, low, medium or high."""
    if confidence is None:
        return "none"
    return next((name for bound, name in bands if confidence < bound), "high")


@dataclass(frozen=True, slots=True)
class MinConfidence:
    """A retriever that answers with nothing when its confidence is below `least`.

    Raises:
        InvalidInput: `least` is not between 0 and 1.
    """

    inner: Retriever
    least: float

    def __post_init__(self) -> None:
        if not 0 <= self.least <= 1:
            raise InvalidInput(f"min_confidence is {self.least}; it must be between 0 and 1")

    def search(self, needs: Sequence[str], view: ToolView, k: int) -> SearchResult:
        """What the inner retriever finds, or nothing.

        Raises:
            InvalidInput: see Retriever.
        """
        result = self.inner.search(needs, view, k)
        if not result.hits or result.confidence is None or result.confidence >= self.least:
            return result
        note = f"nothing fits: the best of {len(result.hits)} tools is below the confidence {self.least:g}"
        return replace(result, hits=(), shortfall=k, notes=(*result.notes, note))
