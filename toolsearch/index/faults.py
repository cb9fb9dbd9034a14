"""What SQLite and the file system report, as errors of an index that say the way out."""

from __future__ import annotations

import errno
import sqlite3
from contextlib import contextmanager
from typing import TYPE_CHECKING

from toolsearch.errors import IndexBusy, IndexDamaged, IndexFault, IndexReadOnly

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

FULL = (errno.ENOSPC, errno.EDQUOT)


@contextmanager
def named_faults(root: Path | None) -> Generator[None]:
    """Turn errors of the database and the disk into errors of the index at `root` (None: in memory).

    Raises:
        IndexFault: with what went wrong and what to do.
    """
    where = "the index in memory" if root is None else f"index {str(root)!r}"
    try:
        yield
    except sqlite3.OperationalError as error:
        raise _operational(error, where) from error
    except sqlite3.DatabaseError as error:
        raise _damaged(error, where) from error
    except OSError as error:
        raise _of_disk(error, where) from error


def _operational(error: sqlite3.OperationalError, where: str) -> IndexFault:
    text = str(error)
    if "locked" in text or "busy" in text:
        return IndexBusy(f"{where} is being changed by another process; try again in a moment")
    if "readonly" in text or "read-only" in text:
        return IndexReadOnly(f"{where} may only be read; make its folder writable to change it")
    if "full" in text:
        return _no_space(where)
    if "unable to open" in text or "disk I/O" in text:
        return IndexFault(f"{where} cannot be read or written ({text}); check its folder's permissions and the disk")
    return _damaged(error, where)


def _damaged(error: sqlite3.DatabaseError, where: str) -> IndexDamaged:
    return IndexDamaged(
        f"the database of {where} is damaged ({str(error)[:120]}); put back a copy of data/truth.sqlite, or delete "
        "its data folder and build it again from its sources: toolsearch index build PATH"
    )


def _of_disk(error: OSError, where: str) -> IndexFault:
    if error.errno in FULL:
        return _no_space(where)
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return IndexReadOnly(f"{where} may only be read ({error.filename}); make its folder writable to change it")
    return IndexFault(f"{where} cannot be read or written: {error}")


def _no_space(where: str) -> IndexFault:
    return IndexFault(
        f"no space left on the disk of {where}; what was there before still works: free some and run it again"
    )
