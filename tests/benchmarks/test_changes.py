"""What two runs answer differently is told in words, not in ids alone, and within bounds."""

from __future__ import annotations

from benchmarks.changes import TEXT, Compared, changes
from toolsearch.evaluation.comparison import compare
from toolsearch.evaluation.judged import JudgedQuery
from toolsearch.evaluation.measures import measure
from toolsearch.evaluation.runs import Answer

QUERIES = [
    JudgedQuery(id="1", query="give the money\nback | now", relevant={"refund": 1}),
    JudgedQuery(id="2", query="a flight and a mail", relevant={"book": 1, "mail": 1}),
    JudgedQuery(id="3", query="the same in both", relevant={"mail": 1}),
    JudgedQuery(id="4", query="long " * 200, relevant={"refund": 1}),
]


def compared(a: list[list[str]], b: list[list[str]]) -> Compared:
    runs = [
        [Answer(id=q.id, hits=tuple((tool, 1.0) for tool in tools)) for q, tools in zip(QUERIES, found, strict=True)]
        for found in (a, b)
    ]
    values = [measure(QUERIES, run, ["nDCG@10"])["nDCG@10"] for run in runs]
    return Compared(QUERIES, *runs, compare(*values))


FOUND = compared([["void", "refund"], ["book"], ["mail"], []], [["refund"], ["mail", "book"], ["mail"], ["refund"]])


def test_a_changed_request_is_told_whole() -> None:
    """Its text on one line, the right tool, what each run put first and where the right tool is."""
    row = next(line for line in changes(FOUND, 10).splitlines() if "1: give" in line)
    cells = [cell.strip() for cell in row.replace("\\|", "/").split("|")[1:-1]]
    assert cells == ["+36.9", "1: give the money back / now", "refund", "void", "2", "refund", "1"]


def test_of_several_right_tools_each_has_a_rank() -> None:
    """One that was not found has a dash; an answer without hits says nothing."""
    text = changes(FOUND, 10)
    assert [cell.strip() for cell in text.split("2: a flight")[1].split("|")[2:6]] == ["book", "1, -", "mail", "1, 2"]
    assert [cell.strip() for cell in text.split("4: long")[1].split("|")[2:6]] == ["nothing", "-", "refund", "1"]


def test_it_is_bounded() -> None:
    """The largest changes come first, the rest is counted, and texts are cut; what did not change is not told."""
    text = changes(FOUND, 1)
    assert len(text.splitlines()) == 5
    assert "| +100.0 |" in text
    assert text.endswith("and 2 more")
    assert "…" in text
    assert max(map(len, text.splitlines())) < 3 * TEXT
    assert "the same in both" not in changes(FOUND, 10)
    assert changes(compared([["x"]] * 4, [["x"]] * 4), 10) == ""
