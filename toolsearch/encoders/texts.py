"""What of a text reaches a model, and what leaves one as a vector."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from toolsearch.errors import EncoderFailed

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from toolsearch.protocols import Floats


def readable(text: str, longest: int) -> str:
    """The first `longest` characters; what is no Unicode (lone surrogates) becomes a question mark."""
    return text[:longest].encode("utf-8", "replace").decode("utf-8")


def spoken(texts: Sequence[str]) -> list[int]:
    """Positions of the texts that are not blank. The others have the zero vector and are shown to no model."""
    return [position for position, text in enumerate(texts) if text.strip()]


def unit(vectors: NDArray[np.floating], who: str) -> Floats:
    """The rows at unit length, (rows, dimension) float32; zero rows stay zero.

    Raises:
        EncoderFailed: a value is not finite; `who` gave it.
    """
    import numpy as np

    wide = vectors.astype(np.float64)
    if not np.isfinite(wide).all():
        raise EncoderFailed(f"{who} gave a vector that holds NaN or infinity")
    largest = np.abs(wide).max(axis=1, keepdims=True, initial=0)
    wide /= np.where(largest == 0, 1, largest)
    lengths = np.linalg.norm(wide, axis=1, keepdims=True)
    return (wide / np.where(lengths == 0, 1, lengths)).astype(np.float32)


def spread(vectors: Floats, positions: Sequence[int], rows: int) -> Floats:
    """An array of `rows` rows with the vectors at their positions and zeros elsewhere."""
    import numpy as np

    out = np.zeros((rows, vectors.shape[1]), np.float32)
    out[list(positions)] = vectors
    return out
