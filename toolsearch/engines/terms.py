"""Sorted terms as one text: found by halving, so that opening millions of them costs nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from numpy.typing import NDArray

DICT: Final = 200_000
"""Up to so many terms a dict is made of them: quicker to ask, and soon made."""


class Terms(Mapping[str, int]):
    """Each term's place among all, which are sorted; `ends` says where each ends in the text, in characters."""

    def __init__(self, text: str, ends: NDArray[Any]) -> None:
        # A view of memory gives plain integers, twice as quickly as an array does.
        self._text, self._ends = text, ends.data

    def __getitem__(self, term: str) -> int:
        low, high = 0, len(self._ends)
        while low < high:
            middle = (low + high) // 2
            if self._at(middle) < term:
                low = middle + 1
            else:
                high = middle
        if low == len(self._ends) or self._at(low) != term:
            raise KeyError(term)
        return low

    def __iter__(self) -> Iterator[str]:
        return (self._text[start:end] for start, end in pairwise([0, *self._ends.tolist()]))

    def __len__(self) -> int:
        return len(self._ends)

    def _at(self, place: int) -> str:
        return self._text[self._ends[place - 1] if place else 0 : self._ends[place]]


def columns(text: str, ends: NDArray[Any]) -> Mapping[str, int]:
    """Term -> place for sorted terms that stand one after another in a text."""
    terms = Terms(text, ends)
    return terms if len(terms) > DICT else {term: place for place, term in enumerate(terms)}
