"""Sources that the service keeps fresh: registered by name, read on demand, their changes held back where wanted."""

from __future__ import annotations

import difflib
import json
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from toolsearch.server.fetching import Source
from toolsearch.server.problems import Problem
from toolsearch.tool import ToolSpec

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from toolsearch.server.indexes import Served
    from toolsearch.server.state import StateFile

MAX_SOURCES: Final = 1_000
MAX_DIFF: Final = 200
"""Lines of one difference that are told."""
COLUMNS: Final = "source, body, state, tools, synced, error"


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """A source and how reading it went. `state` is new, ok or failed; `synced` in seconds since 1970."""

    source: Source
    state: str = "new"
    tools: int = 0
    synced: float | None = None
    error: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Synced:
    """What reading a source changed, by id; `held` waits to be approved, `refused` are ids of somebody else."""

    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    held: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()


class Sources:
    """The sources of a service, by index."""

    def __init__(self, state: StateFile) -> None:
        self._state = state

    def list(self, index: str) -> list[Known]:
        """All sources of an index, by name."""
        rows = self._state.read(f"SELECT {COLUMNS} FROM sources WHERE name = ? ORDER BY source", (index,))  # noqa: S608
        return [
            Known(source=Source.from_json(name, body), state=state, tools=tools, synced=synced, error=error)
            for name, body, state, tools, synced, error in rows
        ]

    def get(self, index: str, name: str) -> Known:
        """One source.

        Raises:
            Problem: there is none of this name.
        """
        found = next((known for known in self.list(index) if known.source.name == name), None)
        if found is None:
            raise Problem(404, f"there is no source {name[:80]!r} in the index {index!r}")
        return found

    def put(self, index: str, source: Source) -> None:
        """Register a source, or change the one of its name.

        Raises:
            Problem: there are too many.
        """
        with self._state.writing() as transaction:
            [count] = transaction.execute("SELECT count(*) FROM sources WHERE name = ?", (index,)).fetchone()
            if count >= MAX_SOURCES:
                raise Problem(409, f"an index has at most {MAX_SOURCES} sources")
            transaction.execute(
                "INSERT INTO sources VALUES (?, ?, ?, 'new', 0, NULL, '') "
                "ON CONFLICT (name, source) DO UPDATE SET body = excluded.body",
                (index, source.name, source.to_json()),
            )

    def note(self, index: str, known: Known) -> None:
        """Note how reading a source went."""
        values = (known.state, known.tools, known.synced, known.error[:500], index, known.source.name)
        self._state.read(
            "UPDATE sources SET state = ?, tools = ?, synced = ?, error = ? WHERE name = ? AND source = ?", values
        )

    def remove(self, served: Served, known: Known) -> None:
        """Forget a source, and take its tools out."""
        with served.changing():
            served.index.remove([spec.id for spec in tools_of(served, known.source)])
        with self._state.writing() as transaction:
            for table in ("sources", "held"):
                values = (served.name, known.source.name)
                transaction.execute(f"DELETE FROM {table} WHERE name = ? AND source = ?", values)  # noqa: S608

    def held(self, index: str, name: str) -> dict[str, ToolSpec]:
        """Tools of a source that wait to be approved, by id."""
        rows = self._state.read(
            "SELECT tool, body FROM held WHERE name = ? AND source = ? ORDER BY tool", (index, name)
        )
        return {tool: ToolSpec.from_json(body) for tool, body in rows}

    def sync(self, served: Served, known: Known, given: Sequence[ToolSpec]) -> Synced:
        """Make these the tools of a source; where its changes are held back, what is there stays."""
        with served.changing():
            there = {spec.id: spec for spec in tools_of(served, known.source)}
            own, refused = _own(served, given, there)
            held = _suspect(own, there) if known.source.hold_changes and known.synced is not None else {}
            kept = {tool: there.get(tool) if tool in held else spec for tool, spec in own.items()}
            specs = [spec for spec in kept.values() if spec is not None]
            done = served.index.replace(known.source.origin, specs)
            self._hold(served.name, known.source.name, held)
        self.note(served.name, replace(known, state="ok", tools=len(specs), synced=time.time(), error=""))
        return Synced(
            added=done.added, changed=done.changed, removed=done.removed, held=tuple(held), refused=tuple(refused)
        )

    def approve(self, served: Served, known: Known, tools: Iterable[str] | None) -> Synced:
        """Let held tools in, all of them or those named."""
        with served.changing():
            held = self.held(served.name, known.source.name)
            chosen = held if tools is None else {tool: held[tool] for tool in tools if tool in held}
            there = {spec.id: spec for spec in tools_of(served, known.source)}
            done = served.index.replace(known.source.origin, list({**there, **chosen}.values()))
            left = {tool: spec for tool, spec in held.items() if tool not in chosen}
            self._hold(served.name, known.source.name, left)
        self.note(served.name, replace(known, tools=len({**there, **chosen})))
        return Synced(added=done.added, changed=done.changed, held=tuple(left))

    def _hold(self, index: str, name: str, held: dict[str, ToolSpec]) -> None:
        with self._state.writing() as transaction:
            transaction.execute("DELETE FROM held WHERE name = ? AND source = ?", (index, name))
            rows = [(index, name, tool, spec.to_json()) for tool, spec in held.items()]
            transaction.executemany("INSERT INTO held VALUES (?, ?, ?, ?)", rows)


def tools_of(served: Served, source: Source) -> list[ToolSpec]:
    """The tools of a source that are in the catalog."""
    return list(served.index.view(filter={"eq": ["source", source.origin]}))


def difference(old: ToolSpec | None, new: ToolSpec) -> list[str]:
    """What changes in a tool, line by line."""
    before, after = ([] if spec is None else _lines(spec) for spec in (old, new))
    return [line[:300] for line in difflib.unified_diff(before, after, lineterm="", n=1)][2 : MAX_DIFF + 2]


def _lines(spec: ToolSpec) -> list[str]:
    return json.dumps(json.loads(spec.to_json()), indent=1, ensure_ascii=False).splitlines()


def _own(
    served: Served, given: Sequence[ToolSpec], there: dict[str, ToolSpec]
) -> tuple[dict[str, ToolSpec], list[str]]:
    """The tools a source may write, by id; and ids that something else has in the catalog."""
    own: dict[str, ToolSpec] = {}
    refused: list[str] = []
    for spec in given:
        if spec.id in own or (spec.id not in there and served.index.get(spec.id) is not None):
            refused.append(spec.id)
        else:
            own[spec.id] = spec
    return own, refused


def _suspect(own: dict[str, ToolSpec], there: dict[str, ToolSpec]) -> dict[str, ToolSpec]:
    """What is new or differs from what was let in before; the order of keys is no difference."""
    return {
        tool: spec for tool, spec in own.items() if tool not in there or there[tool].content_hash != spec.content_hash
    }
