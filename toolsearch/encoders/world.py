"""What tools in the world do: short phrases of many fields, and how near a request is to the nearest of them.

A request that is nearer to one of these than to any tool of a catalog is most likely after a tool that the catalog
lacks. The phrases (`world.txt`) were written for this project; `python -m toolsearch.encoders.world` makes the
vectors again, after the built-in encoder or the phrases changed.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast
from zipfile import BadZipFile

import numpy as np

from toolsearch.errors import EncoderFailed

if TYPE_CHECKING:
    from toolsearch.protocols import Floats

PHRASES: Final = Path(__file__).parent / "world.txt"
VECTORS: Final = Path(__file__).parent / "world.npz"
NEAREST: Final = 3
"""How many of the nearest phrases count."""
SCALE: Final = 127


def nearness(vector: Floats) -> float:
    """Mean cosine of a request, (dimension,) float32, to the nearest phrases.

    Raises:
        EncoderFailed: the vectors are missing or damaged.
    """
    near = _vectors() @ vector
    return float(np.sort(np.partition(near, -NEAREST)[-NEAREST:]).mean())


def phrases() -> list[str]:
    """The phrases, one a line or parted by semicolons."""
    text = PHRASES.read_text("utf-8").replace("\n", ";")
    return [phrase.strip() for phrase in text.split(";") if phrase.strip()]


@cache
def _vectors() -> Floats:
    """(phrases, dimension) float32, read once."""
    try:
        with VECTORS.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
            return cast("Floats", arrays["vectors"].astype(np.float32) / SCALE)
    except (BadZipFile, OSError, ValueError, KeyError, EOFError) as error:
        raise EncoderFailed(f"cannot read {VECTORS.name!r}: {str(error)[:160]}; install the package again") from None


def export() -> None:
    """Writes the vectors of the phrases, as int8, 127 for 1."""
    from toolsearch.encoders.builtin import BuiltinEncoder

    vectors = BuiltinEncoder().encode(phrases(), "tool")
    np.savez_compressed(VECTORS, vectors=np.rint(SCALE * vectors).astype(np.int8))


if __name__ == "__main__":
    export()
