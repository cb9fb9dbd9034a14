"""What is trained on: catalogs with judged requests, without those that are kept for measuring."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, cast

from toolsearch.catalog.sources import load
from toolsearch.errors import InvalidSource, LimitExceeded
from toolsearch.evaluation.judged import JudgedQuery, read_queries
from toolsearch.tool import ToolSpec
from toolsearch.training.recipe import Part

OWN: Final = "own"
"""The source that is our own text: files in which tools and requests stand line by line."""
TEXT: Final = Path(__file__).parent / "text"
HOME: Final = "|"
PARTS: Final = "parts.json"
MAX_FILE: Final = 100_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """One catalog and judged requests on it. `name` begins with the part's name."""

    name: str
    tools: tuple[ToolSpec, ...]
    queries: tuple[JudgedQuery, ...]


def sources(data: Path, parts: Iterable[Part], seed: int) -> Iterator[Source]:
    """The sources to train on, as much of each as its part says, chosen by the seed.

    Requests that `parts.json` of the data folder keeps for measuring are left out, and so are others of the same text.

    Raises:
        InvalidSource: a source is missing or broken.
    """
    kept = _kept(data)
    for part in parts:
        if part.name == OWN:
            for source in (own_text(path) for path in sorted(TEXT.glob("*.jsonl"))):
                yield replace(source, queries=tuple(_chosen(list(source.queries), part, seed)))
            continue
        source = _read(data / part.name, part.name)
        held = kept.get(part.name, {})
        told = {one.query for one in source.queries if one.id in held}
        free = [one for one in source.queries if one.id not in held and one.query not in told]
        yield replace(source, queries=tuple(_chosen(free, part, seed)))


def measured(data: Path) -> Iterator[Source]:
    """What `parts.json` keeps for measuring, one source a part; the name is `set/part`."""
    for name, held in _kept(data).items():
        source = _read(data / name, name)
        for part in dict.fromkeys(held.values()):
            mine = tuple(one for one in source.queries if held.get(one.id) == part)
            yield replace(source, name=f"{name}/{part}", queries=mine)


def own_text(path: Path) -> Source:
    """A catalog and its requests from a file of our own text.

    Lines are `{"kind": "tool", "id", "server", "name", "description", "parameters"}` and `{"kind": "request", "id",
    "lang", "text", "relevant", "style"}`; a request without relevant tools has none in its catalog.

    Raises:
        InvalidSource: a line is broken, or a request names a tool that the file does not hold.
    """
    tools: dict[str, ToolSpec] = {}
    queries: list[JudgedQuery] = []
    for where, body in _lines(path):
        if body.get("kind") == "tool":
            spec = _tool(body, where)
            tools[spec.id] = spec
        else:
            queries.append(_query(body, where))
    for query in queries:
        if strangers := set(query.relevant) - set(tools):
            raise InvalidSource(f"{path.name}: request {query.id[:80]!r} wants {min(strangers)[:80]!r}, not there")
    return Source(name=f"{OWN}/{path.stem}", tools=tuple(tools.values()), queries=tuple(queries))


def joined(found: Sequence[Source], groups: int) -> list[Source]:
    """Our own sources as fewer, larger catalogs, so that what search finds is harder to tell apart; others as they are.

    Ids of tools and requests then begin with their `home`.
    """
    own = [one for one in found if one.name.startswith(f"{OWN}/") and one.queries]
    large = [_one(own[start::groups], start) for start in range(min(groups, len(own)))]
    return [*large, *(one for one in found if not one.name.startswith(f"{OWN}/"))]


def home(identifier: str) -> str:
    """The source that a tool or request of a joined one comes from; empty for others."""
    return identifier.partition(HOME)[0] if HOME in identifier else ""


def _one(parts: Sequence[Source], number: int) -> Source:
    tools = [replace(tool, id=f"{part.name}{HOME}{tool.id}") for part in parts for tool in part.tools]
    queries = [
        replace(
            query,
            id=f"{part.name}{HOME}{query.id}",
            relevant={f"{part.name}{HOME}{tool}": gain for tool, gain in query.relevant.items()},
        )
        for part in parts
        for query in part.queries
    ]
    return Source(name=f"{OWN}/joined{number}", tools=tuple(tools), queries=tuple(queries))


def _tool(body: dict[str, Any], where: str) -> ToolSpec:
    try:
        return ToolSpec(
            id=body["id"],
            name=body["name"],
            namespace=body.get("server") or "",
            description=body.get("description") or "",
            parameters=body.get("parameters") or {"type": "object", "properties": {}},
        )
    except KeyError as error:
        raise InvalidSource(f"{where}: a tool needs {error}") from None


def _query(body: dict[str, Any], where: str) -> JudgedQuery:
    text, relevant = body.get("text"), body.get("relevant")
    if not isinstance(text, str) or not text.strip() or not isinstance(relevant, list):
        raise InvalidSource(f"{where}: a request needs a text and a list of relevant tools")
    return JudgedQuery(
        id=str(body.get("id", where)),
        query=text,
        relevant=dict.fromkeys(map(str, cast("list[object]", relevant)), 1),
        kind=str(body.get("style", "")),
        lang=str(body.get("lang", "en")),
    )


def _lines(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    if path.stat().st_size > MAX_FILE:
        raise LimitExceeded(f"{path.name} has {path.stat().st_size} bytes; the bound is {MAX_FILE}")
    for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
        where = f"{path.name}:{number}"
        if not line.strip():
            continue
        try:
            body = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise InvalidSource(f"{where}: not JSON: {str(error)[:120]}") from None
        if not isinstance(body, dict):
            raise InvalidSource(f"{where}: expected an object, got {line[:80]!r}")
        yield where, cast("dict[str, Any]", body)


def _read(folder: Path, name: str) -> Source:
    if not (folder / "tools.jsonl").is_file():
        raise InvalidSource(f"there is no source {name[:80]!r} below {str(folder.parent)!r:.200}")
    tools = tuple(one.spec for one in load(folder / "tools.jsonl").tools)
    return Source(name=name, tools=tools, queries=tuple(read_queries(folder / "queries.jsonl")))


def _kept(data: Path) -> dict[str, dict[str, str]]:
    """Set -> request id -> the part it belongs to."""
    path = data / PARTS
    found: dict[str, dict[str, str]] = {}
    if path.is_file():
        for name, part in json.loads(path.read_text("utf-8")).items():
            found.setdefault(part["set"], {}).update({str(one): name for one in part["queries"]})
    return found


def _chosen(queries: list[JudgedQuery], part: Part, seed: int) -> Iterator[JudgedQuery]:
    """As many as the part allows, the same ones for the same seed."""
    free = [one for one in queries if part.split in ("", one.split) and part.lang in ("", one.lang)]
    random.Random(seed).shuffle(free)  # noqa: S311 - a choice of examples, no secret
    used: Counter[str] = Counter()
    taken = 0
    for one in free:
        tools = list(one.relevant)
        if part.most and taken >= part.most:
            return
        if part.a_tool and tools and all(used[tool] >= part.a_tool for tool in tools):
            continue
        used.update(tools)
        taken += 1
        yield one
