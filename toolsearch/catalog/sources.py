"""Where tools come from: `load` takes any source and finds out what it is."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Final

from toolsearch.catalog.loaded import Collector, Loaded, Problem
from toolsearch.errors import InvalidSource

__all__ = ["Loaded", "Problem", "load"]

READERS: Final = {
    ".jsonl": "toolsearch.catalog.jsonl:load_jsonl",
    ".json": "toolsearch.catalog.documents:load_json",
}
"""Ending of a file -> what reads it: `reader(path, keep_going=)`."""


def load(source: str | Path, *, keep_going: bool = False) -> Loaded:
    """The tools of a file, or of a folder of files in order of names.

    Without `keep_going` the first broken tool is an error.

    Raises:
        InvalidSource: the source does not exist, is of no known kind, or holds something that is not a tool.
        LimitExceeded: it is larger or deeper than a bound.
    """
    path = Path(source)
    if path.is_dir():
        return _folder(path, keep_going=keep_going)
    if not path.exists():
        raise InvalidSource(f"there is no file or folder {str(source)[:200]!r}")
    return _reader(path)(path, keep_going=keep_going)


def _folder(folder: Path, *, keep_going: bool) -> Loaded:
    collector = Collector(keep_going=keep_going)
    files = [path for path in sorted(folder.iterdir()) if path.suffix in READERS and path.is_file()]
    if not files:
        raise InvalidSource(f"no file in {str(folder)!r} ends in {', '.join(READERS)}")
    for path in files:
        collector.extend(_reader(path)(path, keep_going=keep_going), path.name)
    return collector.loaded()


def _reader(path: Path) -> Callable[..., Loaded]:
    if path.suffix not in READERS:
        raise InvalidSource(f"{path.name} ends in none of {', '.join(READERS)}")
    module, _, name = READERS[path.suffix].partition(":")
    return getattr(import_module(module), name)
