"""Two encoders side by side: the built-in one for English, one that reads many languages for everything.

A tool's vector holds both readings; the first is empty for a text in a language that the first encoder cannot read.
An English request asks mostly the first, any other request only the second. No model sees what it cannot read.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from toolsearch.encoders.adapted import request_id
from toolsearch.encoders.builtin import BuiltinEncoder
from toolsearch.encoders.texts import spread
from toolsearch.encoders.use import mapped
from toolsearch.language import language

if TYPE_CHECKING:
    from toolsearch.protocols import Encoder, Floats, Role

SHARE: Final = 0.25
"""Share of the second encoder in the similarity of an English request."""
EVEN: Final = 0.5**0.5


class MultilingualEncoder:
    """`first` for texts in its `languages`, `second` for all; of the extra `multilingual`.

    An inner product of a request's and a tool's vector is the weighted mean of two cosines: the parts of a tool's
    vector have length sqrt(1/2), a request's are longer by as much and hold the shares.

    Raises:
        InvalidSource: the map of the second encoder is missing or damaged.
        MissingExtra: the package with the second encoder's weights is not installed.
    """

    def __init__(self, first: BuiltinEncoder | None = None, second: Encoder | None = None) -> None:
        self._first = first or BuiltinEncoder()
        self._second = second or mapped()
        self.languages = self._first.languages
        """Languages that the first encoder reads, ISO 639-1."""

    @property
    def id(self) -> str:
        """Both encoders', and the share."""
        return self._named(self._second.id)

    @property
    def request_id(self) -> str:
        """The same, with what moves vectors of requests; see `adapted.request_id`."""
        return self._named(request_id(self._second))

    def _named(self, second: str) -> str:
        return f"multilingual:{self._first.id}+{second};share={SHARE}"

    @property
    def dimension(self) -> int:
        """Those of both together."""
        return self._first.dimension + self._second.dimension

    def knows(self, word: str) -> bool:
        """Whether a word is one of the first model's own.

        Raises:
            EncoderFailed: the model's files are missing or damaged.
        """
        return self._first.knows(word)

    def encode(self, texts: Sequence[str], role: Role) -> Floats:
        """Vectors, (len(texts), dimension) float32.

        Raises:
            EncoderFailed: a model's files are missing or damaged.
            MissingExtra: the operators that the second model needs are not installed.
        """
        import numpy as np

        own = [place for place, text in enumerate(texts) if language(text) in self.languages]
        first = spread(self._first.encode([texts[place] for place in own], role), own, len(texts))
        shares = np.ones((len(texts), 1), np.float32)
        if role == "query":
            shares[own] = SHARE
        scale = np.float32(EVEN if role == "tool" else 1 / EVEN)
        whole = np.float32(1) if role == "tool" else np.float32(1 - SHARE)
        return np.hstack([scale * whole * first, scale * shares * self._second.encode(texts, role)])

    def elsewhere(self, vector: Floats) -> float:
        """What the first encoder says of its part of a request's vector.

        Raises:
            EncoderFailed: see the first encoder.
        """
        return self._first.elsewhere(vector[: self._first.dimension] * EVEN / (1 - SHARE))

    def for_others(self, vectors: Sequence[Floats]) -> list[Floats]:
        """Requests' vectors in the first encoder's languages, as tools in other languages are to be asked."""
        width = self._first.dimension
        found = [vector.copy() for vector in vectors]
        for vector in found:
            vector[:width] = 0
            vector[width:] /= SHARE
        return found


def with_map(folder: str) -> MultilingualEncoder:
    """The same with a map that `toolsearch train map` left in a folder.

    Raises:
        InvalidSource: there is no map in the folder, or it is damaged.
        MissingExtra: the package with the second encoder's weights is not installed.
    """
    return MultilingualEncoder(second=mapped(folder))
