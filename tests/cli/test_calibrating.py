"""`toolsearch calibrate` from the command line, and what an index makes of its file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from toolsearch import ToolIndex, ToolSpec
from toolsearch.cli.app import app
from toolsearch.errors import InvalidInput
from toolsearch.strategies.calibration import FILE, Calibration

THINGS = ["parcel", "letter", "invoice", "ticket", "crane", "berth", "gate", "crate", "ship", "truck", "pallet", "seal"]
TOOLS = [ToolSpec(name=f"list_{one}", description=f"All {one}s of the harbour") for one in THINGS]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An index of words with judged requests beside it: some with a tool, some without."""
    ToolIndex.build(tmp_path, TOOLS, encoder="").close()
    asked = {f"every {one} please": [f"list_{one}"] for one in THINGS}
    asked |= {f"harbour of {one} songs and melodies": [] for one in "abcdefghijkl"}
    rows = [{"id": str(number), "query": text, "relevant": right} for number, (text, right) in enumerate(asked.items())]
    (tmp_path / "judged.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return tmp_path


def calibrate(folder: Path, *more: str) -> str:
    given = ["calibrate", "-i", str(folder), "--queries", str(folder / "judged.jsonl"), *more]
    done = CliRunner().invoke(app, given, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output


def test_it_prints_how_good_confidence_is_and_writes_the_file(folder: Path) -> None:
    """Reliability, ECE and threshold are shown; searches use the file; too few requests are said."""
    output = calibrate(folder, "--strategy", "lexical")
    assert "ECE" in output
    assert "threshold" in output
    assert "fewer than 30 requests" in output
    assert "other requests of this kind would give" in output
    assert "AUC: how often" in output
    assert "transfers neither" in output
    fitted = Calibration.read(folder / FILE).strategies["lexical"]
    assert 0 < fitted.threshold < 1
    with ToolIndex.open(folder) as index:
        assert index.search("every crane please", strategy="lexical").band != "none"
        assert index.search("harbour of x songs and melodies", strategy="lexical").band == "none"


def test_a_dry_run_writes_nothing(folder: Path) -> None:
    """It only measures."""
    calibrate(folder, "--dry-run")
    assert not (folder / FILE).exists()


def test_a_catalog_that_changed_is_told(folder: Path) -> None:
    """A calibration made for far fewer tools is used with a note, one of another encoder is not."""
    calibrate(folder)
    with ToolIndex.open(folder) as index:
        assert index.search("every crane please").notes == ()
        index.upsert([ToolSpec(name=f"new_{i}", description="Something else") for i in range(9)])
    with ToolIndex.open(folder) as index:
        assert "was made for 12 tools" in index.search("every crane please").notes[-1]
    kept = Calibration.read(folder / FILE)
    Calibration(strategies=kept.strategies, encoder="other", tools=21).write(folder / FILE)
    with ToolIndex.open(folder) as index:
        assert "another encoder or adaptation and is not used" in index.search("every crane please").notes[-1]


def test_too_few_requests_are_refused(folder: Path) -> None:
    """Below ten of a kind nothing is fitted and nothing written; the text says what is missing."""
    lines = (folder / "judged.jsonl").read_text().splitlines()
    (folder / "judged.jsonl").write_text("\n".join(lines[7:]))
    done = CliRunner().invoke(app, ["calibrate", "-i", str(folder), "--queries", str(folder / "judged.jsonl")])
    assert isinstance(done.exception, InvalidInput)
    assert "5 requests have a right tool in this catalog and 12 have none" in str(done.exception)
    assert "at least 10" in str(done.exception)
    assert not (folder / FILE).exists()
