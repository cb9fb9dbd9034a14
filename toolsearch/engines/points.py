"""What terms add to the rows they occur in, kept for the terms that were asked for last.

Requests share words: what "file" adds to each of its rows is the same for all of them, and working it out costs as much
as adding it up.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from toolsearch.protocols import Floats

MOST: Final = 8_000_000
"""Numbers that are kept, 4 bytes each."""
LEAST: Final = 2_048
"""As so many numbers each term counts at least, so that rare ones do not fill memory with what lies around them."""


class Points:
    """Arrays of numbers by key; above `most` numbers in all the least recently used leave. Safe under threads."""

    def __init__(self, most: int = MOST) -> None:
        self._most, self._size = most, 0
        self._kept: OrderedDict[Hashable, Floats] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Hashable, make: Callable[[], Floats]) -> Floats:
        """The numbers of a key, made when they are missing; no lock is held while they are made."""
        with self._lock:
            found = self._kept.get(key)
            if found is not None:
                self._kept.move_to_end(key)
                return found
        made = make()
        with self._lock:
            if key not in self._kept:
                self._kept[key] = made
                self._size += max(len(made), LEAST)
            while self._size > self._most:
                _, least = self._kept.popitem(last=False)
                self._size -= max(len(least), LEAST)
        return made
