"""Judged requests: what somebody asks, and which tools are right for it. Four layouts are read.

* JSONL: `{"id", "query", "relevant": [ids] | {id: grade}, "kind"?, "lang"?, "split"?}`, one a line
* ToolRet: JSON lines or a list of `{"id", "query", "labels": [{"id", "relevance"}]}`
* BEIR: a folder with `queries.jsonl` and `qrels/<split>.tsv`
* TREC: a folder with `queries.tsv` (id, tab, text) and `qrels.txt` (id, 0, tool id, grade)
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from toolsearch.errors import InvalidSource, LimitExceeded

MAX_FILE = 512_000_000
"""Bytes of one file of requests or judgements."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedQuery:
    """One request and its right tools with their grades (1 or more). No right tool means unanswerable."""

    id: str
    query: str
    relevant: Mapping[str, int] = field(default_factory=dict[str, int])
    kind: str = ""
    lang: str = ""
    split: str = ""

    @property
    def answerable(self) -> bool:
        """Whether at least one tool is right."""
        return bool(self.relevant)


def read_queries(path: str | Path) -> list[JudgedQuery]:
    """Judged requests of a file or folder in any of the four layouts, in the order of the file.

    Raises:
        InvalidSource: the path is none of the layouts, or a line is broken; it names file and line.
        LimitExceeded: a file is larger than MAX_FILE.
    """
    place = Path(path)
    if place.is_dir():
        queries = _beir(place) if (place / "queries.jsonl").exists() else _trec(place)
    elif place.is_file():
        queries = [_judged(body, f"{place.name}:{number}") for number, body in _objects(place)]
    else:
        raise InvalidSource(f"no file or folder of judged requests at {str(path)!r}")
    return _distinct(queries, place)


def _distinct(queries: list[JudgedQuery], place: Path) -> list[JudgedQuery]:
    seen: set[str] = set()
    for query in queries:
        if query.id in seen:
            raise InvalidSource(f"{place.name}: the request id {query.id[:80]!r} occurs twice")
        seen.add(query.id)
    return queries


def _judged(body: Mapping[str, Any], where: str) -> JudgedQuery:
    text = body.get("query", body.get("text"))
    if not isinstance(text, str) or not isinstance(body.get("id", body.get("_id")), str | int):
        raise InvalidSource(f"{where}: a judged request needs an id and a query")
    return JudgedQuery(
        id=str(body.get("id", body.get("_id"))),
        query=text,
        relevant=_grades(body, where),
        kind=str(body.get("kind", "")),
        lang=str(body.get("lang", "")),
        split=str(body.get("split", "")),
    )


def _grades(body: Mapping[str, Any], where: str) -> dict[str, int]:
    given: object = body.get("relevant", body.get("labels", []))
    if isinstance(given, Mapping):
        pairs = list(cast("Mapping[str, object]", given).items())
    elif isinstance(given, list):
        pairs = [_label(item) for item in cast("list[object]", given)]
    else:
        raise InvalidSource(f"{where}: relevant must be a list of ids or an object of grades")
    for name, grade in pairs:
        if isinstance(grade, bool) or not isinstance(grade, int | float) or grade != int(grade):
            raise InvalidSource(f"{where}: the grade of {name[:80]!r} must be a whole number, not {grade!r:.40}")
    return {name: int(cast(float, grade)) for name, grade in pairs if cast(float, grade) > 0}


def _label(item: object) -> tuple[str, object]:
    if isinstance(item, Mapping):
        label = cast("Mapping[str, object]", item)
        return str(label.get("id", "")), label.get("relevance", 1)
    return str(item), 1


def _objects(path: Path) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """JSON objects of a JSONL file, or of a JSON list, with their line or item number."""
    text = _text(path)
    if text.lstrip().startswith("["):
        yield from enumerate(cast("list[Mapping[str, Any]]", _json(text, path.name)), 1)
        return
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip():
            body = _json(line, f"{path.name}:{number}")
            if not isinstance(body, dict):
                raise InvalidSource(f"{path.name}:{number}: expected a JSON object, got {line[:80]!r}")
            yield number, cast("Mapping[str, Any]", body)


def _json(text: str, where: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidSource(f"{where}: not JSON: {str(error)[:120]}") from None


def _text(path: Path) -> str:
    if path.stat().st_size > MAX_FILE:
        raise LimitExceeded(f"{path.name} has {path.stat().st_size} bytes; the bound is {MAX_FILE}")
    try:
        return path.read_text("utf-8")
    except UnicodeDecodeError as error:
        raise InvalidSource(f"{path.name} is not UTF-8 text (byte {error.start})") from None


def _beir(folder: Path) -> list[JudgedQuery]:
    queries = [_judged(body, f"queries.jsonl:{number}") for number, body in _objects(folder / "queries.jsonl")]
    splits = sorted((folder / "qrels").glob("*.tsv"))
    if not splits:
        return queries
    judged = {row[0]: path.stem for path in splits for row in _columns(path, 3)}
    grades = _qrels(row for path in splits for row in _columns(path, 3) if row[2].lstrip("-").isdigit())
    return [_with_grades(one, grades.get(one.id, {}), judged[one.id]) for one in queries if one.id in judged]


def _trec(folder: Path) -> list[JudgedQuery]:
    topics, qrels = folder / "queries.tsv", folder / "qrels.txt"
    if not topics.is_file() or not qrels.is_file():
        raise InvalidSource(f"{folder.name}: expected queries.jsonl with qrels/, or queries.tsv with qrels.txt")
    grades = _qrels((row[0], row[2], row[3]) for row in _columns(qrels, 4))
    lines = (line.split("\t", 1) for line in _text(topics).splitlines() if line.strip())
    return [JudgedQuery(id=row[0], query=row[-1], relevant=grades.get(row[0], {})) for row in lines]


def _columns(path: Path, count: int) -> Iterator[list[str]]:
    for number, line in enumerate(_text(path).splitlines(), 1):
        if line.strip():
            columns = line.split()
            if len(columns) != count:
                raise InvalidSource(f"{path.name}:{number}: expected {count} columns, got {len(columns)}")
            yield columns


def _qrels(rows: Iterable[Any]) -> dict[str, dict[str, int]]:
    grades: dict[str, dict[str, int]] = {}
    for query, tool, grade in rows:
        found = grades.setdefault(query, {})
        if int(grade) > 0:
            found[tool] = int(grade)
    return grades


def _with_grades(query: JudgedQuery, grades: Mapping[str, int], split: str) -> JudgedQuery:
    return JudgedQuery(id=query.id, query=query.query, relevant=grades, kind=query.kind, lang=query.lang, split=split)
