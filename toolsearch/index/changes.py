"""Changing the catalog: what differs is found and written in one transaction, as one new generation."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from dataclasses import replace as replaced
from functools import cached_property
from itertools import pairwise
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

from toolsearch import text
from toolsearch.errors import DuplicateTool, IndexFault

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterable, Sequence

    from toolsearch.index.store import Entry, Store
    from toolsearch.protocols import Floats
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


@dataclass(frozen=True)
class Prepared:
    """A tool to be written, its canonical JSON and the hash of that, and who replaces it."""

    spec: ToolSpec
    body: str
    hash: str
    origin: str

    @classmethod
    def of(cls, spec: ToolSpec, origin: str) -> Prepared:
        """A tool that is ready.

        Raises:
            InvalidTool: it cannot be written as JSON.
        """
        return cls(spec, spec.to_json(), spec.content_hash, origin)

    @property
    def tool(self) -> str:
        """Its id."""
        return self.spec.id

    @cached_property
    def text(self) -> str:
        """What an encoder sees of it."""
        return text.encoder_text(self.spec)

    @cached_property
    def text_hash(self) -> str:
        """What its vector is kept under."""
        return hashlib.sha256(self.text.encode("utf-8", "surrogatepass")).hexdigest()


class Encoded(NamedTuple):
    """Vectors that come with tools, by hash of the encoder's text, and the encoder's id."""

    encoder: str = ""
    vectors: Mapping[str, Floats] = MappingProxyType({})


NOTHING: Final = Encoded()


class Staged(NamedTuple):
    """A tool whose body is in the truth already: its id, the hash of its JSON, and who replaces it."""

    tool: str
    hash: str
    origin: str


class Listed(Protocol):
    """A tool of a catalog to be written."""

    @property
    def tool(self) -> str:
        """Its id."""
        ...

    @property
    def hash(self) -> str:
        """The hash of its JSON."""
        ...

    @property
    def origin(self) -> str:
        """Who replaces it."""
        ...


@dataclass(slots=True, kw_only=True)
class _Plan:
    """Rows to end, tools to write with their places, and rows whose place moves."""

    ended: list[int]
    written: list[tuple[Listed, int]]
    moved: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    arranged: bool = False


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
        found[spec.id] = Prepared.of(spec, spec.source if origin is None else origin)
    return list(found.values())


def upsert(store: Store, tools: Sequence[Prepared], encoded: Encoded = NOTHING) -> Changes:
    """Add tools or change those with their ids; a changed tool goes to the end of the catalog."""
    with store.writing() as transaction:
        present = store.entries([one.tool for one in tools])
        _keep(transaction, [one for one in tools if _differs(one, present)], encoded)
        return _write(store, transaction, _appended(store, tools, present, {}), _changes(tools, present, {}))


def remove(store: Store, ids: Iterable[str]) -> Changes:
    """Take tools out; ids that are not there are ignored."""
    with store.writing() as transaction:
        gone = store.entries(list(dict.fromkeys(ids)))
        return _write(store, transaction, _appended(store, (), {}, gone), _changes((), {}, gone))


def replace(store: Store, origin: str, tools: Sequence[Prepared], encoded: Encoded = NOTHING) -> Changes:
    """Make these the tools of an origin: others of it leave, unchanged ones keep their place."""
    with store.writing() as transaction:
        present = store.entries()
        given = {one.tool for one in tools}
        gone = {tool: entry for tool, entry in present.items() if entry.origin == origin and tool not in given}
        taken = [(origin, present[tool].row) for tool in given if tool in present and present[tool].origin != origin]
        transaction.executemany("UPDATE entries SET origin = ? WHERE row = ?", taken)
        _keep(transaction, [one for one in tools if _differs(one, present)], encoded)
        return _write(store, transaction, _appended(store, tools, present, gone), _changes(tools, present, gone))


def arrange(store: Store, tools: Sequence[Staged], stays: Callable[[str, Entry], bool] | None = None) -> Changes:
    """Make these, in this order, the whole catalog; a changed tool stays where it is listed.

    Others of which it is told that they stay go behind them.

    Raises:
        IndexFault: bodies of some are gone; nothing changed.
    """
    with store.writing() as transaction:
        present = store.entries()
        others = staying(present, tools, stays)
        known = {one.tool for one in (*tools, *others)}
        gone = {tool: entry for tool, entry in present.items() if tool not in known}
        plan = _arranged(store, [*tools, *others], present, gone)
        return _write(store, transaction, plan, _changes(tools, present, gone))


def staying(
    present: Mapping[str, Entry], tools: Sequence[Staged], stays: Callable[[str, Entry], bool] | None
) -> list[Staged]:
    """Those of the catalog that are not among the tools, and of which it is told that they stay."""
    if stays is None:
        return []
    given = {one.tool for one in tools}
    others = ((tool, entry) for tool, entry in present.items() if tool not in given)
    return [Staged(tool, entry.hash, entry.origin) for tool, entry in others if stays(tool, entry)]


def _changes(tools: Sequence[Listed], present: Mapping[str, Entry], gone: Mapping[str, Entry]) -> Changes:
    added = tuple(one.tool for one in tools if one.tool not in present)
    changed = tuple(one.tool for one in tools if one.tool in present and _differs(one, present))
    unchanged = len(tools) - len(added) - len(changed)
    return Changes(added=added, changed=changed, removed=tuple(gone), unchanged=unchanged)


def _appended(store: Store, tools: Sequence[Listed], present: Mapping[str, Entry], gone: Mapping[str, Entry]) -> _Plan:
    """New and changed tools go to the end."""
    written = [one for one in tools if _differs(one, present)]
    changed = [present[one.tool].row for one in written if one.tool in present]
    start = int(store.meta("places") or 0)
    return _Plan(ended=[*changed, *_rows(gone)], written=[(one, start + n) for n, one in enumerate(written, 1)])


def _arranged(store: Store, tools: Sequence[Listed], present: Mapping[str, Entry], gone: Mapping[str, Entry]) -> _Plan:
    """Every tool goes to its place in the list; places stay when they fit."""
    plan = _appended(store, tools, present, gone)
    end = int(store.meta("places") or 0)
    places = [present[one.tool].place if one.tool in present else (end := end + 1) for one in tools]
    if any(first >= second for first, second in pairwise(places)):
        places = list(range(1, len(tools) + 1))
    where = {one.tool: place for one, place in zip(tools, places, strict=True)}
    plan.written = [(one, where[one.tool]) for one, _ in plan.written]
    changed = set(plan.ended)
    plan.moved = [
        (where[tool], entry.row)
        for tool, entry in present.items()
        if tool in where and where[tool] != entry.place and entry.row not in changed
    ]
    plan.arranged = bool(plan.moved) or any(one.tool in present for one, _ in plan.written)
    return plan


def _differs(one: Listed, present: Mapping[str, Entry]) -> bool:
    known = present.get(one.tool)
    return known is None or known.hash != one.hash


def keep_vectors(transaction: sqlite3.Connection, encoded: Encoded) -> None:
    """Write vectors of texts."""
    rows = [(encoded.encoder, key, one.astype("<f4").tobytes()) for key, one in encoded.vectors.items()]
    transaction.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?, ?)", rows)


def _keep(transaction: sqlite3.Connection, tools: Iterable[Prepared], encoded: Encoded) -> None:
    transaction.executemany(
        "INSERT OR IGNORE INTO bodies (hash, text, body) VALUES (?, ?, ?)",
        ((one.hash, one.text_hash, one.body) for one in tools),
    )
    keep_vectors(transaction, encoded)


def _rows(entries: Mapping[str, Entry]) -> list[int]:
    return [entry.row for entry in entries.values()]


def _write(store: Store, transaction: sqlite3.Connection, plan: _Plan, done: Changes) -> Changes:
    """Write a plan as one new generation; none when there is nothing to do."""
    generation = store.generation
    if not (plan.ended or plan.written or plan.moved):
        return replaced(done, generation=generation)
    generation += 1
    transaction.executemany("UPDATE entries SET died = ? WHERE row = ?", [(generation, row) for row in plan.ended])
    transaction.executemany("UPDATE entries SET place = ? WHERE row = ?", plan.moved)
    found = transaction.executemany(
        "INSERT INTO entries (tool, origin, body, place, born) SELECT ?, ?, number, ?, ? FROM bodies WHERE hash = ?",
        ((one.tool, one.origin, place, generation, one.hash) for one, place in plan.written),
    )
    if plan.written and found.rowcount != len(plan.written):
        raise IndexFault(
            f"{len(plan.written) - found.rowcount} tools left the database while it was built; build again"
        )
    counts = (len(done.added), len(done.changed), len(done.removed))
    transaction.execute("INSERT INTO changes VALUES (?, ?, ?, ?)", (generation, *counts))
    facts = {"generation": generation}
    if plan.arranged:
        facts["arranged"] = generation
    used = [place for _, place in plan.written] + [place for place, _ in plan.moved]
    facts["places"] = max([int(store.meta("places") or 0), *used])
    transaction.executemany("UPDATE meta SET value = ? WHERE key = ?", [(str(v), k) for k, v in facts.items()])
    return replaced(done, generation=generation)


def _nobody() -> bool:
    return False


def collect(store: Store, oldest: int, encoder: str | None, building: Callable[[], bool] = _nobody) -> None:
    """Delete what no generation from `oldest` on needs, and vectors of no tool or of another encoder.

    Nothing is deleted while somebody is `building`, for bodies and vectors come before the tools that have them.
    """
    with store.writing() as transaction:
        # Asked inside the transaction: who begins to build now can only write after it.
        if building():
            return
        gone = transaction.execute("DELETE FROM entries WHERE died IS NOT NULL AND died <= ?", (oldest,))
        if gone.rowcount:
            transaction.execute("INSERT OR REPLACE INTO meta VALUES ('collected', ?)", (str(oldest),))
        transaction.execute("DELETE FROM bodies WHERE number NOT IN (SELECT body FROM entries)")
        transaction.execute(
            "DELETE FROM vectors WHERE encoder <> coalesce(?, encoder) OR text NOT IN (SELECT text FROM bodies)",
            (encoder,),
        )
        transaction.execute("DELETE FROM lines WHERE body NOT IN (SELECT hash FROM bodies)")
        transaction.execute("DELETE FROM changes WHERE generation <= ?", (oldest - 1000,))
