"""What tools in the world do: a line on each of thousands, and how near a request is to the nearest of them.

A request that is nearer to one of these than to any tool of a catalog is most likely after a tool that the catalog
lacks. The lines (`world.txt`) are name and description of the tools in `toolsearch/training/text`, which were written
without regard to any catalog that is measured; their vectors lie beside the model that made them.
`python -m toolsearch.encoders.world` makes both again, after the text or the built-in encoder changed.
"""

from __future__ import annotations

import json
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast
from zipfile import BadZipFile

import numpy as np

from toolsearch.errors import EncoderFailed
from toolsearch.products import products
from toolsearch.text import identifier_parts

if TYPE_CHECKING:
    from toolsearch.protocols import Floats

PHRASES: Final = Path(__file__).parent / "world.txt"
SOURCE: Final = Path(__file__).parents[1] / "training" / "text"
"""Where the lines come from; not in the wheel."""
LONGEST: Final = 200
"""Characters of a description that are kept."""
VECTORS: Final = "world.npz"
NEAREST: Final = 3
"""How many of the nearest phrases count."""
SCALE: Final = 127
KEPT: Final = 1024
"""Requests whose nearness is kept, so that one asked again costs nothing."""


def nearness(vector: Floats, folder: Path) -> float:
    """Mean cosine of a request, (dimension,) float32, to the nearest phrases, by the encoder in a folder.

    Raises:
        EncoderFailed: the vectors are missing or damaged.
    """
    return _nearness(vector.astype(np.float32).tobytes(), folder)


@lru_cache(maxsize=KEPT)
def _nearness(vector: bytes, folder: Path) -> float:
    near = products(_vectors(folder), np.frombuffer(vector, np.float32))
    return float(np.sort(near)[-NEAREST:].mean())


def phrases() -> list[str]:
    """The lines."""
    return PHRASES.read_text("utf-8").splitlines()


def gathered() -> list[str]:
    """A line for each tool of the training text: its name in words and the start of its description."""
    found: list[str] = []
    for file in sorted(SOURCE.glob("*.jsonl")):
        rows = (json.loads(line) for line in file.read_text("utf-8").splitlines())
        for row in (one for one in rows if one["kind"] == "tool"):
            words, told = " ".join(identifier_parts(row["name"])), " ".join(row["description"].split())
            found.append(f"{words}: {told[:LONGEST]}" if told else words)
    return list(dict.fromkeys(found))


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

    PHRASES.write_text("\n".join(gathered()) + "\n", "utf-8")
    export(builtin.FOLDER)
