"""The process that rebuilds an index, as `toolsearch index build` does, from its definition.

Tools that came by requests, from registered sources or from those of the gateway stay. Searches and other changes go
on meanwhile; what is built shows as one change.
"""

from __future__ import annotations

import sys
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from toolsearch.errors import ToolSearchError
from toolsearch.index.building import Order, build
from toolsearch.server.jobs import Jobs
from toolsearch.server.ledger import Ledger
from toolsearch.server.sources import Sources
from toolsearch.server.state import StateFile

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def main(state: Path, job: str, path: Path, origins: Sequence[str]) -> None:
    """Do one job; `origins` are those of the gateway's tools."""
    file, name = StateFile(state), path.resolve().name
    jobs = Jobs(file)
    try:
        rebuilt(path, _kept(file, name, origins), partial(jobs.tell, job))
        file.ask_reload(name)  # the definition may name another encoder now
        jobs.end(job)
    except (ToolSearchError, OSError) as error:
        jobs.end(job, str(error) or type(error).__name__)
    finally:
        file.close()


def rebuilt(path: Path, kept: Callable[[str, str], bool], told: Callable[[str, int, int], None]) -> None:
    """Bring an index up to date with its definition; without sources only vectors and arrays are made anew.

    Raises:
        InvalidInput: a source cannot be read, or one of its tools is not acceptable; nothing changed.
        IndexBusy: it is being built already.
    """
    told("read", 0, 0)
    build(path, Order(tools=None, kept=kept, progress=lambda at: told(at.stage, at.done, at.total)))


def _kept(file: StateFile, name: str, origins: Sequence[str] = ()) -> Callable[[str, str], bool]:
    """What tells tools that have nothing to do with the definition, by id and origin, as known when first asked."""

    @cache
    def known() -> tuple[set[str], set[str]]:
        return Ledger(file).tools(name), {*origins, *(one.source.origin for one in Sources(file).list(name))}

    return lambda tool, origin: tool in known()[0] or origin in known()[1]


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3]), sys.argv[4:])
