"""Locks on files that the operating system lets go when a process dies, however it dies."""

from __future__ import annotations

import os
import sys
import time
from typing import TYPE_CHECKING, Final

from toolsearch.errors import IndexBusy

if TYPE_CHECKING:
    from pathlib import Path

MOMENT: Final = 0.1
"""Seconds in which a lock is asked for again: `held` takes it for a moment."""
WAIT: Final = 30.0
"""Seconds in which one waits for somebody who writes derived files, which takes some at a million tools."""
PAUSE: Final = 0.002
LONG: Final = 0.05
"""Seconds between two tries, at first and later."""
BUILDS: Final = "builds"
"""Said by who may hold the lock for hours, so that nobody waits for that."""

if sys.platform == "win32":
    import msvcrt

    def _lock(handle: int, *, shared: bool = False) -> bool:
        try:
            os.lseek(handle, 1 << 30, os.SEEK_SET)
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:
    import fcntl

    def _lock(handle: int, *, shared: bool = False) -> bool:
        try:
            fcntl.flock(handle, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True


class BuildLock:
    """The right to build or write one index; held by one process and one object at a time.

    The file says who holds it and whether that one `builds`, or `text`. One that comes meanwhile waits `patience`
    seconds, but only a moment for a build.

    Raises:
        IndexBusy: another one holds it; the text names its process.
    """

    def __init__(self, path: Path, text: str = "", *, builds: bool = False, patience: float = MOMENT) -> None:
        self._path, self._text = path, text or f"{os.getpid()}\n{BUILDS if builds else ''}"
        self._patience = patience
        self._handle: int | None = None

    def __enter__(self) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(self._path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o644)
        try:
            self._wait(handle)
            os.lseek(handle, 0, os.SEEK_SET)
            os.ftruncate(handle, os.write(handle, self._text.encode("ascii")))
        except BaseException:
            os.close(handle)
            raise
        self._handle = handle

    def _wait(self, handle: int) -> None:
        began = time.monotonic()
        while not _lock(handle):
            waited = time.monotonic() - began
            process, builds = _holder(handle)
            if waited > (MOMENT if builds else self._patience):
                root = self._path.parent.parent if self._path.parent.name == "data" else self._path.parent
                doing = "built" if builds else "written"
                after = "" if waited < 1 else f", and still is after {waited:.0f} s"
                raise IndexBusy(f"index {str(root)!r} is being {doing} by process {process}{after}; wait for it to end")
            time.sleep(min(LONG, PAUSE + waited / 10))

    def __exit__(self, *_: object) -> None:
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None


def _holder(handle: int) -> tuple[str, bool]:
    """The number of the process that holds the lock, and whether it builds."""
    os.lseek(handle, 0, os.SEEK_SET)
    process, _, note = os.read(handle, 32).decode("ascii", "replace").partition("\n")
    return process.strip() or "unknown", note == BUILDS


def held(path: Path) -> bool:
    """Whether some process holds a lock on the file; False too when there is none."""
    try:
        handle = os.open(path, os.O_RDWR)
    except OSError:
        return False
    try:
        return not _lock(handle, shared=True)
    finally:
        os.close(handle)


def hold(path: Path) -> int | None:
    """Create a file and lock it; gives the handle whose closing ends the lock, None where files cannot be made."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o644)
    except OSError:
        return None
    _lock(handle)
    return handle
