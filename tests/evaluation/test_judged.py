"""Judged requests are read from four layouts, and broken ones are named."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from toolsearch.errors import InvalidSource
from toolsearch.evaluation.judged import JudgedQuery, read_queries
from toolsearch.evaluation.runs import Answer, read_run, write_run


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    return path


def test_jsonl_takes_ids_or_grades(tmp_path: Path) -> None:
    """A list of ids means grade 1; an object carries grades; grade 0 is not relevant."""
    lines = [{"id": "a", "query": "x", "relevant": ["t"]}, {"id": 2, "query": "y", "relevant": {"u": 2, "v": 0}}]
    found = read_queries(write(tmp_path / "q.jsonl", "\n".join(map(json.dumps, lines))))
    assert [(q.id, dict(q.relevant)) for q in found] == [("a", {"t": 1}), ("2", {"u": 2})]


def test_lines_end_at_line_feeds_only(tmp_path: Path) -> None:
    """Other line separators belong to the request."""
    file = tmp_path / "q.jsonl"
    file.write_text('{"id": "a", "query": "one\u2028two", "relevant": ["x"]}\n', "utf-8")
    assert [one.query for one in read_queries(file)] == ["one\u2028two"]


def test_toolret_labels(tmp_path: Path) -> None:
    """A JSON list with labels is the ToolRet layout."""
    rows = [{"id": "q1", "query": "x", "labels": [{"id": "t", "doc": {}, "relevance": 1}]}]
    assert dict(read_queries(write(tmp_path / "q.json", json.dumps(rows)))[0].relevant) == {"t": 1}


def test_toolret_labels_as_text(tmp_path: Path) -> None:
    """Labels that are JSON within a text are read, as they are in exported tables."""
    row = {"id": "q1", "query": "x", "labels": json.dumps([{"id": "t", "relevance": 1}, {"id": "u", "relevance": 0}])}
    assert dict(read_queries(write(tmp_path / "q.jsonl", json.dumps(row)))[0].relevant) == {"t": 1}
    broken = {**row, "labels": "[{"}
    with pytest.raises(InvalidSource, match=r"q.jsonl:1: labels: not JSON"):
        read_queries(write(tmp_path / "q.jsonl", json.dumps(broken)))


def test_beir_folder_keeps_judged_requests_only(tmp_path: Path) -> None:
    """Queries without a judgement are not part of the task; the split is the file's name."""
    write(tmp_path / "queries.jsonl", '{"_id": "1", "text": "x"}\n{"_id": "2", "text": "y"}\n')
    write(tmp_path / "qrels/test.tsv", "query-id\tcorpus-id\tscore\n1\tt\t2\n")
    assert read_queries(tmp_path) == [JudgedQuery(id="1", query="x", relevant={"t": 2}, split="test")]


def test_trec_folder(tmp_path: Path) -> None:
    """A request whose only judgement is 0 stays, as an unanswerable one."""
    write(tmp_path / "queries.tsv", "1\tmoney back\n2\tother thing\n")
    write(tmp_path / "qrels.txt", "1 0 t 1\n2 0 t 0\n")
    assert [(q.query, q.answerable) for q in read_queries(tmp_path)] == [("money back", True), ("other thing", False)]


def test_beir_ids_may_have_blanks_and_no_header(tmp_path: Path) -> None:
    """Columns are parted by tabs, a header may be missing, and a broken grade is named."""
    write(tmp_path / "queries.jsonl", '{"_id": "1", "text": "x"}\n')
    write(tmp_path / "qrels/dev.tsv", "1\tGet Weather\t1\r\n")
    assert dict(read_queries(tmp_path)[0].relevant) == {"Get Weather": 1}
    write(tmp_path / "qrels/dev.tsv", "query-id\tcorpus-id\tscore\n1\tt\tmuch\n")
    with pytest.raises(InvalidSource, match=r"dev.tsv:2: the grade must be a whole number"):
        read_queries(tmp_path)


def test_trec_topics_in_tags(tmp_path: Path) -> None:
    """Topics as TREC prints them: numbers and titles with their words before them, ends not marked."""
    first = "<top>\n<num> Number: 301\n<title> International\n mail\n<desc> Description:\nWhat?\n</top>\n"
    write(tmp_path / "topics.txt", first + "<top><num>302</num><title>money back</title></top>\n")
    write(tmp_path / "qrels.txt", "301 0 t 1\n302 0 u 2\n")
    found = [(q.id, q.query, dict(q.relevant)) for q in read_queries(tmp_path)]
    assert found == [("301", "International mail", {"t": 1}), ("302", "money back", {"u": 2})]


