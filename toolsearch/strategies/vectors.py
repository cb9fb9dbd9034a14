"""Texts in, checked vectors out: what every caller of an encoder wants to be sure of."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from toolsearch.errors import EncoderFailed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from toolsearch.protocols import Encoder, Floats

CHUNK = 64


def encoded(texts: Sequence[str], encoder: Encoder) -> Floats:
    """Vectors of tools' texts, (len(texts), dimension) float32; equal texts are encoded once.

    Raises:
        EncoderFailed: the encoder failed, or gave something else than one vector for each text.
    """
    places = {one: place for place, one in enumerate(dict.fromkeys(texts))}
    unique = list(places)
    parts = [checked(encoder, unique[start : start + CHUNK]) for start in range(0, len(unique), CHUNK)]
    vectors = np.concatenate(parts) if parts else np.empty((0, encoder.dimension), np.float32)
    return vectors if len(unique) == len(texts) else vectors[[places[one] for one in texts]]


def checked(encoder: Encoder, texts: Sequence[str]) -> Floats:
    """What the encoder makes of tools' texts, when it has the right shape.

    Raises:
        EncoderFailed: the encoder failed, or gave something else than one vector for each text.
    """
    vectors = np.asarray(encoder.encode(texts, "tool"), np.float32)
    if vectors.shape != (len(texts), encoder.dimension):
        raise EncoderFailed(
            f"encoder {encoder.id[:120]!r} gave an array {vectors.shape} for {len(texts)} texts of "
            f"dimension {encoder.dimension}"
        )
    return vectors
