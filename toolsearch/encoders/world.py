"""What tools in the world do: short phrases of many fields, and how near a request is to the nearest of them.

A request that is nearer to one of these than to any tool of a catalog is most likely after a tool that the catalog
lacks. The phrases (`world.txt`) were written for this project; their vectors lie beside the model that made them.
`python -m toolsearch.encoders.world` makes those of the built-in encoder again, after the phrases changed.
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
VECTORS: Final = "world.npz"
NEAREST: Final = 3
"""How many of the nearest phrases count."""
SCALE: Final = 127


def nearness(vector: Floats, folder: Path) -> float:
    """Mean cosine of a request, (dimension,) float32, to the nearest phrases, by the encoder in a folder.

    Raises:
        EncoderFailed: the vectors are missing or damaged.
    """
    near = _vectors(folder) @ vector
    return float(np.sort(np.partition(near, -NEAREST)[-NEAREST:]).mean())


def phrases() -> list[str]:
    """The phrases, one a line or parted by semicolons."""
    text = PHRASES.read_text("utf-8").replace("\n", ";")
    return [phrase.strip() for phrase in text.split(";") if phrase.strip()]


@cache
def _vectors(folder: Path) -> Floats:
    """(phrases, dimension) float32, read once."""
    try:
        with (folder / VECTORS).open("rb") as file, np.load(file, allow_pickle=False) as arrays:
            return cast("Floats", arrays["vectors"].astype(np.float32) / SCALE)
    except (BadZipFile, OSError, ValueError, KeyError, EOFError) as error:
        raise EncoderFailed(f"cannot read {VECTORS!r}: {str(error)[:160]}; {_again(folder)}") from None


def _again(folder: Path) -> str:
    from toolsearch.encoders.builtin import FOLDER

    return "install the package again" if folder == FOLDER else "make it with: toolsearch train encoder"


def export(folder: Path) -> None:
    """Writes the vectors of the phrases beside the encoder in a folder, as int8, 127 for 1."""
    from toolsearch.encoders.builtin import BuiltinEncoder

    vectors = BuiltinEncoder(folder=folder).encode(phrases(), "tool")
    np.savez_compressed(folder / VECTORS, vectors=np.rint(SCALE * vectors).astype(np.int8))


if __name__ == "__main__":
    from toolsearch.encoders import builtin

    export(builtin.FOLDER)
