"""Memory of this process as the system counts it, in MB, and a bound on it."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

GROUPS: Final = Path("/sys/fs/cgroup")


def resident() -> float:
    """Memory now, that which mirrors files too."""
    with Path("/proc/self/statm").open() as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def told(name: str) -> float:
    """A figure of the process: VmHWM is the most memory, RssFile that which mirrors files, RssAnon the rest."""
    with Path("/proc/self/status").open() as file:
        return next(int(line.split()[1]) for line in file if line.startswith(name)) * 1.024e-3


def forget_peak() -> None:
    """Let the most memory be counted from now on."""
    Path("/proc/self/clear_refs").write_text("5")


@contextmanager
def group() -> Generator[Path | None]:
    """A new control group below this process's own, for one that joins it; None where none can be made."""
    made: Path | None = None
    for parent in _own(Path("/proc/self/cgroup").read_text()):
        place = parent / f"benchmark-{os.getpid()}"
        with suppress(OSError):
            if (parent / "cgroup.subtree_control").exists():
                (parent / "cgroup.subtree_control").write_text("+memory")
            place.mkdir()
            made = place
            break
    try:
        yield made
    finally:
        if made is not None:
            made.rmdir()


def _own(text: str) -> Iterator[Path]:
    """Where the groups of this process that bound memory lie: the second version's, or else the first's."""
    for line in sorted(text.splitlines()):
        number, kinds, path = line.split(":", 2)
        if "memory" in kinds.split(","):
            yield GROUPS / "memory" / path.lstrip("/")
        elif number == "0" and (GROUPS / "cgroup.controllers").exists():
            yield GROUPS / path.lstrip("/")


def join(place: Path, most: float) -> None:
    """Let this process have `most` MB, with what it has already; what is more is taken from files or ends it.

    Raises:
        OSError: the group cannot be joined.
    """
    limit = str(int((most - resident()) * 1e6))
    (place / ("memory.max" if (place / "memory.max").exists() else "memory.limit_in_bytes")).write_text(limit)
    with suppress(OSError):
        (place / "memory.swap.max").write_text("0")
    (place / "cgroup.procs").write_text(str(os.getpid()))


def cold(folder: Path) -> None:
    """Have the system forget what it has read of the files of a folder, so that reading them counts again."""
    for file in folder.rglob("*"):
        if file.is_file():
            handle = os.open(file, os.O_RDONLY)
            os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_DONTNEED)
            os.close(handle)
