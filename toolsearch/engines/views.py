"""What engines keep about a caller's view: bounded, safe under threads, gone with the engine."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import TYPE_CHECKING, Generic, TypeVar

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from toolsearch.protocols import Mask, RowSet

Value = TypeVar("Value")


class Recent(Generic[Value]):
    """The most recently used values by key; the least recently used leave while all together weigh more than `size`.

    Each value weighs 1 where nothing else is said.
    """

    def __init__(self, size: int, weight: Callable[[Value], int] = lambda _: 1) -> None:
        self._size, self._weight, self._held = size, weight, 0
        # In a tuple, so that one look tells a value that is None from one that is missing.
        self._values: OrderedDict[Hashable, tuple[Value]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Hashable, make: Callable[[], Value]) -> Value:
        """The value of the key, made when it is missing; no lock is held while it is made."""
        with self._lock:
            found = self._values.get(key)
            if found is not None:
                self._values.move_to_end(key)
                return found[0]
        value = make()
        with self._lock:
            # Another thread may have made it meanwhile.
            self._held -= sum(map(self._weight, self._values.pop(key, ())))
            self._values[key] = (value,)
            self._held += self._weight(value)
            while self._held > self._size:
                _, (least,) = self._values.popitem(last=False)
                self._held -= self._weight(least)
        return value

    def __len__(self) -> int:
        return len(self._values)


def live_mask(view: RowSet, live: Mask | None) -> Mask | None:
    """The rows of a view that have not been removed; None means every row."""
    if view.mask is None:
        return live
    return view.mask if live is None else np.logical_and(view.mask, live)


def intersected(first: Mask | None, second: Mask | None) -> Mask | None:
    """Rows in both masks, where None means every row."""
    if first is None or second is None:
        return second if first is None else first
    return np.logical_and(first, second)
