"""An encoder whose requests are moved towards what a team means: one linear map, learnt from its own searches.

Tools' vectors stay as they are, so the map can be put on and taken off at any time. `toolsearch train --from-log`
makes one, beside an index's definition.
"""

from __future__ import annotations

import hashlib
import struct
import tokenize
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from zipfile import BadZipFile

import numpy as np

from toolsearch.encoders.cached import SKILLS
from toolsearch.errors import InvalidSource

if TYPE_CHECKING:
    from toolsearch.protocols import Encoder, Floats, Role

FILE: Final = "adaptation.npz"
MAX_BYTES: Final = 64_000_000
DAMAGED: Final = (
    BadZipFile, OSError, EOFError, ValueError, KeyError, TypeError, RuntimeError, SyntaxError, MemoryError,
    OverflowError, zlib.error, struct.error, tokenize.TokenError,
)  # fmt: skip
"""What numpy and the libraries behind it raise over files with changed bytes."""


@dataclass(frozen=True, slots=True, eq=False)
class Adaptation:
    """change: (dimension, dimension) float32; a request's vector v becomes v + v @ change. `encoder` is an id."""

    encoder: str
    change: Floats

    def moved(self, vectors: Floats) -> Floats:
        """Vectors of requests, (n, dimension), after the change; each keeps its length.

        Row by row: a product of many rows rounds in another way, and a text is to have one vector.
        """
        found = vectors + np.array([vector @ self.change for vector in vectors], np.float32).reshape(vectors.shape)
        before, after = (np.linalg.norm(one, axis=1, keepdims=True) for one in (vectors, found))
        return (found * (before / np.where(after == 0, 1, after))).astype(np.float32)

    def as_written(self) -> Adaptation:
        """The same with the numbers that its file holds, which are rounded."""
        return replace(self, change=self.change.astype(np.float16).astype(np.float32))

    def write(self, path: Path) -> None:
        """Write the file, as one step for whoever reads it."""
        made = path.with_suffix(".new")
        with made.open("wb") as file:
            np.savez_compressed(file, encoder=np.array(self.encoder), change=self.change.astype(np.float16))
        made.replace(path)

    @classmethod
    def read(cls, path: Path) -> Adaptation:
        """What `write` wrote.

        Raises:
            InvalidSource: the file is something else, or damaged.
        """
        try:
            if path.stat().st_size > MAX_BYTES:
                raise InvalidSource(f"{path.name} has more than {MAX_BYTES} bytes")
            with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
                change = arrays["change"].astype(np.float32)
                found = cls(str(arrays["encoder"]), change)
        except DAMAGED as error:
            if isinstance(error, InvalidSource):
                raise
            raise InvalidSource(f"{path.name} is no adaptation: {str(error)[:120]}; delete it") from None
        if change.ndim != 2 or change.shape[0] != change.shape[1] or not np.isfinite(change).all():
            raise InvalidSource(f"{path.name} holds no square matrix of numbers; delete it")
        return found


class AdaptedEncoder:
    """Another encoder with an adaptation of its requests' vectors. Tools' vectors are the other's, and so is the id."""

    def __init__(self, encoder: Encoder, adaptation: Adaptation) -> None:
        self._encoder = encoder
        self._adaptation = adaptation
        told = hashlib.sha256(np.ascontiguousarray(adaptation.change, np.float32).tobytes()).hexdigest()
        self.request_id = f"{encoder.id} adapted {told[:16]}"
        """Names what requests' vectors are made with; `id` does not know of the adaptation."""

    @property
    def plain(self) -> Encoder:
        """The encoder behind, without the adaptation."""
        return self._encoder

    @property
    def id(self) -> str:
        """That of the encoder behind, for it names what tools' vectors are kept under."""
        return self._encoder.id

    @property
    def dimension(self) -> int:
        """That of the encoder behind."""
        return self._encoder.dimension

    def __getattr__(self, name: str) -> Any:
        if name in SKILLS:
            return getattr(self._encoder, name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def encode(self, texts: Sequence[str], role: Role) -> Floats:
        """Vectors of the texts, (len(texts), dimension) float32.

        Raises:
            EncoderFailed: the encoder behind failed.
        """
        vectors = self._encoder.encode(texts, role)
        return self._adaptation.moved(vectors) if role == "query" else vectors


def request_id(encoder: Encoder) -> str:
    """Names what an encoder makes requests' vectors with: its id, and its adaptation if it has one."""
    return str(getattr(encoder, "request_id", encoder.id))


def without(encoder: Encoder) -> Encoder:
    """The encoder without an adaptation."""
    return encoder.plain if isinstance(encoder, AdaptedEncoder) else encoder
