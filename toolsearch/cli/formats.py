"""What commands print, as text. Nothing here prints."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, cast

from toolsearch.protocols import Hit, SearchResult
from toolsearch.tool import ToolSpec

WIDTH = 96


def result(found: SearchResult) -> str:
    """Hits with their first line of description and why each is there."""
    lines = [_hit(rank, hit) for rank, hit in enumerate(found, 1)]
    head = f"{len(found)} found, confidence {found.band}" if found.hits else "nothing fits"
    return "\n".join([*lines, head, *(f"note: {note}" for note in found.notes)])


def _hit(rank: int, hit: Hit) -> str:
    reasons = ", ".join(
        f"{one.kind} {one.points:+.2f}{f' ({one.detail})' if one.detail else ''}" for one in hit.reasons
    )
    text = short(hit.tool.description or hit.tool.title or "")
    return f"{rank:>2}. {hit.id}  {hit.score:.2f}\n    {text}\n    why: {short(reasons, 2 * WIDTH)}"


def result_json(found: SearchResult) -> dict[str, Any]:
    """The same as one JSON object."""
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
    return {"hits": hits, **estimate, "generation": found.generation, "notes": list(found.notes)}


def tool(spec: ToolSpec) -> str:
    """A tool for people: what it does and its parameters."""
    required = set(spec.parameters.get("required", []))
    properties: Mapping[str, Any] = spec.parameters.get("properties", {})
    lines = [spec.id, f"  {spec.title}" if spec.title else "", f"  {spec.description}"]
    lines += [_parameter(name, body, name in required) for name, body in properties.items()]
    more = {"tags": spec.tags, "aliases": spec.aliases, "groups": spec.groups, "source": spec.source}
    lines += [
        f"  {name}: {value if isinstance(value, str) else ', '.join(value)}" for name, value in more.items() if value
    ]
    return "\n".join(line for line in lines if line.strip())


def _parameter(name: str, body: Any, required: bool) -> str:
    schema = cast("dict[str, Any]", body) if isinstance(body, dict) else {}
    kind = "|".join(map(str, schema["enum"])) if "enum" in schema else str(schema.get("type", "any"))
    mark = "" if required else "?"
    return f"    {name}{mark}: {short(kind, 40)}  {short(str(schema.get('description', '')))}".rstrip()


def rows(table: Sequence[Sequence[object]]) -> str:
    """Columns padded to the same width."""
    texts = [[str(cell) for cell in row] for row in table]
    widths = [max(len(row[column]) for row in texts) for column in range(len(texts[0]))] if texts else []
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in texts
    )


def short(text: str, width: int = WIDTH) -> str:
    """The text on one line, cut at a width with a mark; control characters do not reach a terminal."""
    line = "".join(char if char.isprintable() else " " for char in " ".join(text.split()))
    return line if len(line) <= width else f"{line[: width - 1]}…"


def as_json(value: object) -> str:
    """Indented JSON, characters as they are."""
    return json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False)
