"""The process that rebuilds an index: reads its sources, changes what differs, and writes its arrays anew.

Tools that came by requests or from registered sources stay. Every step is a change of its own, so that searches and
other changes go on meanwhile.
"""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from toolsearch.errors import ToolSearchError
from toolsearch.index.building import from_sources
from toolsearch.index.definition import Definition
from toolsearch.index.tool_index import ToolIndex
from toolsearch.server.jobs import Jobs
from toolsearch.server.ledger import Ledger
from toolsearch.server.sources import Sources
from toolsearch.server.state import StateFile

if TYPE_CHECKING:
    from collections.abc import Callable

    from toolsearch.tool import ToolSpec

CHUNK: Final = 128


def main(state: Path, job: str, path: Path, name: str) -> None:
    """Do one job."""
    file = StateFile(state)
    jobs = Jobs(file)
    try:
        with ToolIndex.open(path) as index:
            rebuilt(index, path, _kept(file, name), partial(jobs.tell, job))
        jobs.end(job)
    except (ToolSearchError, OSError) as error:
        jobs.end(job, str(error) or type(error).__name__)
    finally:
        file.close()


def rebuilt(
    index: ToolIndex, path: Path, kept: Callable[[ToolSpec], bool], told: Callable[[str, int, int], None]
) -> None:
    """Bring an index up to date with its definition; without sources only vectors and arrays are made anew."""
    told("read", 0, 0)
    there = list(index.view())
    given = _defined(path)
    wanted = there if given is None else given
    for start in range(0, len(wanted), CHUNK):
        index.upsert(wanted[start : start + CHUNK])
        told("encode", min(start + CHUNK, len(wanted)), len(wanted))
    if given is not None:
        ids = {spec.id for spec in given}
        index.remove([spec.id for spec in there if spec.id not in ids and not kept(spec)])
    told("write", 0, 1)
    index.verify(repair=True)
    told("write", 1, 1)


def _defined(path: Path) -> list[ToolSpec] | None:
    """The tools of the definition's sources; None when it has none."""
    if not (path / "index.toml").is_file():
        return None
    definition = Definition.read(path)
    return from_sources(definition) if definition.sources else None


def _kept(file: StateFile, name: str) -> Callable[[ToolSpec], bool]:
    """What tells tools that have nothing to do with the definition."""
    written = Ledger(file).tools(name)
    origins = {known.source.origin for known in Sources(file).list(name)}
    return lambda spec: spec.id in written or spec.source in origins


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3]), sys.argv[4])
