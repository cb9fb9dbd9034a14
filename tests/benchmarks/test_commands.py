"""The commands run on a small data folder, and what they keep can be compared."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from benchmarks import __main__ as commands
from benchmarks import runner
from benchmarks.tasks import development_parts
from toolsearch.evaluation.runs import Answer, write_run


@pytest.fixture
def invoke(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Runs a command; runs are kept below the test's own folder."""
    monkeypatch.setattr(runner, "RUNS", tmp_path / "runs")
    monkeypatch.setattr(commands, "RUNS", tmp_path / "runs")

    def command(*arguments: object) -> str:
        done = CliRunner().invoke(commands.app, [str(one) for one in arguments])
        assert done.exit_code == 0, done.output
        return done.output

    return command


def empty(folder: Path) -> Path:
    """A run that answered nothing to the requests of the first part."""
    folder.mkdir()
    write_run([Answer(id="q1"), Answer(id="q2")], folder / "first.jsonl")
    return folder


def test_a_run_is_kept_compared_and_reported(invoke, data: Path, tmp_path: Path) -> None:
    """Tables hold every part and strategy; the page holds every answer and nothing from outside."""
    told = invoke("run", "--data", data, "--only", "first,second", "--strategies", "lexical,hybrid", "--name", "one")
    assert told.count("one/lexical") >= 2
    figures = told.split("| first")[1].split("|")[2:10]
    assert all("(" in figure and " to " in figure for figure in figures)
    runs = tmp_path / "runs"
    record = json.loads((runs / "one" / "hybrid" / "record.json").read_text("utf-8"))
    assert record["settings"] == {"encoder": "builtin", "k": 10, "strategy": "hybrid"}
    assert set(record["digests"]) == set(record["build"]) == {"first", "second"}
    compared = invoke("compare", runs / "one" / "lexical", runs / "one" / "hybrid")
    assert "| first " in compared
    assert "rank in A" in invoke("compare", runs / "one" / "lexical", empty(runs / "one" / "none"))
    assert "| second" in compared
    page = runs / "page.html"
    assert "one/hybrid" in invoke("report", "--runs", runs, "--html", page)
    text = page.read_text("utf-8")
    assert "cancel my flight and send an email about it" in text
    assert "src=" not in text.replace("http://www.w3.org/2000/svg", "")


def test_a_catalog_keeps_what_requests_need(data: Path) -> None:
    """A smaller catalog has the right tools first, in the order of the whole one."""
    _, second = development_parts(data)
    small = type(second)(second.name, second.catalog, second.source, second.queries, 3)
    assert [tool.id for tool in small.tools()] == ["refund_payment", "cancel_flight", "send_email"]
    assert len(second.tools()) == 5


def test_the_bill_is_printed_and_kept(invoke, data: Path, tmp_path: Path) -> None:
    """Sizes and ways of showing are as asked; every conversation is one line of the file."""
    ways = ("--ways", "whole,native", "--strategy", "lexical")
    told = invoke("agent", "--data", data, "--sizes", "3,5", *ways, "--name", "b")
    assert told.count("native") == 4
    lines = (tmp_path / "runs" / "b" / "agent.jsonl").read_text("utf-8").splitlines()
    assert {(json.loads(line)["size"], json.loads(line)["way"]) for line in lines} == {
        (3, "whole"),
        (3, "native"),
        (5, "whole"),
        (5, "native"),
    }
