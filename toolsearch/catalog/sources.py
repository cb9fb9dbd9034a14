"""Where tools come from: `load` takes any source and finds out what it is.

Python files and modules are run, and the servers of an `mcpServers` file are started: load only what you trust.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Final

from toolsearch.catalog.loaded import Collector, Loaded, Problem
from toolsearch.errors import InvalidSource

__all__ = ["Loaded", "Problem", "load"]

_DOCUMENT: Final = "toolsearch.catalog.documents:load_document"
READERS: Final = {
    ".jsonl": "toolsearch.catalog.jsonl:load_jsonl",
    ".json": _DOCUMENT,
    ".jsonc": _DOCUMENT,
    ".yaml": _DOCUMENT,
    ".yml": _DOCUMENT,
    ".toml": _DOCUMENT,
    ".py": "toolsearch.catalog.python:load_file",
}
"""Ending of a file -> what reads it: `reader(path, keep_going=)`."""
SKIPPED: Final = "index.toml"
"""Not a source: what says which sources an index has."""


def load(source: str | Path, *, keep_going: bool = False) -> Loaded:
    """The tools of a file, of a folder of files in order of names, or of `module:name`.

    Folders are read without their subfolders; what starts with `.` or `_` is passed over. Without
    `keep_going` the first broken tool is an error.

    Raises:
        InvalidSource: the source does not exist, is of no known kind, or holds something that is not a tool.
        LimitExceeded: it is larger or deeper than a bound.
        MissingExtra: it needs a package that is not installed.
    """
    path = Path(source)
    try:
        if path.is_dir():
            return _folder(path, keep_going=keep_going)
        if path.exists():
            return _reader(path)(path, keep_going=keep_going)
    except OSError as error:
        raise InvalidSource(f"{str(source)[:200]!r} cannot be read: {error.strerror}") from None
    if ":" in str(source) and path.suffix not in READERS:
        return _module(str(source), keep_going=keep_going)
    raise InvalidSource(f"there is no file or folder {str(source)[:200]!r}")


def folder_files(folder: Path) -> list[Path]:
    """The files of a folder that are sources, in order of names.

    Raises:
        InvalidSource: there is none.
    """
    files = [path for path in sorted(folder.iterdir()) if _is_source(path)]
    if not files:
        raise InvalidSource(f"no file in {str(folder)!r} ends in {', '.join(READERS)}")
    return files


def _folder(folder: Path, *, keep_going: bool) -> Loaded:
    collector = Collector(keep_going=keep_going)
    for path in folder_files(folder):
        collector.extend(_reader(path)(path, keep_going=keep_going), path.name)
    return collector.loaded()


def _is_source(path: Path) -> bool:
    return path.suffix in READERS and path.is_file() and path.name[0] not in "._" and path.name != SKIPPED


def _reader(path: Path) -> Callable[..., Loaded]:
    if path.suffix not in READERS:
        raise InvalidSource(f"{path.name} ends in none of {', '.join(READERS)}")
    module, _, name = READERS[path.suffix].partition(":")
    return getattr(import_module(module), name)


def _module(source: str, *, keep_going: bool) -> Loaded:
    from toolsearch.catalog.python import load_module

    return load_module(source, keep_going=keep_going)
