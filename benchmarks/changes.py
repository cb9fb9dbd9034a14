"""The requests that two runs answer differently: what was asked, what each put first, where the right tools are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from toolsearch.evaluation.comparison import Difference
from toolsearch.evaluation.judged import JudgedQuery
from toolsearch.evaluation.runs import Answer
from toolsearch.evaluation.tables import table

HEAD = ("change", "request", "right", "A first", "rank in A", "B first", "rank in B")
TEXT = 100
"""Characters that are shown of a request, and of a tool's id."""
RIGHT = 4
"""Right tools of one request that are shown."""


class Compared(NamedTuple):
    """One task in two runs: what was asked, what each answered, and the difference."""

    queries: Sequence[JudgedQuery]
    a: Sequence[Answer]
    b: Sequence[Answer]
    difference: Difference


def changes(found: Compared, most: int) -> str:
    """A Markdown table of at most `most` requests, the largest change first; empty when nothing changed.

    A rank is that of the right tool; of several, one each, best first. A tool that was not found has "-".
    """
    changed = found.difference.changed
    if not changed or most < 1:
        return ""
    asked = {query.id: query for query in found.queries}
    runs = [{answer.id: [tool for tool, _ in answer.hits] for answer in answers} for answers in (found.a, found.b)]
    rows = [_row(asked[key], gap, *runs) for key, gap in changed[:most]]
    left = len(changed) - len(rows)
    return table(HEAD, rows) + (f"\n\nand {left:,} more" if left else "")


def _row(query: JudgedQuery, gap: float, *runs: Mapping[str, Sequence[str]]) -> list[str]:
    right = list(query.relevant)
    names = ", ".join(_shown(tool) for tool in right[:RIGHT]) + (" ..." if len(right) > RIGHT else "")
    cells = [f"{gap:+.1f}", _shown(f"{query.id}: {query.query}"), names]
    for run in runs:
        found = run.get(query.id, ())
        cells += [_shown(found[0]) if found else "nothing", _ranks(found, right)]
    return cells


def _ranks(found: Sequence[str], right: Sequence[str]) -> str:
    ranks = sorted(found.index(tool) + 1 for tool in right if tool in found)
    return ", ".join([*map(str, ranks), *["-"] * (len(right) - len(ranks))][:RIGHT])


def _shown(text: str) -> str:
    """On one line, cut, and without what parts the cells of a table."""
    plain = " ".join(text.split()).replace("|", "\\|")
    return plain if len(plain) <= TEXT else plain[: TEXT - 1] + "…"
