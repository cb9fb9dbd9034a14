"""Requests that were judged before: is a new one like those that the catalog answers, or like those it does not?"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from toolsearch.errors import InvalidSource
from toolsearch.products import products

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from toolsearch.protocols import Floats

    Bytes = NDArray[np.int8]

FAR: Final = (0.0, 0.0)
"""The nearness of a request when no judged ones are known."""
MOST: Final = 256
"""Requests of each kind that are kept, evenly picked."""
ANSWERED: Final = 3
UNANSWERED: Final = 5
"""How many of the nearest requests of each kind count."""


@dataclass(frozen=True, slots=True, eq=False)
class Likeness:
    """Vectors of judged requests, (n, dimension) int8, 127 for 1: those with a right tool, and those without."""

    answered: Bytes
    unanswered: Bytes

    @classmethod
    def of(cls, vectors: Floats, answerable: Sequence[bool]) -> Likeness:
        """Judged requests by their unit vectors, (n, dimension) float32."""
        known = np.array(answerable, bool)
        return cls(_kept(vectors[known]), _kept(vectors[~known]))

    def near(self, vector: Floats, *, left_out: bool = False) -> tuple[float, float]:
        """Mean cosine to the nearest answered and to the nearest unanswered requests; 0 where there is none.

        With `left_out` the very nearest does not count, for it is the request itself.
        """
        return _mean(self.answered, vector, ANSWERED, left_out), _mean(self.unanswered, vector, UNANSWERED, left_out)

    def to_json(self) -> dict[str, Any]:
        """As a JSON object; the vectors are base64."""
        return {
            "dimension": int(self.answered.shape[1]),
            "answered": base64.b64encode(self.answered.tobytes()).decode(),
            "unanswered": base64.b64encode(self.unanswered.tobytes()).decode(),
        }

    @classmethod
    def from_json(cls, body: Mapping[str, Any]) -> Likeness:
        """What `to_json` gave.

        Raises:
            InvalidSource: it is something else.
        """
        try:
            width = int(body["dimension"])
            parts = [np.frombuffer(base64.b64decode(body[name], validate=True), np.int8) for name in _NAMES]
            return cls(*(part.reshape(-1, width) for part in parts))
        except (KeyError, TypeError, ValueError, binascii.Error) as error:
            raise InvalidSource(f"the judged requests of a calibration cannot be read: {error!s:.100}") from None


_NAMES: Final = ("answered", "unanswered")


def _kept(vectors: Floats) -> Bytes:
    step = np.linspace(0, max(0, len(vectors) - 1), min(MOST, len(vectors))).astype(int)
    return np.rint(127 * np.clip(vectors[step], -1, 1)).astype(np.int8)


def _mean(kept: Bytes, vector: Floats, most: int, left_out: bool) -> float:
    if not len(kept):
        return 0.0
    near = -np.sort(-products(kept.astype(np.float32), vector) / 127)
    return float(np.mean(near[1:][:most] if left_out and len(near) > 1 and near[0] > 0.97 else near[:most]))
