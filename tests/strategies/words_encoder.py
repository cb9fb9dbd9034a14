"""An encoder for tests: a bag of hashed words, deterministic and countable."""

from __future__ import annotations

import zlib
from collections.abc import Sequence

import numpy as np

from toolsearch import text
from toolsearch.protocols import Role


class WordsEncoder:
    """Unit vectors of hashed words; texts without words are zero. `seen` holds every text encoded for a tool."""

    def __init__(self, dimension: int = 24, name: str = "words") -> None:
        self.id = f"{name}:{dimension}"
        self.dimension = dimension
        self.seen: list[str] = []

    def encode(self, texts: Sequence[str], role: Role) -> np.ndarray:
        if role == "tool":
            self.seen += texts
        return np.stack([self._one(one) for one in texts]) if texts else np.empty((0, self.dimension), np.float32)

    def _one(self, one: str) -> np.ndarray:
        vector = np.zeros(self.dimension, np.float32)
        for word in text.words(one):
            vector[zlib.crc32(word.encode()) % self.dimension] += 1
        length = float(np.linalg.norm(vector))
        return vector / np.float32(length) if length else vector
