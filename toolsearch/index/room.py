"""Room for large arrays: in a file that nobody sees, so that the system can take the memory back when it needs it."""

from __future__ import annotations

import os
import tempfile
from typing import TYPE_CHECKING, Final

import numpy as np

from toolsearch.engines.nearest import in_memory

if TYPE_CHECKING:
    from pathlib import Path

    from toolsearch.engines.nearest import Bytes, Room

LARGE: Final = 64_000_000
"""Bytes from which on an array gets a file."""


def room_in(folder: Path | None) -> Room:
    """Who gives room in a folder; in memory without one, or where the disk has none."""
    if folder is None or not hasattr(os, "posix_fallocate"):
        return in_memory

    def room(size: int) -> Bytes:
        return _mapped(folder, size) if size >= LARGE else in_memory(size)

    return room


def _mapped(folder: Path, size: int) -> Bytes:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder) as file:
            # Taken at once: a disk that becomes full later would end the process.
            os.posix_fallocate(file.fileno(), 0, size)
            return np.asarray(np.memmap(file, np.uint8, "r+", shape=(size,)))
    except OSError:
        return in_memory(size)
