"""How likely the best hit is right: three features, one logistic curve, and bands to show.

The estimate ranks well within one catalog (is it more likely than for another request) and tells requests from
foreign subjects apart. As a percentage it does not transfer between catalogs, so only bands are shown. A sibling
of a missing tool looks as good as the tool itself; no score can see that.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from toolsearch.errors import InvalidInput
from toolsearch.protocols import Retriever, SearchResult, ToolView

BANDS: Final = ((0.1, "none"), (0.35, "low"), (0.65, "medium"))
"""Confidence below the number has the band; above the last it is high."""
EXACT: Final = 0.98
"""Confidence in a hit that was asked for by its name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """The curve: sigmoid(offset + cosine * best cosine + coverage * share of words met + length * ln(1 + terms)).

    The share counts rare words for more. The first four were fitted on the development parts with another build of the
    ranking. The two of likeness were fitted on the development half of the demo's requests in other languages, with
    the encoder `multilingual`. `words_offset` and `words_coverage` serve requests without vectors; they, and the
    bands, were set by hand.
    """

    offset: float = -5.24
    cosine: float = 5.86
    coverage: float = 3.901
    length: float = 0.248
    words_offset: float = -2.6
    words_coverage: float = 4.6
    likeness_offset: float = -3.77
    likeness_cosine: float = 8.14

    def chance(self, cosine: float | None, coverage: float, terms: int) -> float:
        """The chance that the best hit is right, 0 to 1."""
        length = self.length * math.log1p(terms)
        if cosine is None:
            return _sigmoid(self.words_offset + self.words_coverage * coverage + length)
        return _sigmoid(self.offset + self.cosine * cosine + self.coverage * coverage + length)

    def likeness(self, cosine: float) -> float:
        """The same where a request and the tools are in different languages, so that only similarity tells."""
        return _sigmoid(self.likeness_offset + self.likeness_cosine * cosine)


FIT: Final = Fit()


def _sigmoid(value: float) -> float:
    return 1 / (1 + math.exp(-value))


def band(confidence: float | None) -> str:
    """What may be shown of a confidence: none, low, medium or high."""
    if confidence is None:
        return "none"
    return next((name for bound, name in BANDS if confidence < bound), "high")


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
