"""`search` and `explain` with a judge that speaks System One over HTTP."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Run
from tests.decision.servers import serving
from toolsearch.strategies.calibration import FILE, Calibration, Fitted

CHANCES = {"refund_payment": 0.2, "capture_payment": 0.9}


def chance(text: str, chances: dict[str, float]) -> float:
    return next((value for name, value in chances.items() if f"Name: {name}" in text), 0.03)


@pytest.fixture
def judge() -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """The name of a judge that likes one tool, and what it was asked."""

    def answer(body: dict[str, Any], _: int) -> tuple[int, Any, dict[str, str]]:
        chances = {} if "nothing" in body["state"] else CHANCES
        answers = {
            name: {"type": "noul", "noul": chance(one["instructions"], chances)}
            for name, one in body["questions"].items()
        }
        return 200, {"model": "m", "answers": answers}, {}

    with serving(answer) as (url, seen):
        yield f"systemone:{url}#m", seen


@pytest.fixture
def shop(tmp_path: Path, run: Run) -> Path:
    """An index of three payment tools and ten others, searched by words."""
    names = ["refund_payment", "capture_payment", "void_payment", *(f"payment_report_{i}" for i in range(10))]
    lines = [json.dumps({"name": name, "description": f"payment of {name}"}) for name in names]
    (tmp_path / "t.jsonl").write_text("\n".join(lines))
    assert run("index", "build", tmp_path / "shop", "--from", tmp_path / "t.jsonl", "--encoder", "")[0] == 0
    return tmp_path / "shop"


def test_the_judge_puts_the_hits_in_order(shop: Path, run: Run, judge: tuple[str, list[Any]]) -> None:
    """The likeliest comes first, the confidence is its probability, and that it is not calibrated is said."""
    name, seen = judge
    code, out, _ = run("search", "payment", "-i", shop, "--judge", name, "--json", "--shortlist", 3, "-k", 2)
    body = json.loads(out)
    assert code == 0
    assert [hit["id"] for hit in body["hits"]] == ["capture_payment", "refund_payment"]
    assert (body["confidence"], body["band"]) == (pytest.approx(0.9), "high")
    assert "not calibrated" in body["notes"][-1]
    assert "toolsearch calibrate" in body["notes"][-1]
    assert [len(one["questions"]) for one in seen] == [3]


def test_nothing_fits(shop: Path, run: Run, judge: tuple[str, list[Any]]) -> None:
    """When no tool is likely to help there are no hits and the exit code is 1, unless all bands are asked for."""
    code, out, _ = run("search", "payment nothing", "-i", shop, "--judge", judge[0])
    assert (code, out.splitlines()[0]) == (1, "nothing fits")
    assert run("search", "payment nothing", "-i", shop, "--judge", judge[0], "--min-confidence", "none")[0] == 0


def test_the_confidence_comes_from_the_calibration(shop: Path, run: Run, judge: tuple[str, list[Any]]) -> None:
    """One made with this judge is used in silence, one made with another is told."""
    fitted = Fitted(scale=1.0, bias=-2.0, threshold=0.6, judge=judge[0])
    Calibration(strategies={"hybrid+judge": fitted}, encoder="", tools=13).write(shop / FILE)
    body = json.loads(run("search", "payment", "-i", shop, "--judge", judge[0], "--json")[1])
    assert (body["hits"], body["band"]) == ([], "none")
    assert body["confidence"] == pytest.approx(0.549, abs=0.001)
    assert not any("calibrat" in note for note in body["notes"])
    other = Fitted(judge="chat:openai:x")
    Calibration(strategies={"hybrid+judge": other}, encoder="", tools=13).write(shop / FILE)
    assert "made with the judge 'chat:openai:x'" in run("search", "payment", "-i", shop, "--judge", judge[0])[1]


def test_explained_with_a_judge(shop: Path, run: Run, judge: tuple[str, list[Any]]) -> None:
    """The reason is the judge's probability and the place by search; only the shortlist is asked about."""
    name, seen = judge
    told = run("explain", "payment", "refund_payment", "-i", shop, "--judge", name, "--shortlist", 3)[1]
    assert "rank 2" in told
    assert "+0.200  decision  number" in told
    assert [len(one["questions"]) for one in seen] == [3]
    far = run("explain", "payment", "payment_report_9", "-i", shop, "--judge", name, "--shortlist", 3)[1]
    assert "not asked about" in far or "without an answer of the judge" in far


def test_a_judge_that_fails(shop: Path, run: Run) -> None:
    """Its error, or on request the order of the search with a note; the judge is named by the environment too."""
    with serving(lambda _, __: (400, {"detail": "no"}, {})) as (url, _):
        name = f"systemone:{url}#m"
        code, out, err = run("search", "payment", "-i", shop, "--judge", name)
        assert (code, out) == (2, "")
        assert "answered 400" in err
        told = run("search", "payment", "-i", shop, "--judge", name, "--judge-failure", "shortlist")
    assert told[0] == 0
    assert "not checked by the judge (DecisionFailed)" in told[1]


def test_judges_that_are_not_there(shop: Path, run: Run) -> None:
    """An unknown name says which there are; a strategy that wants a judge says how to name one."""
    assert "chat:, systemone:" in run("search", "payment", "-i", shop, "--judge", "coin:toss")[2]
    assert "--judge" in run("search", "payment", "-i", shop, "--strategy", "hybrid+judge")[2]


def test_a_file_of_requests_is_judged_too(shop: Path, run: Run, judge: tuple[str, list[Any]], tmp_path: Path) -> None:
    """Every request of the run goes by the judge."""
    (tmp_path / "q.jsonl").write_text('{"id": "1", "query": "payment", "relevant": ["refund_payment"]}\n')
    out = tmp_path / "out.jsonl"
    run("search", "-i", shop, "--judge", judge[0], "--queries", tmp_path / "q.jsonl", "--run", out)
    assert json.loads(out.read_text())["hits"][0]["id"] == "capture_payment"
