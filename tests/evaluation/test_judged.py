"""Judged requests are read from four layouts, and broken ones are named."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from toolsearch.errors import InvalidSource
from toolsearch.evaluation.judged import JudgedQuery, read_queries


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    return path


def test_jsonl_takes_ids_or_grades(tmp_path: Path) -> None:
    """A list of ids means grade 1; an object carries grades; grade 0 is not relevant."""
    lines = [{"id": "a", "query": "x", "relevant": ["t"]}, {"id": 2, "query": "y", "relevant": {"u": 2, "v": 0}}]
    found = read_queries(write(tmp_path / "q.jsonl", "\n".join(map(json.dumps, lines))))
    assert [(q.id, dict(q.relevant)) for q in found] == [("a", {"t": 1}), ("2", {"u": 2})]


def test_toolret_labels(tmp_path: Path) -> None:
    """A JSON list with labels is the ToolRet layout."""
    rows = [{"id": "q1", "query": "x", "labels": [{"id": "t", "doc": {}, "relevance": 1}]}]
    assert dict(read_queries(write(tmp_path / "q.json", json.dumps(rows)))[0].relevant) == {"t": 1}


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
