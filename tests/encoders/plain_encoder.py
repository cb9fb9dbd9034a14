"""A deterministic encoder that records what it was asked, and can be told to fail or to wait."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from toolsearch.errors import EncoderFailed

if TYPE_CHECKING:
    from toolsearch.protocols import Floats, Role


class PlainEncoder:
    """Two numbers for each text: by length and by role."""

    id = "plain"
    dimension = 2

    def __init__(self) -> None:
        self.asked: list[tuple[str, Role]] = []
        self.fails = False
        self.gate = threading.Event()
        self.gate.set()

    def encode(self, texts: Sequence[str], role: Role) -> Floats:
        self.gate.wait(10)
        if self.fails:
            raise EncoderFailed("told to fail")
        self.asked += [(text, role) for text in texts]
        angles = np.array([len(text) + (0.5 if role == "query" else 0) for text in texts])
        return np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32).reshape(len(texts), 2)
