"""Judged requests: what somebody asks, and which tools are right for it. Four layouts are read.

* JSONL: `{"id", "query", "relevant": [ids] | {id: grade}, "kind"?, "lang"?, "split"?}`, one a line
* ToolRet: JSON lines or a list of `{"id", "query", "labels": [{"id", "relevance"}]}`; labels may be JSON in a text
* BEIR: a folder with `queries.jsonl` and `qrels/<split>.tsv`
* TREC: a folder with `queries.tsv` (id, tab, text) or `topics.txt` (`<top>`, `<num>`, `<title>`), and with
  `qrels.txt` (id, 0, tool id, grade)
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, cast

from toolsearch.errors import InvalidSource, LimitExceeded

MAX_FILE = 512_000_000
"""Bytes of one file of requests or judgements."""


MAX_GRADE = 1_000_000
_GRADE = re.compile(r"-?[0-9]{1,6}")
_HEADER = ["query-id", "corpus-id", "score"]
_FIELD = re.compile(r"<(num|title)>(.*?)(?=</?(?:top|num|title|desc|narr)>|^\s*<\w+>|\Z)", re.DOTALL | re.MULTILINE)
"""A field of a topic: up to its end, another field or the topic's end; any other `<` belongs to its text."""


class _Grade(NamedTuple):
    query: str
    tool: str
    grade: str
    where: str


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
    if "relevant" not in body and isinstance(given, str):
        given = _json(given, f"{where}: labels")
    if isinstance(given, Mapping):
        pairs = list(cast("Mapping[str, object]", given).items())
    elif isinstance(given, list):
        pairs = [_label(item) for item in cast("list[object]", given)]
    else:
        raise InvalidSource(f"{where}: relevant must be a list of ids or an object of grades")
    for name, grade in pairs:
        if isinstance(grade, bool) or not isinstance(grade, int | float) or not abs(grade) <= MAX_GRADE or grade % 1:
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
        bodies = enumerate(cast("list[object]", _json(text, path.name)), 1)
    else:
        lines = ((number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip())
        bodies = ((number, _json(line, f"{path.name}:{number}")) for number, line in lines)
    for number, body in bodies:
        if not isinstance(body, dict):
            raise InvalidSource(f"{path.name}:{number}: expected a JSON object, got {body!r:.80}")
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
        return path.read_text("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidSource(f"{path.name} is not UTF-8 text (byte {error.start})") from None


def _beir(folder: Path) -> list[JudgedQuery]:
    queries = [_judged(body, f"queries.jsonl:{number}") for number, body in _objects(folder / "queries.jsonl")]
    splits = sorted((folder / "qrels").glob("*.tsv"))
    if not splits:
        return queries
    judged: dict[str, str] = {}
    rows: list[_Grade] = []
    for path in splits:
        found = [_Grade(row[0], row[1], row[2], where) for where, row in _columns(path, 3) if row != _HEADER]
        judged |= {one.query: path.stem for one in found}
        rows += found
    grades = _qrels(rows)
    return [_with_grades(one, grades.get(one.id, {}), judged[one.id]) for one in queries if one.id in judged]


def _trec(folder: Path) -> list[JudgedQuery]:
    qrels, tabbed, tagged = (folder / name for name in ("qrels.txt", "queries.tsv", "topics.txt"))
    if not qrels.is_file() or not (tabbed.is_file() or tagged.is_file()):
        raise InvalidSource(
            f"{folder.name}: expected queries.jsonl with qrels/, or queries.tsv or topics.txt with qrels.txt"
        )
    grades = _qrels(_Grade(row[0], row[2], row[3], where) for where, row in _columns(qrels, 4))
    asked = _tabbed(tabbed) if tabbed.is_file() else _topics(tagged)
    return [JudgedQuery(id=key, query=text, relevant=grades.get(key, {})) for key, text in asked]


def _tabbed(path: Path) -> Iterator[tuple[str, str]]:
    for number, line in enumerate(_text(path).split("\n"), 1):
        if line.strip():
            key, tab, text = line.partition("\t")
            if not tab:
                raise InvalidSource(f"{path.name}:{number}: expected an id, a tab and a request, got {line[:80]!r}")
            yield key, text


def _topics(path: Path) -> Iterator[tuple[str, str]]:
    """Ids and titles of topics in tags, whose ends need not be marked."""
    for number, topic in enumerate(_text(path).split("<top>")[1:], 1):
        fields = dict(_FIELD.findall(topic))
        key = fields.get("num", "").replace("Number:", "").strip()
        if not key or "title" not in fields:
            raise InvalidSource(f"{path.name}: topic {number} has no <num> or no <title>")
        yield key, " ".join(fields["title"].removeprefix(" Topic:").split())


def _columns(path: Path, count: int) -> Iterator[tuple[str, list[str]]]:
    """Rows of a table with where they stand; in a .tsv, blanks belong to the ids."""
    for number, line in enumerate(_text(path).split("\n"), 1):
        if line.strip():
            columns = line.rstrip("\r").split("\t") if path.suffix == ".tsv" and "\t" in line else line.split()
            if len(columns) != count:
                raise InvalidSource(f"{path.name}:{number}: expected {count} columns, got {len(columns)}")
            yield f"{path.name}:{number}", columns


def _qrels(rows: Iterable[_Grade]) -> dict[str, dict[str, int]]:
    grades: dict[str, dict[str, int]] = {}
    for row in rows:
        found = grades.setdefault(row.query, {})
        if not _GRADE.fullmatch(row.grade.strip()):
            raise InvalidSource(f"{row.where}: the grade must be a whole number, not {row.grade[:40]!r}")
        if int(row.grade) > 0:
            found[row.tool] = int(row.grade)
    return grades


def _with_grades(query: JudgedQuery, grades: Mapping[str, int], split: str) -> JudgedQuery:
    return JudgedQuery(id=query.id, query=query.query, relevant=grades, kind=query.kind, lang=query.lang, split=split)
