"""Reads the sources that a command names; what is left out is told on standard error."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Final

from toolsearch.cli.formats import shown

if TYPE_CHECKING:
    from toolsearch.catalog.loaded import Problem
    from toolsearch.evaluation.judged import JudgedQuery
    from toolsearch.index.tool_index import ToolIndex
    from toolsearch.tool import Tool

DOUBTS: Final = 5
"""Tools that look wrong that are told of."""


class Doubts:
    """Tells on standard error what looks wrong with tools that are taken: the first few, then how many there are."""

    def __init__(self) -> None:
        self._count = 0

    def __call__(self, doubt: Problem) -> None:
        """Take one."""
        self._count += 1
        if self._count <= DOUBTS:
            print(f"note: {shown(str(doubt), 400)}", file=sys.stderr)

    def end(self) -> None:
        """Tell how many were not told."""
        if self._count > DOUBTS:
            print(f"note: and {self._count - DOUBTS} more of this kind", file=sys.stderr)


def read_sources(sources: Iterable[str | Path], *, keep_going: bool) -> tuple[Tool, ...]:
    """The tools of all sources, in order.

    Raises:
        InvalidInput: a source cannot be read, or (unless `keep_going`) one of its tools is not acceptable.
    """
    from toolsearch.catalog.loaded import Collector
    from toolsearch.catalog.sources import load

    collector = Collector(keep_going=keep_going)
    for source in sources:
        collector.extend(load(source, keep_going=keep_going), str(source))
    loaded = collector.loaded()
    for problem in loaded.problems:
        tell_left_out(problem)
    told = Doubts()
    for doubt in loaded.doubts:
        told(doubt)
    told.end()
    return loaded.tools


def tell_left_out(problem: Problem) -> None:
    """Say on standard error which tool was left out."""
    print(f"left out: {shown(str(problem), 400)}", file=sys.stderr)


def tell_strangers(index: ToolIndex, queries: Iterable[JudgedQuery]) -> None:
    """Say on standard error which judged tools the index does not have: they count as not found."""
    strangers = sorted({tool_id for query in queries for tool_id in query.relevant if index.origin(tool_id) is None})
    if strangers:
        named = ", ".join(shown(one, 80) for one in strangers[:3])
        print(f"judged tools that are not in this index: {len(strangers)}, such as {named}", file=sys.stderr)


def defined_sources(path: Path) -> list[str | Path] | None:
    """The sources of the index.toml in a folder, None when there is none.

    Raises:
        InvalidSource: the definition cannot be read, or a pattern in it matches nothing.
    """
    from toolsearch.index.definition import FILE, Definition

    return list(Definition.read(path / FILE).resolved()) if (path / FILE).is_file() else None
