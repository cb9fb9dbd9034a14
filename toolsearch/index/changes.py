"""Changing the catalog: what differs is found and written in one transaction, as one new generation."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from toolsearch import text
from toolsearch.errors import DuplicateTool

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Mapping, Sequence

    from toolsearch.index.store import Entry, Store
    from toolsearch.tool import ToolSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """What a change did to the catalog, by id; `unchanged` counts given tools that were there already."""

    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    unchanged: int = 0
    generation: int = 0

    def __bool__(self) -> bool:
        return bool(self.added or self.changed or self.removed)


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """A tool as it is written: canonical JSON and its hash, the encoder's text and its hash."""

    tool: str
    body: str
    hash: str
    text: str
    text_hash: str
    origin: str


@dataclass(slots=True)
class _Plan:
    """Rows to end, and tools to add at the end of the catalog."""

    ended: list[int] = field(default_factory=list[int])
    written: list[Prepared] = field(default_factory=list[Prepared])


def prepared(specs: Iterable[ToolSpec], origin: str | None = None) -> list[Prepared]:
    """Tools ready to be written; `origin` is who replaces them together, by default each one's source.

    Raises:
        DuplicateTool: two tools have one id.
        InvalidTool: one cannot be written as JSON.
    """
    found: dict[str, Prepared] = {}
    for spec in specs:
        if spec.id in found:
            raise DuplicateTool(f"two tools have the id {spec.id[:200]!r}; give one another name, namespace or id")
        found[spec.id] = _prepared(spec, spec.source if origin is None else origin)
    return list(found.values())


def _prepared(spec: ToolSpec, origin: str) -> Prepared:
    body, words = spec.to_json(), text.encoder_text(spec)
    return Prepared(tool=spec.id, body=body, hash=_sha(body), text=words, text_hash=_sha(words), origin=origin)


def _sha(value: str) -> str:
    return hashlib.sha256(value.encode("utf-8", "surrogatepass")).hexdigest()


def upsert(store: Store, tools: Sequence[Prepared]) -> Changes:
    """Add tools or change those with their ids; a changed tool goes to the end of the catalog."""
    with store.writing() as transaction:
        return _apply(store, transaction, tools, store.entries([one.tool for one in tools]), {})


def remove(store: Store, ids: Iterable[str]) -> Changes:
    """Take tools out; ids that are not there are ignored."""
    with store.writing() as transaction:
        gone = store.entries(list(dict.fromkeys(ids)))
        return _apply(store, transaction, (), {}, gone)


def replace(store: Store, origin: str, tools: Sequence[Prepared]) -> Changes:
    """Make these the tools of an origin: others of it leave, unchanged ones keep their place."""
    with store.writing() as transaction:
        present = store.entries()
        given = {one.tool for one in tools}
        gone = {tool: entry for tool, entry in present.items() if entry.origin == origin and tool not in given}
        moved = [(origin, present[tool].row) for tool in given if tool in present and present[tool].origin != origin]
        transaction.executemany("UPDATE entries SET origin = ? WHERE row = ?", moved)
        return _apply(store, transaction, tools, present, gone)


def arrange(store: Store, tools: Sequence[Prepared]) -> Changes:
    """Make these, in this order, the whole catalog."""
    with store.writing() as transaction:
        present = store.entries()
        given = {one.tool for one in tools}
        gone = {tool: entry for tool, entry in present.items() if tool not in given}
        return _apply(store, transaction, tools, present, gone, ordered=True)


def _apply(
    store: Store,
    transaction: sqlite3.Connection,
    tools: Sequence[Prepared],
    present: Mapping[str, Entry],
    gone: Mapping[str, Entry],
    *,
    ordered: bool = False,
) -> Changes:
    """Write what differs; `present` holds at least the entries of the given tools, `gone` those that leave."""
    added = [one for one in tools if one.tool not in present]
    changed = [one for one in tools if one.tool in present and present[one.tool].hash != one.hash]
    plan = _Plan([present[one.tool].row for one in changed] + [entry.row for entry in gone.values()])
    plan.written = [one for one in tools if one.tool not in present or present[one.tool].hash != one.hash]
    if ordered and not _in_order(tools, present, plan.written):
        plan = _Plan([entry.row for entry in present.values()], list(tools))
    generation = store.generation
    if plan.ended or plan.written:
        generation += 1
        _write(transaction, generation, plan, (len(added), len(changed), len(gone)))
    return Changes(
        added=tuple(one.tool for one in added),
        changed=tuple(one.tool for one in changed),
        removed=tuple(gone),
        unchanged=len(tools) - len(added) - len(changed),
        generation=generation,
    )


def _in_order(tools: Sequence[Prepared], present: Mapping[str, Entry], written: Sequence[Prepared]) -> bool:
    """Whether unchanged tools in their old order, then the written ones, are the order that was asked for."""
    new = {one.tool for one in written}
    given = {one.tool for one in tools}
    result = [tool for tool in present if tool in given and tool not in new] + [one.tool for one in written]
    return result == [one.tool for one in tools]


def _write(transaction: sqlite3.Connection, generation: int, plan: _Plan, counts: tuple[int, int, int]) -> None:
    transaction.executemany("UPDATE entries SET died = ? WHERE row = ?", [(generation, row) for row in plan.ended])
    transaction.executemany(
        "INSERT OR IGNORE INTO bodies (hash, text, body) VALUES (?, ?, ?)",
        [(one.hash, one.text_hash, one.body) for one in plan.written],
    )
    transaction.executemany(
        "INSERT INTO entries (tool, origin, body, born) SELECT ?, ?, number, ? FROM bodies WHERE hash = ?",
        [(one.tool, one.origin, generation, one.hash) for one in plan.written],
    )
    transaction.execute("INSERT INTO changes VALUES (?, ?, ?, ?)", (generation, *counts))
    transaction.execute("UPDATE meta SET value = ? WHERE key = 'generation'", (str(generation),))


def collect(store: Store, oldest: int, encoder: str | None) -> None:
    """Delete what no generation from `oldest` on needs, and vectors of no tool or of another encoder."""
    with store.writing() as transaction:
        transaction.execute("DELETE FROM entries WHERE died IS NOT NULL AND died <= ?", (oldest,))
        transaction.execute("DELETE FROM bodies WHERE number NOT IN (SELECT body FROM entries)")
        transaction.execute(
            "DELETE FROM vectors WHERE encoder <> coalesce(?, encoder) OR text NOT IN (SELECT text FROM bodies)",
            (encoder,),
        )
        transaction.execute("DELETE FROM changes WHERE generation <= ?", (oldest - 1000,))


def retext(store: Store, tools: Sequence[Prepared]) -> None:
    """Write the hashes of the encoder's texts anew, after the analyser changed."""
    with store.writing() as transaction:
        transaction.executemany(
            "UPDATE bodies SET text = ? WHERE hash = ? AND text <> ?",
            [(one.text_hash, one.hash, one.text_hash) for one in tools],
        )
