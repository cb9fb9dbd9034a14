"""Copies of an index: taken while it is used, whole or not there at all, checked before they are put back."""

from __future__ import annotations

import os
import re
import shutil
import uuid
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from toolsearch.errors import IndexBusy, IndexDamaged, IndexNotFound, InvalidInput
from toolsearch.index.faults import named_faults
from toolsearch.index.layout import Layout
from toolsearch.index.locks import WAIT, BuildLock
from toolsearch.index.store import Store

if TYPE_CHECKING:
    from collections.abc import Iterator

BESIDE: Final = ("index.toml", "calibration.json", "adaptation.npz")
"""Files next to the data that belong to an index."""

WAITING: Final = "restored"
"""Folder in the data of a restored index: files that still have to be put beside the data."""

GONE: Final = ".gone"
"""Ends the name of an empty file in that folder which says that there is no such file any more."""

_NOTED: Final = re.compile(r"[0-9]+\n(\.new-[0-9a-f]{32})\n(data\.before-[0-9a-f]{8})\n")


def backup(path: str | Path, target: str | Path) -> Path:
    """Copy an index to a new folder, which is an index itself; others may search and change it meanwhile.

    Tools, generations and vectors are copied as of one moment. Derived files are not: opening the copy makes them.

    Raises:
        IndexNotFound: there is no index.
        InvalidInput: the target exists.
        IndexFault: it cannot be read, or the copy cannot be written; then there is no copy.
    """
    layout, goal = _found(path), Path(target)
    if goal.exists():
        raise InvalidInput(f"{str(target)!r} exists; name a folder that does not")
    with _fresh(goal) as fresh, named_faults(goal):
        _copy(layout, fresh)
        fresh.rename(goal)
        sync(goal.parent)
    return goal


def restore(copy: str | Path, path: str | Path, *, replace: bool = False) -> Path:
    """Put a copy back as the index in a folder; the copy stays, and is read whole before anything changes.

    Whoever has the index open goes on with what was there, and must open it again. A kill at any moment leaves the
    one or the other: whoever opens the index next ends what was begun (see `settle`).

    Raises:
        IndexNotFound: there is no copy.
        IndexDamaged: the copy is damaged.
        IndexMismatch: it has another format.
        InvalidInput: the folder holds an index and `replace` is not given, or is a file.
        IndexBusy: the index is being built, or written for too long.
    """
    source, goal = _found(copy), Layout(Path(path))
    _check(source)
    settle(goal)
    if goal.root.exists() and not goal.root.is_dir():
        raise InvalidInput(f"{str(path)!r} is a file; an index is a folder")
    if goal.truth.exists() and not replace:
        raise InvalidInput(f"{str(path)!r} holds an index; to put the copy in its place, ask for replacing it")
    fresh, old = goal.root / f".new-{uuid.uuid4().hex}", goal.root / f"data.before-{uuid.uuid4().hex[:8]}"
    note = f"{os.getpid()}\n{fresh.name}\n{old.name}\n"
    with named_faults(goal.root), BuildLock(goal.lock, patience=WAIT), BuildLock(goal.restoring, note):
        sync(goal.root)
        try:
            fresh.mkdir()
            _copy(source, fresh)
            _set_aside(fresh, all_of_them=replace)
            _swap(fresh / "data", goal.data, old)
        finally:
            _end(goal, fresh, old)
    return goal.root


def settle(layout: Layout) -> None:
    """End a restore that was killed: put the old data back, or the last files of the new index in their place.

    Folders are touched only if the restore noted their names; one that still runs is left alone.
    """
    if not layout.restoring.is_file() or not os.access(layout.root, os.W_OK):
        return
    with named_faults(layout.root), suppress(IndexBusy):
        note = layout.restoring.read_text("ascii", "replace")
        noted = _NOTED.fullmatch(note)
        if noted or not note:
            with BuildLock(layout.restoring, note):
                _end(layout, *(layout.root / name for name in (noted.groups() if noted else ())))


def _end(layout: Layout, fresh: Path | None = None, old: Path | None = None) -> None:
    if old and old.is_dir() and not layout.truth.is_file():
        # Whoever had the index open may have made the folder again for its lease.
        shutil.rmtree(layout.data, ignore_errors=True)
        old.rename(layout.data)
    if (layout.data / WAITING).is_dir():
        _put_beside(layout)
    for left in (fresh, old):
        if left:
            shutil.rmtree(left, ignore_errors=True)
    layout.restoring.unlink(missing_ok=True)


def _set_aside(fresh: Path, *, all_of_them: bool) -> None:
    """Put what belongs beside the data into it for now, and notes of what the copy lacks if all is to be replaced."""
    waiting = fresh / "data" / WAITING
    waiting.mkdir()
    for name in BESIDE:
        if (fresh / name).is_file():
            os.replace(fresh / name, waiting / name)
        elif all_of_them:
            (waiting / f"{name}{GONE}").touch()
    sync(waiting)
    sync(waiting.parent)


def _put_beside(layout: Layout) -> None:
    for name in BESIDE:
        if (layout.data / WAITING / name).is_file():
            os.replace(layout.data / WAITING / name, layout.root / name)
        elif (layout.data / WAITING / f"{name}{GONE}").is_file():
            (layout.root / name).unlink(missing_ok=True)
    sync(layout.root)
    shutil.rmtree(layout.data / WAITING, ignore_errors=True)


def _found(path: str | Path) -> Layout:
    layout = Layout(Path(path))
    if not layout.truth.is_file():
        raise IndexNotFound(f"there is no index at {str(path)!r}")
    return layout


def _check(layout: Layout) -> None:
    store = Store(layout.root, read_only=True)
    try:
        answers = [str(row[0]) for row in store.read("PRAGMA integrity_check(1)")]
    finally:
        store.close()
    if answers != ["ok"]:
        raise IndexDamaged(f"the copy {str(layout.root)!r} is damaged ({answers[0][:120]}); use another one")


def _copy(layout: Layout, fresh: Path) -> None:
    """Write the files of an index into an empty folder, to disk."""
    copied = Layout(fresh)
    copied.data.mkdir()
    store = Store(layout.root, read_only=True)
    try:
        store.copy_to(copied.truth)
    finally:
        store.close()
    for name in BESIDE:
        if (layout.root / name).is_file():
            shutil.copyfile(layout.root / name, fresh / name)
    for file in _files(fresh):
        with file.open("rb") as handle:
            os.fsync(handle.fileno())
    sync(copied.data)
    sync(fresh)


def _swap(fresh: Path, data: Path, old: Path) -> None:
    """Put new data in the place of what is there; a kill in between leaves the old data beside, whole."""
    data.rename(old)
    try:
        fresh.rename(data)
    except OSError:
        old.rename(data)
        raise
    sync(data.parent)


def _files(folder: Path) -> Iterator[Path]:
    return (file for file in folder.rglob("*") if file.is_file())


@contextmanager
def _fresh(goal: Path) -> Generator[Path]:
    """An empty folder beside a path, gone at the end unless it was renamed."""
    with named_faults(goal):
        goal.parent.mkdir(parents=True, exist_ok=True)
        fresh = goal.with_name(f".new-{uuid.uuid4().hex}")
        fresh.mkdir()
    try:
        yield fresh
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


def sync(folder: Path) -> None:
    """Have the names in a folder on disk."""
    if os.name == "nt":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
