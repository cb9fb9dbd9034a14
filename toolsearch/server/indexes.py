"""The indexes that a service answers from, by name."""

from __future__ import annotations

import hashlib
import hmac
import threading
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar, cast

from toolsearch.errors import IndexReadOnly, InvalidInput
from toolsearch.index.layout import Layout
from toolsearch.index.locks import WAIT, BuildLock
from toolsearch.index.tool_index import ToolIndex
from toolsearch.server.problems import Problem

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Sequence
    from pathlib import Path

    from toolsearch.protocols import ToolView
    from toolsearch.server.callers import Caller

VERSIONS: Final = 256
"""Versions kept, of generations and callers."""
KEPT: Final = 32
T = TypeVar("T")


class Seen(NamedTuple):
    """What a caller can find, and a mark that changes when, and only when, that has changed."""

    view: ToolView
    version: str


class Served:
    """One index: its name, where it lies, and the opened form that requests use.

    Versions are made of the numbers of the rows in a view, under a secret: nothing about other rows can be read off.
    """

    def __init__(self, path: Path, secret: bytes, index: ToolIndex) -> None:
        self.name, self.path, self.index = path.resolve().name, path, index
        self._describe()
        self._secret, self._lock = secret, threading.Lock()
        self._versions: dict[tuple[object, ...], str] = {}
        self._kept: dict[tuple[str, str], object] = {}

    def see(self, caller: Caller, condition: object = None, exclude: Sequence[str] = ()) -> Seen:
        """What a caller can find. Ids that it may not see are not even excluded, so they change nothing.

        Raises:
            InvalidFilter: the filter is outside its language.
        """
        view = self.index.view(caller=caller.groups, filter=condition)
        if not exclude:
            return Seen(view, self._version(view))
        rows = (view.corpus.row(tool_id) for tool_id in exclude)
        left_out = frozenset(row for row in rows if row is not None and view.allows(row))
        return Seen(replace(view, excluded=left_out), self._version(view))

    @contextmanager
    def changing(self) -> Generator[None]:
        """The right to read and change the catalog as one step, held by one thread of one worker at a time.

        Raises:
            IndexBusy: others held it for too long.
        """
        with self._lock, BuildLock(Layout(self.path).data / "service.lock", patience=WAIT):
            yield

    def count(self, view: ToolView) -> int:
        """How many tools a view's caller can find, after the filter."""
        rows = view.corpus.rows(view.allowed)
        return len(rows) if view.kept is None else int(view.kept[rows].sum())

    def remembered(self, what: str, caller: Caller, make: Callable[[Served, Caller], T]) -> T:
        """Something that walks a caller's whole catalog, kept until that changes."""
        key = (what, self.see(caller).version)
        if key not in self._kept:
            self._kept = {**dict(list(self._kept.items())[-KEPT:]), key: make(self, caller)}
        return cast("T", self._kept[key])

    def _version(self, view: ToolView) -> str:
        key = (view.corpus.generation, view.allowed.key)
        found = self._versions.get(key)
        if found is None:
            numbers = self.index.row_numbers(view)
            told = str(key).encode() if numbers is None else numbers.tobytes()
            found = hmac.new(self._secret, self.name.encode() + told, hashlib.sha256).hexdigest()[:24]
            if numbers is not None:
                self._versions = {**dict(list(self._versions.items())[-VERSIONS:]), key: found}
        return found

    def reload(self) -> None:
        """Open the index anew; requests that are under way finish on the old form, which goes when they end."""
        self.index.reopen()
        self._describe()

    def notes(self, caller: Caller) -> Sequence[str]:
        """What did not fit when the index was opened, and what mends it; only for those who see all of it."""
        return self._notes if caller.sees_all else ()

    def _describe(self) -> None:
        status = self.index.status
        self.strategy, self._notes = status.strategy, status.notes


class Indexes:
    """All indexes of a service. The first is the one that requests mean when they name none; it may be open already."""

    def __init__(self, paths: Sequence[Path], secret: bytes, first: ToolIndex | None = None) -> None:
        self._served: dict[str, Served] = {}
        for path in paths:
            one = Served(path, secret, first if first is not None and path == paths[0] else opened(path))
            if one.name in self._served:
                raise InvalidInput(f"two indexes are called {one.name!r}; rename a folder")
            self._served[one.name] = one

    def named(self, name: str | None) -> Served:
        """The index of a name; the first for None.

        Raises:
            Problem: there is no such index.
        """
        if name is None:
            return next(iter(self._served.values()))
        found = self._served.get(name)
        if found is None:
            raise Problem(404, f"there is no index {name[:80]!r}; there are {', '.join(self._served)}")
        return found

    def __iter__(self) -> Iterator[Served]:
        return iter(self._served.values())

    def close(self) -> None:
        """Let all indexes go."""
        for served in self:
            served.index.close()


def opened(path: Path) -> ToolIndex:
    """The index in a folder, for reading only where nothing can be written."""
    try:
        return ToolIndex.open(path)
    except IndexReadOnly:
        return ToolIndex.open(path, read_only=True)
