"""What an index tells about itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from toolsearch import text
from toolsearch.engines.nearest import LEAST
from toolsearch.errors import IndexFault, InvalidInput, InvalidTool
from toolsearch.index import derived
from toolsearch.index.layout import FORMAT
from toolsearch.tool import ToolSpec

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from toolsearch.index.opening import Parts
    from toolsearch.index.state import State
    from toolsearch.index.store import Store
    from toolsearch.protocols import ToolView

MAX_PAGE: Final = 1000
MAX_CURSOR: Final = 18


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """`encoder` is the id that vectors are kept under, "" without. `notes` say what does not fit, and what mends it."""

    tools: int
    generation: int
    strategy: str
    encoder: str
    analyser: str
    format: int
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """Tools in catalog order; `next_cursor` gets the next page, None at the end."""

    tools: tuple[ToolSpec, ...]
    next_cursor: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What a check of all files found.

    `recall` is the share of the exact ten best that approximate search finds, None where search is exact.
    """

    ok: bool
    problems: tuple[str, ...] = ()
    recall: float | None = None


def status(parts: Parts, notes: tuple[str, ...]) -> Status:
    """What an opened index is."""
    corpus = parts.keeper.current().corpus
    bare = corpus.unvectored
    lacking = 0 if bare is None else int(np.count_nonzero(bare[corpus.rows(corpus.everyone())]))
    mend = f"; to encode them: {parts.layout.mend}" if parts.layout else ""
    more = (f"{lacking} tools have no vector and are found by their words only{mend}",) if lacking else ()
    return Status(
        tools=len(corpus),
        generation=corpus.generation,
        strategy=strategy(parts),
        encoder=parts.reader.meta("encoder") or "",
        analyser=text.ANALYSER,
        format=FORMAT,
        notes=(*parts.notes, *parts.keeper.notes, *notes, *more),
    )


def strategy(parts: Parts) -> str:
    """The strategy that searches use when they name none: the definition's, else hybrid."""
    return parts.definition.strategy if parts.definition else "hybrid"


def row_numbers(state: State, view: ToolView) -> NDArray[np.int64] | None:
    """What differs when a view's caller sees other tools, (n,) int64; None when the state is another.

    For whoever sees all it is the generation; else the numbers of the rows in catalog order. A number is given once
    and never again: a tool that changes gets a new one.
    """
    if state.corpus is not view.corpus:
        return None
    if view.allowed == state.corpus.everyone():
        return np.array([-1, state.corpus.generation], np.int64)
    return np.concatenate([state.base.rows.rows, state.delta.rows.rows])[state.corpus.rows(view.allowed)]


def origin(parts: Parts, tool_id: str) -> str | None:
    """What replaces a tool, together with others; None when there is no such tool."""
    entry = parts.reader.entries([tool_id]).get(tool_id)
    return None if entry is None else entry.origin


def verified(parts: Parts) -> Report:
    """Read every file, and measure approximate search against exact search."""
    found = problems(parts)
    dense = parts.keeper.current().corpus.dense
    recall = None if dense is None else dense.recall()
    if recall is not None and recall < LEAST:
        found.append(f"approximate search finds only {recall:.3f} of the ten best; below {LEAST} it must be made anew")
    return Report(ok=not found, problems=tuple(found), recall=recall)


def problems(parts: Parts) -> list[str]:
    """Everything that is wrong in the files of an index: the database, its tools, the derived arrays."""
    try:
        found = _wrong_in_truth(parts.reader)
    except IndexFault as fault:
        return [str(fault)]
    if parts.layout is not None:
        folder = derived.newest(parts.layout)
        found += ["there are no derived files"] if folder is None else derived.damage(folder)
    return found + _astray(parts)


def _astray(parts: Parts) -> list[str]:
    """Whether what is searched is what the truth lists."""
    state = parts.keeper.current()
    there = np.concatenate([state.base.rows.rows[state.live], state.delta.rows.rows])
    differing = len(np.setxor1d(there, parts.reader.rows(state.corpus.generation).rows))
    return [f"{differing} tools are searched and not in the database, or the other way round"] if differing else []


def _wrong_in_truth(store: Store) -> list[str]:
    answers = [str(row[0]) for row in store.read("PRAGMA integrity_check(20)")]
    found = [f"the database: {answer}" for answer in answers if answer != "ok"]
    for number, kept, body in store.read("SELECT number, hash, body FROM bodies"):
        try:
            same = ToolSpec.from_json(str(body)).content_hash == kept
        except InvalidTool:
            same = False
        if not same:
            found.append(f"tool body {number} does not fit its checksum")
    return found[:20]


def page(state: State, view: ToolView, cursor: str | None, limit: int) -> Page:
    """The tools of a view after a cursor, which is a place in the truth.

    Raises:
        InvalidInput: the limit or the cursor is not acceptable.
    """
    if not 1 <= limit <= MAX_PAGE:
        raise InvalidInput(f"a page has 1 to {MAX_PAGE} tools, not {limit}")
    if cursor is not None and not (cursor.isascii() and cursor.isdigit() and len(cursor) <= MAX_CURSOR):
        raise InvalidInput(f"{cursor!r:.80} is no cursor; take next_cursor of the page before")
    rows = state.corpus.rows(view.allowed)
    if view.kept is not None:
        rows = rows[view.kept[rows]]
    places = state.places[rows]
    start = int(np.searchsorted(places, int(cursor or 0), "right"))
    chosen = rows[start : start + limit]
    more = start + limit < len(rows)
    return Page(
        tools=tuple(state.corpus.tool(int(row)) for row in chosen),
        next_cursor=str(int(places[start + limit - 1])) if more else None,
    )
