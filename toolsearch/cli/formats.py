"""What commands print, as text. Nothing here prints."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, cast

if TYPE_CHECKING:
    from pathlib import Path

    from toolsearch.index.changes import Changes
    from toolsearch.index.reports import Status
    from toolsearch.protocols import Hit, Reason, SearchResult
    from toolsearch.tool import ToolSpec

WIDTH: Final = 96
MAX_TEXT: Final = 4_000
"""Characters of a description, and of any line, that are shown of one tool."""


def format_result(found: SearchResult) -> str:
    """Hits with the start of their description and why each is there."""
    several = len(found.needs) > 1
    lines = [format_hit(rank, hit, found.needs[hit.need] if several else "") for rank, hit in enumerate(found, 1)]
    if not found.hits:
        lines.append("nothing fits")
    elif found.confidence is not None:
        lines.append(f"confidence: {found.band}")
    return "\n".join([*lines, *format_notes(found.notes)])


def format_hit(rank: int, hit: Hit, need: str = "") -> str:
    """One hit in three lines, and one that tells the need it serves where there are several."""
    why = ", ".join(format_reason(one) for one in hit.reasons if one.detail or abs(one.points) >= 0.005)
    text = shown(hit.tool.description or hit.tool.title or "(no description)")
    told = f"\n    for: {shown(need)}" if need else ""
    return f"{rank:>2}. {shown(hit.id)}  {hit.score:.2f}\n    {text}\n    why: {shown(why, 2 * WIDTH)}{told}"


def format_reason(one: Reason) -> str:
    """Such as `words +0.60 (refund: name)`."""
    return f"{one.kind} {one.points:+.2f}{f' ({one.detail})' if one.detail else ''}"


def format_notes(notes: Sequence[str]) -> list[str]:
    """Notes, one a line."""
    return [f"note: {shown(note, 400)}" for note in notes]


def result_json(found: SearchResult) -> dict[str, Any]:
    """A result as a JSON object."""
    hits = [
        {
            "id": hit.id,
            "score": hit.score,
            "need": hit.need,
            "name": hit.tool.name,
            "description": hit.tool.description,
            "reasons": [{"kind": r.kind, "points": r.points, "detail": r.detail} for r in hit.reasons],
        }
        for hit in found
    ]
    estimate = {"confidence": found.confidence, "band": found.band, "shortfall": found.shortfall}
    told = {"needs": list(found.needs), "notes": list(found.notes)}
    return {"hits": hits, **estimate, "generation": found.generation, **told}


def format_tool(spec: ToolSpec) -> str:
    """A tool for people: what it does and what it takes."""
    required, properties = _listed(spec.parameters.get("required")), _mapped(spec.parameters.get("properties"))
    lines = [spec.id, spec.title or "", *spec.description[:MAX_TEXT].splitlines()]
    lines += [format_parameter(name, body, name in required) for name, body in properties.items()]
    more = {"tags": spec.tags, "aliases": spec.aliases, "groups": spec.groups, "source": (spec.source,)}
    lines += [f"{name}: {', '.join(values)}" for name, values in more.items() if any(values)]
    return "\n".join(
        f"{'  ' if place else ''}{shown(line, MAX_TEXT)}" for place, line in enumerate(lines) if line.strip()
    )


def format_parameter(name: str, body: object, required: bool) -> str:
    """Such as `amount?: integer - in cents`; the mark says that it may be left out."""
    schema = _mapped(body)
    choices = _listed(schema.get("enum"))
    kind = "|".join(map(str, choices)) if choices else str(schema.get("type", "any"))
    text = str(schema.get("description", ""))
    return f"{name}{'' if required else '?'}: {shown(kind, 60)}{f' - {shown(text)}' if text else ''}"


def _mapped(value: object) -> Mapping[str, Any]:
    """A schema may hold anything anywhere: what is no object is shown as an empty one."""
    return cast("Mapping[str, Any]", value) if isinstance(value, dict) else {}


def _listed(value: object) -> Sequence[object]:
    return cast("Sequence[object]", value) if isinstance(value, list) else ()


def format_changes(path: Path, tools: int, done: Changes) -> str:
    """What a change did, in one line."""
    counts = f"{len(done.added)} added, {len(done.changed)} changed, {done.unchanged} unchanged"
    return f"{path}: {tools} tools ({counts}, {len(done.removed)} removed)"


def status_json(status: Status) -> dict[str, Any]:
    """What an index says of itself."""
    facts = {name: getattr(status, name) for name in ("tools", "generation", "encoder", "analyser", "format")}
    return {**facts, "notes": list(status.notes)}


def format_status(status: Status) -> str:
    """What an index says of itself, a fact a line."""
    facts = status_json(status)
    notes = facts.pop("notes")
    return "\n".join([format_rows(list(facts.items())), *format_notes(notes)])


def format_rows(table: Sequence[Sequence[object]]) -> str:
    """Columns padded to the same width."""
    texts = [[shown(str(cell), 400) for cell in row] for row in table]
    widths = [max(map(len, column)) for column in zip(*texts, strict=True)]
    padded = [[cell.ljust(width) for cell, width in zip(row, widths, strict=True)] for row in texts]
    return "\n".join("  ".join(row).rstrip() for row in padded)


def shown(text: str, width: int = WIDTH) -> str:
    """The text on one line, cut at a width with a mark; what would steer a terminal is left out."""
    line = printable(" ".join(text[: 4 * width].split()))
    return line if len(line) <= width else f"{line[: width - 1]}…"


def printable(line: str) -> str:
    """The line with spaces for what would steer a terminal, such as escapes and changes of direction."""
    return "".join(char if char.isprintable() else " " for char in line)


def as_json(value: object) -> str:
    """Indented JSON, characters as they are."""
    return json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False)
