"""A table of token vectors: a text's second, context-free reading, the mean of its tokens' rows.

It is made of the model's own word embeddings (see `word_table`): centred, the first principal components kept, and
each row weighted by the logarithm of the token's rank, for the vocabulary is in the order of frequency. It knows
nothing of word order, and so disagrees with the model often enough to be worth asking.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final
from zipfile import BadZipFile

import numpy as np

from toolsearch.errors import EncoderFailed

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from toolsearch.protocols import Floats

FIRST: Final = 1000
"""Tokens before this one are marks and unused."""
COMMON: Final = 20_000
"""Centre and components are those of the tokens before this one."""
LIMIT: Final = 127


@dataclass(frozen=True, slots=True, eq=False)
class TokenTable:
    """values: (tokens, dimension) int8; scales: (tokens, 1) float32, a row's value is their product."""

    values: NDArray[np.int8]
    scales: Floats

    @classmethod
    def read(cls, path: Path) -> TokenTable:
        """The table in a file.

        Raises:
            EncoderFailed: it is missing or damaged.
        """
        try:
            with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
                return cls(arrays["values"], arrays["scales"])
        except (BadZipFile, OSError, ValueError, KeyError, EOFError) as error:
            raise EncoderFailed(f"cannot read {path.name!r}: {str(error)[:160]}; install the package again") from None

    def write(self, path: Path) -> None:
        """Write the table, byte for byte the same each time."""
        np.savez(path, values=self.values, scales=self.scales)

    def vector(self, ids: Sequence[int]) -> Floats:
        """The direction of the sum of the tokens' rows, (dimension,) float32: unit length, or zero without any."""
        total = (self.values[ids] * self.scales[ids]).sum(axis=0, dtype=np.float64)
        length = float(np.linalg.norm(total))
        return (total / length if length else total).astype(np.float32)


def word_table(embeddings: Floats, dimension: int) -> TokenTable:
    """The table of a model's word embeddings, (tokens, width) float32 in order of frequency."""
    wide = embeddings.astype(np.float64)
    common = wide[FIRST:COMMON]
    centre = common.mean(axis=0)
    _, components = np.linalg.eigh(np.cov(common - centre, rowvar=False))
    chosen = components[:, ::-1][:, :dimension]
    chosen *= np.sign(chosen[np.abs(chosen).argmax(axis=0), np.arange(dimension)])
    weights = np.log1p(np.maximum(np.arange(len(wide)) - (FIRST - 1), 0))
    rows = weights[:, None] * ((wide - centre) @ chosen)
    largest = np.abs(rows).max(axis=1, keepdims=True)
    scales = np.where(largest == 0, 1, largest / LIMIT).astype(np.float32)
    return TokenTable(np.rint(rows / scales).astype(np.int8), scales)
