"""Definitions that changed after they were known: reported with a diff, and held back until approved if so wished.

A server is trusted with what it listed first. Later it may change the text of a known tool, widen its parameters, or
bring the same text under another name. What is compared is what a model reads; the order of keys does not matter.
"""

from __future__ import annotations

import difflib
import hashlib
import json
import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, cast

from toolsearch.catalog.loaded import read_json
from toolsearch.errors import InvalidInput, InvalidSource, ToolSearchError
from toolsearch.tool import ToolSpec, canonical

MAX_DIFF: Final = 4_000
"""Characters of a diff that are kept."""
MAX_KEPT: Final = 10_000
"""Changes, approvals and tools that left, each; the oldest are forgotten."""
_READ: Final = ("name", "title", "description", "parameters", "output_schema", "annotations")


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A tool that is not what it was. `kind` is changed or renamed; `held` says that it is kept out until approved."""

    id: str
    source: str
    kind: str
    diff: str
    since: str
    held: bool
    before: str
    after: str


class Book:
    """What is known of changes, kept in a file when there is one. Used by one thread at a time.

    Raises:
        InvalidSource: the file cannot be read.
    """

    def __init__(self, path: Path | None = None, *, hold: bool = False) -> None:
        self._path, self._hold = path, hold
        self._read_at = -1
        self._changes: dict[str, Change] = {}
        self._approved: dict[str, str] = {}
        self._gone: dict[str, str] = {}
        self._load()

    def changes(self) -> list[Change]:
        """Changes in the order they were seen, those approved left out."""
        self._load()
        return list(self._changes.values())

    def approve(self, ids: Iterable[str]) -> None:
        """Let changed tools in, as they are now, from the next listing on.

        Raises:
            InvalidInput: a tool has no change that waits.
        """
        self._load()
        for tool_id in ids:
            change = self._changes.pop(tool_id, None)
            if change is None:
                raise InvalidInput(f"the tool {tool_id[:120]!r} has not changed; see: toolsearch mcp changes")
            self._approved[tool_id] = change.after
        self._save()

    def accepted(self, known: Mapping[str, ToolSpec], listed: Sequence[ToolSpec]) -> list[ToolSpec]:
        """The tools of a source's new listing that may be used; changes are noted. `known` were used so far."""
        self._load()
        before = (dict(self._changes), dict(self._gone))
        present = {spec.id for spec in listed}
        left = {spec.id: spec for spec in known.values() if spec.id not in present}
        names = {_read(spec, named=False): spec for spec in left.values()}
        found = [spec for spec in listed if self._accepts(spec, known.get(spec.id), names)]
        if self._hold:
            self._gone |= {spec.id: spec.to_json() for spec in left.values()}
        if before != (self._changes, self._gone):
            self._save()
        return found

    def _accepts(self, spec: ToolSpec, known: ToolSpec | None, left: Mapping[str, ToolSpec]) -> bool:
        noted, now = self._changes.get(spec.id), _read(spec)
        former, kind = self._former(spec.id, known, noted), "changed"
        if former is None:
            former, kind = left.get(_read(spec, named=False)), "renamed"
        if former is None:
            return True
        if _read(former) == now or self._approved.get(spec.id) == now:
            if noted is not None and noted.held:
                del self._changes[spec.id]
            self._gone.pop(spec.id, None)
            return True
        kind = noted.kind if noted is not None and noted.held else kind
        self._note(Change(id=spec.id, source=spec.source, kind=kind, diff=_diff(former, spec), since=_now(),
                          held=self._hold, before=former.to_json(), after=now))  # fmt: skip
        return not self._hold

    def _former(self, tool_id: str, known: ToolSpec | None, noted: Change | None) -> ToolSpec | None:
        """The tool as it was trusted last."""
        if noted is not None and noted.held:
            return ToolSpec.from_json(noted.before)
        if known is not None or tool_id not in self._gone:
            return known
        return ToolSpec.from_json(self._gone[tool_id])

    def _note(self, change: Change) -> None:
        noted = self._changes.get(change.id)
        if noted is None or noted.after != change.after:
            self._changes[change.id] = change

    def _load(self) -> None:
        stamp = _stamp(self._path)
        if self._path is None or stamp in (0, self._read_at):
            return
        try:
            body = cast("dict[str, Any]", read_json(self._path))
            self._changes = {one["id"]: Change(**one) for one in body["changes"]}
            self._approved, self._gone = dict(body["approved"]), dict(body["gone"])
        except (ToolSearchError, KeyError, TypeError, ValueError) as error:
            raise InvalidSource(
                f"{str(self._path)!r}, which remembers approved tools, is damaged ({str(error)[:120]}); "
                "remove it to trust what the servers list next"
            ) from None
        self._read_at = stamp

    def _save(self) -> None:
        for table in (self._changes, self._approved, self._gone):
            for key in list(table)[: len(table) - MAX_KEPT]:
                del table[key]
        if self._path is None:
            return
        body = {
            "changes": [asdict(one) for one in self._changes.values()],
            "approved": self._approved,
            "gone": self._gone,
        }
        self._path.parent.mkdir(parents=True, exist_ok=True)
        fresh = self._path.with_suffix(".tmp")
        fresh.write_text(json.dumps(body, ensure_ascii=False), "utf-8")
        os.replace(fresh, self._path)
        self._read_at = _stamp(self._path)


def held(changes: Iterable[Change], sources: Collection[str] | None = None) -> list[Change]:
    """The changes that keep a tool out."""
    return [one for one in changes if one.held and (sources is None or one.source in sources)]


def _read(spec: ToolSpec, *, named: bool = True) -> str:
    """A hash of what a model reads of a tool, with or without its name."""
    shown = {key: getattr(spec, key) for key in _READ if named or key != "name"}
    return hashlib.sha256(canonical(shown, what="a tool").encode()).hexdigest()


def _diff(before: ToolSpec, after: ToolSpec) -> str:
    lines = difflib.unified_diff(_lines(before), _lines(after), "before", "after", lineterm="", n=1)
    text = "\n".join(lines)
    return text if len(text) <= MAX_DIFF else text[:MAX_DIFF] + "\n..."


def _lines(spec: ToolSpec) -> list[str]:
    shown = {key: getattr(spec, key) for key in _READ}
    return json.dumps(shown, ensure_ascii=False, indent=1, sort_keys=True).splitlines()


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _stamp(path: Path | None) -> int:
    try:
        return 0 if path is None else path.stat().st_mtime_ns
    except OSError:
        return 0
