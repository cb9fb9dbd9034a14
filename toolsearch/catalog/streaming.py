"""The tools of a source one by one, so that a large one is never held whole."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from toolsearch.catalog.arrays import is_array
from toolsearch.catalog.jsonl import numbered_lines, spec_from_line
from toolsearch.catalog.loaded import Problem
from toolsearch.catalog.sources import folder_files, load
from toolsearch.errors import InvalidSource
from toolsearch.tool import ToolSpec

WHOLE: Final = 8_000_000
"""Bytes up to which a JSON array is read whole."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One tool of a source and where it stands: read already, or the line that it is read from."""

    where: str
    line: str = ""
    spec: ToolSpec | None = None

    def read(self, doubt: Callable[[str], object] = str) -> ToolSpec:
        """The tool; `doubt` is told what looks wrong with it.

        Raises:
            InvalidInput: the line is not a tool.
            LimitExceeded: it is too long.
        """
        return spec_from_line(self.line, self.where, doubt) if self.spec is None else self.spec


def entries(source: str | Path, *, keep_going: bool = False) -> Iterator[Entry | Problem]:
    """What `sources.load` gives, in the same order; lines of JSONL are not parsed yet, equal ids not noticed.

    Raises:
        InvalidSource, LimitExceeded, MissingExtra: as `sources.load`, when it comes to it.
    """
    path = Path(source)
    for file in folder_files(path) if path.is_dir() else [source]:
        name = Path(file).name
        if name.endswith(".jsonl") and Path(file).exists():
            yield from (Entry(f"{name}:{number}", line=line) for number, line in numbered_lines(Path(file)))
            continue
        if _streams(Path(file)):
            yield from _items(Path(file), keep_going=keep_going)
            continue
        loaded = load(file, keep_going=keep_going)
        where = name if path.is_dir() else str(source)
        yield from (Entry(where, spec=tool.spec) for tool in loaded.tools)
        yield from loaded.problems


def _streams(file: Path) -> bool:
    """Whether a file is a JSON array so large that it is read item by item, and must have no comments then."""
    try:
        return file.suffix == ".json" and file.is_file() and file.stat().st_size > WHOLE and is_array(file)
    except OSError as error:
        raise InvalidSource(f"{str(file)[:200]!r} cannot be read: {error.strerror}") from None


def _items(file: Path, *, keep_going: bool) -> Iterator[Entry | Problem]:
    from toolsearch.catalog.documents import definitions

    for place, found in definitions(file):
        if isinstance(found, ToolSpec):
            yield Entry(place, spec=found)
        elif keep_going:
            yield Problem(place, str(found))
        else:
            raise InvalidSource(f"{place}: {found}")
