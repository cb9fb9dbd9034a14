"""Leases: a reader says which generation it holds, so that nobody deletes its rows."""

from __future__ import annotations

import os
import uuid
from typing import TYPE_CHECKING, Final, cast

from toolsearch.index.locks import held, hold

if TYPE_CHECKING:
    from pathlib import Path

    from toolsearch.index.layout import Layout
    from toolsearch.index.store import Store

TRIES: Final = 50
KEPT: Final = 64
"""Generations that are kept without a lease, for readers in memory and of folders in which none can be made."""
SPARE: Final = 1024
"""In a folder only LAST are, once more tools have left than are there, and more than these: it would never shrink."""
LAST: Final = 4


class Lease:
    """A locked file that names a generation; the lock ends with the process, however it ends."""

    def __init__(self, path: Path, handle: int) -> None:
        self._path, self._handle = path, handle

    def release(self) -> None:
        """Give the generation up."""
        self._path.unlink(missing_ok=True)
        os.close(self._handle)


def leased(layout: Layout | None, store: Store) -> tuple[int, Lease | None]:
    """The newest generation and a lease on it, taken before a later one could end its rows.

    There is no lease on an index in memory, nor in a folder where no file can be made.
    """
    generation = store.generation
    for _ in range(0 if layout is None else TRIES):
        lease = _lease(layout, generation) if layout else None
        if lease is None or store.generation == generation:
            return generation, lease
        lease.release()
        generation = store.generation
    return generation, None


def oldest(layout: Layout | None, store: Store) -> int:
    """The oldest generation that must be kept; leases of dead processes are deleted."""
    [(dead, alive)] = store.read("SELECT count(died), count(*) - count(died) FROM entries")
    few = layout is None or cast("int", dead) <= max(cast("int", alive), SPARE)
    kept = KEPT if few else LAST
    found = [max(0, store.generation - kept)]
    for path in layout.leases.glob("[0-9]*-*") if layout else ():
        if held(path):
            found.append(int(path.name.split("-")[0]))
        else:
            path.unlink(missing_ok=True)
    return min(found)


def _lease(layout: Layout, generation: int) -> Lease | None:
    path = layout.leases / f"{generation:012d}-{uuid.uuid4().hex}"
    handle = hold(path)
    return None if handle is None else Lease(path, handle)
