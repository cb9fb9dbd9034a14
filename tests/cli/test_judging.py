"""`eval` reads four layouts of judged requests, and `search --queries` writes runs that other tools can score."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Run

REFUND, MAIL, NOTHING = "pay/refund_payment", "mail/send_mail", "what is the airspeed of a swallow"


def put(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    return path


def in_lines(folder: Path) -> Path:
    """One JSON object a line, with kinds; the last request has no right tool."""
    rows = [
        {"id": "1", "query": "give money back", "relevant": {REFUND: 2}, "kind": "easy"},
        {"id": "2", "query": "write to somebody", "relevant": [MAIL], "kind": "easy"},
        {"id": "3", "query": NOTHING, "relevant": [], "kind": "none"},
    ]
    return put(folder / "judged.jsonl", "".join(json.dumps(row) + "\n" for row in rows))


def in_toolret(folder: Path) -> Path:
    """A list with labels, whose documents are not looked at."""
    rows = [
        {"id": "web_1", "query": "give money back", "labels": [{"id": REFUND, "doc": {"name": "x"}, "relevance": 1}]},
        {"id": "web_2", "query": "write to somebody", "labels": json.dumps([{"id": MAIL, "relevance": 1}])},
    ]
    return put(folder / "queries.json", json.dumps(rows))


def in_beir(folder: Path) -> Path:
    """Requests and judgements apart, tied by ids; a request without judgement is left out."""
    asked = {"a": "give money back", "b": "write to somebody", "c": "not judged"}
    put(folder / "queries.jsonl", "".join(json.dumps({"_id": key, "text": text}) + "\n" for key, text in asked.items()))
    put(folder / "qrels" / "test.tsv", f"query-id\tcorpus-id\tscore\na\t{REFUND}\t1\nb\t{MAIL}\t1\n")
    return folder


def in_trec(folder: Path) -> Path:
    """Topics in tags and judgements in four columns."""
    put(
        folder / "topics.txt",
        "<top><num>1</num><title>give money back</title></top><top><num>2<title>write to somebody",
    )
    put(folder / "qrels.txt", f"1 0 {REFUND} 2\n1 0 {MAIL} 0\n2 0 {MAIL} 1\n")
    return folder


@pytest.mark.parametrize("layout", [in_lines, in_toolret, in_beir, in_trec])
def test_eval_reads_every_layout(layout: Callable[[Path], Path], tmp_path: Path, index: Path, run: Run) -> None:
    """The same two requests are measured from each, and both right tools are found first."""
    code, out, err = run("eval", "-i", index, "--queries", layout(tmp_path / "judged"))
    assert (code, err) == (0, "")
    row = [cell.strip() for cell in out.splitlines()[2].strip("|").split("|")]
    assert row[:2] == ["2", "100.0 (100.0 to 100.0)"]


def test_eval_tells_kinds_and_false_offers(tmp_path: Path, index: Path, run: Run) -> None:
    """Where requests have kinds or no right tool, there is a table for each."""
    out = run("eval", "-i", index, "--queries", in_lines(tmp_path))[1]
    titles = next(line for line in out.splitlines() if line.startswith("| allowed refusals"))
    assert [title.strip() for title in titles.split("|")[2:-1]] == ["refused", "false offers", "AUC"]
    assert "| 5 % and 10 %" in out
    assert "AUC: how often" in out
    assert "Tokens: estimate" in out
    assert "| easy |" in out


def test_eval_names_what_is_broken(tmp_path: Path, index: Path, run: Run) -> None:
    """A judgement that cannot be read ends with 2, its file and line."""
    folder = in_trec(tmp_path / "judged")
    put(folder / "qrels.txt", "1 0 t much\n")
    code, out, err = run("eval", "-i", index, "--queries", folder)
    assert (code, out) == (2, "")
    assert "qrels.txt:1" in err


@pytest.mark.parametrize("ending", ["trec", "run"])
def test_a_run_in_the_form_of_trec(ending: str, tmp_path: Path, index: Path, run: Run) -> None:
    """Six columns a hit, best first; a request without hits has no line."""
    out = tmp_path / f"out.{ending}"
    assert run("search", "-i", index, "--queries", in_lines(tmp_path), "--run", out)[0] == 0
    rows = [line.split() for line in out.read_text("utf-8").splitlines()]
    assert [(row[0], row[1], row[2], row[3]) for row in rows] == [("1", "Q0", REFUND, "1"), ("2", "Q0", MAIL, "1")]
    assert all(float(row[4]) > 0 and len(row) == 6 for row in rows)


def test_a_run_in_lines_keeps_every_request(tmp_path: Path, index: Path, run: Run) -> None:
    """One object a request, with or without hits."""
    out = tmp_path / "out.jsonl"
    run("search", "-i", index, "--queries", in_lines(tmp_path), "--run", out)
    rows = [json.loads(line) for line in out.read_text("utf-8").splitlines()]
    assert [(row["id"], [hit["id"] for hit in row["hits"]]) for row in rows] == [
        ("1", [REFUND]),
        ("2", [MAIL]),
        ("3", []),
    ]


def test_a_run_needs_a_known_ending(tmp_path: Path, index: Path, run: Run) -> None:
    """Another ending is refused with those that are known."""
    code, _, err = run("search", "-i", index, "--queries", in_lines(tmp_path), "--run", tmp_path / "out.csv")
    assert code == 2
    assert ".jsonl, .trec, .run" in err