def test_a_title_may_hold_a_sign_of_less(tmp_path: Path) -> None:
    """Only tags of topics end a title; what else begins with `<` is part of the request."""
    first = "<top><num>1</num><title>files with size < 5 MB and <b>no</b> owner</title></top>\n"
    then = "<top>\n<num> 2\n<title> rows where a<b\nand c\n<narr> Narrative: a < c\n</top>\n"
    write(tmp_path / "topics.txt", first + then)
    write(tmp_path / "qrels.txt", "1 0 t 1\n2 0 u 1\n")
    assert [q.query for q in read_queries(tmp_path)] == [
        "files with size < 5 MB and <b>no</b> owner",
        "rows where a<b and c",
    ]


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("queries.tsv", "no tab here\n", "queries.tsv:1: expected an id, a tab and a request"),
        ("topics.txt", "<top><num>1</num></top>", "topic 1 has no <num> or no <title>"),
        ("other.txt", "", "expected queries.jsonl with qrels/"),
    ],
)
def test_broken_trec_folders_are_named(tmp_path: Path, name: str, text: str, said: str) -> None:
    """A fault is told with its file."""
    write(tmp_path / name, text)
    write(tmp_path / "qrels.txt", "1 0 t 1\n")
    with pytest.raises(InvalidSource, match=said):
        read_queries(tmp_path)


def test_broken_qrels_are_named(tmp_path: Path) -> None:
    """Columns and grades are checked."""
    write(tmp_path / "queries.tsv", "1\tmoney back\n")
    for text, said in (("1 0 t x\n", "qrels.txt:1: the grade"), ("1 0 t\n", "qrels.txt:1: expected 4 columns")):
        write(tmp_path / "qrels.txt", text)
        with pytest.raises(InvalidSource, match=said):
            read_queries(tmp_path)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"id": "a", "query": "x"}\n{broken', "q.jsonl:2"),
        ('{"id": "a"}', "needs an id and a query"),
        ('{"id": "a", "query": "x", "relevant": "t"}', "list of ids"),
        ('{"id": "a", "query": "x", "relevant": {"t": true}}', "whole number"),
        ('{"id": "a", "query": "x"}\n{"id": "a", "query": "y"}', "twice"),
    ],
)
def test_broken_files_are_named(tmp_path: Path, text: str, said: str) -> None:
    """Each fault is told with its place."""
    with pytest.raises(InvalidSource, match=said):
        read_queries(write(tmp_path / "q.jsonl", text))


def test_missing_path_is_named() -> None:
    """A path that is not there says so."""
    with pytest.raises(InvalidSource, match="nowhere"):
        read_queries("nowhere.jsonl")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('["a"]', "expected a JSON object"),
        ('{"id": 1, "query": "a", "relevant": {"x": 1e999}}', "whole number"),
        ('{"id": 1, "query": "a", "relevant": {"x": NaN}}', "whole number"),
    ],
)
def test_odd_values_are_named(tmp_path: Path, text: str, said: str) -> None:
    """A list of texts, and numbers that count nothing."""
    (tmp_path / "q.jsonl").write_text(text, "utf-8")
    with pytest.raises(InvalidSource, match=said):
        read_queries(tmp_path / "q.jsonl")


def test_files_as_windows_writes_them(tmp_path: Path) -> None:
    """A mark at the beginning belongs to no id."""
    (tmp_path / "queries.tsv").write_bytes(b"\xef\xbb\xbfq1\trefund\r\n")
    (tmp_path / "qrels.txt").write_bytes(b"q1 0 a 1\r\n")
    assert [(one.id, one.relevant) for one in read_queries(tmp_path)] == [("q1", {"a": 1})]


@pytest.mark.parametrize("grade", ["--5", "9" * 5_000])
def test_grades_that_are_no_numbers(tmp_path: Path, grade: str) -> None:
    """They are named, whatever Python would make of them."""
    (tmp_path / "queries.tsv").write_text("q1\trefund\n", "utf-8")
    (tmp_path / "qrels.txt").write_text(f"q1 0 a {grade}\n", "utf-8")
    with pytest.raises(InvalidSource, match="whole number"):
        read_queries(tmp_path)


def test_a_run_keeps_ids_with_any_sign(tmp_path: Path) -> None:
    """Lines end at line feeds only, as in requests."""
    answers = [Answer(id="q\u2028", hits=(("a\u2028b", 1.0),))]
    write_run(answers, tmp_path / "r.jsonl")
    assert read_run(tmp_path / "r.jsonl") == answers
