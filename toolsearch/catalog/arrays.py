"""The items of a JSON array in a file, one by one, so that a large file is never held whole."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import IO, TYPE_CHECKING, Final

from toolsearch.catalog.loaded import MAX_FILE, distinct, no_constant
from toolsearch.errors import InvalidSource, LimitExceeded
from toolsearch.tool import MAX_BYTES

if TYPE_CHECKING:
    from pathlib import Path

PART: Final = 1 << 20
"""Characters that are read at a time."""
MAX_ITEM: Final = 4 * MAX_BYTES
BLANK: Final = " \t\r\n"
_DECODER: Final = json.JSONDecoder(parse_constant=no_constant, object_pairs_hook=distinct)


def is_array(path: Path) -> bool:
    """Whether a file begins like a JSON array.

    Raises:
        OSError: it cannot be read.
    """
    with path.open("rb") as file:
        return file.read(256).removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"[")


def array_items(path: Path) -> Iterator[object]:
    """The values of an array, in order; at most one item and PART are in memory at a time.

    Raises:
        InvalidSource: the file cannot be read or is not a JSON array without comments; items before that were given.
        LimitExceeded: it is larger than MAX_FILE, or an item longer than MAX_ITEM.
    """
    try:
        if path.stat().st_size > MAX_FILE:
            raise LimitExceeded(f"{path.name} has {path.stat().st_size} bytes; the bound is {MAX_FILE}")
        with path.open(encoding="utf-8-sig") as file:
            yield from _Array(path.name, file).items()
    except OSError as error:
        raise InvalidSource(f"{str(path)!r} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise InvalidSource(f"{path.name} is not UTF-8 text ({error.reason})") from None


class _Array:
    """An array on its way in; `_text` from `_at` on is what was read and not given yet."""

    def __init__(self, where: str, file: IO[str]) -> None:
        self._where, self._file = where, file
        self._text, self._at, self._number = "", 0, 0

    def items(self) -> Iterator[object]:
        self._take("[")
        if self._next() != "]":
            yield self._item()
            while self._next() == ",":
                self._take(",")
                yield self._item()
        self._take("]")
        if self._next():
            raise self._broken(f"{self._next()!r} after the end of the array")

    def _next(self) -> str:
        """The next character that is no blank; empty at the end of the file."""
        while True:
            while self._at < len(self._text) and self._text[self._at] in BLANK:
                self._at += 1
            if self._at < len(self._text) or not self._more():
                return self._text[self._at : self._at + 1]

    def _take(self, sign: str) -> None:
        if self._next() != sign:
            raise self._broken(f"{sign!r} expected, not {self._next()!r}")
        self._at += 1

    def _item(self) -> object:
        self._next()
        while True:
            reason = "the file ends in the middle of it"
            try:
                value, end = _DECODER.raw_decode(self._text, self._at)
            except RecursionError:
                raise self._broken("nested too deep") from None
            except ValueError as error:
                reason, end = str(error)[:160], len(self._text)
            else:
                # A number that ends with what was read may go on.
                if end < len(self._text) or not self._more():
                    self._at, self._number = end, self._number + 1
                    return value
                continue
            if len(self._text) - self._at > MAX_ITEM:
                raise LimitExceeded(
                    f"{self._where} item {self._number}: longer than {MAX_ITEM} characters, or {reason}"
                )
            if not self._more():
                raise self._broken(reason)

    def _more(self) -> bool:
        """Read on; as much as is there already, so that a long item is not tried often."""
        part = self._file.read(max(PART, len(self._text) - self._at))
        self._text, self._at = self._text[self._at :] + part, 0
        return bool(part)

    def _broken(self, reason: str) -> InvalidSource:
        return InvalidSource(f"{self._where} item {self._number}: not JSON: {reason}")
