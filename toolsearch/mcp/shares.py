"""Things kept for callers in bounded number: who keeps too many loses its own oldest, never one of another."""

from __future__ import annotations

from collections import OrderedDict
from typing import Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class Shares(Generic[K, V]):
    """Values by key, each held by a caller: at most `each` of one caller, and `most` of all."""

    def __init__(self, each: int, most: int) -> None:
        self._each, self._most = each, most
        self._held: dict[str, OrderedDict[K, V]] = {}
        self._holders: dict[K, str] = {}

    def __len__(self) -> int:
        """How many there are."""
        return len(self._holders)

    def put(self, holder: str, key: K, value: V) -> V | None:
        """Keep a value; gives the one that had to leave for it."""
        self._held.setdefault(holder, OrderedDict())[key] = value
        self._holders[key] = holder
        if len(self._held[holder]) > self._each:
            return self._oldest(holder)
        if len(self._holders) > self._most:
            return self._oldest(max(self._held, key=lambda one: len(self._held[one])))
        return None

    def get(self, key: K) -> V | None:
        """The value of a key."""
        return self._held[self._holders[key]][key] if key in self._holders else None

    def pop(self, key: K) -> V | None:
        """The value of a key, which is not kept any longer."""
        holder = self._holders.pop(key, None)
        if holder is None:
            return None
        value = self._held[holder].pop(key)
        if not self._held[holder]:
            del self._held[holder]
        return value

    def items(self) -> list[tuple[K, V]]:
        """All that is kept now."""
        return [pair for held in self._held.values() for pair in held.items()]

    def _oldest(self, holder: str) -> V | None:
        return self.pop(next(iter(self._held[holder])))
