"""Hard negatives from our own search."""

from __future__ import annotations

from pathlib import Path

import pytest

from toolsearch import ToolSpec
from toolsearch.errors import InvalidSource
from toolsearch.evaluation.judged import JudgedQuery
from toolsearch.training.data import Source
from toolsearch.training.mining import shortlists

TOOLS = tuple(ToolSpec(name=f"list_{one}", description=f"All {one}s") for one in ("ship", "crane", "crate"))
QUERIES = tuple(JudgedQuery(id=one, query=f"every {one}", relevant={f"list_{one}": 1}) for one in ("ship", "crane"))
SOURCE = Source(name="own/harbour", tools=TOOLS, queries=QUERIES)


def quiet(done: int, total: int) -> None:
    del done, total


def test_a_stopped_run_goes_on(tmp_path: Path) -> None:
    """What is kept is not mined again, and a line that was cut off is."""
    first = shortlists(SOURCE, tmp_path, quiet)
    path = tmp_path / "own-harbour.jsonl"
    whole = path.read_text("utf-8")
    assert first["ship"].hits[0] == "list_ship"
    path.write_text(whole[:-20], "utf-8")
    mined: list[int] = []
    assert shortlists(SOURCE, tmp_path, lambda done, _: mined.append(done)) == first
    assert mined == [2]
    assert path.read_text("utf-8") == whole


def test_a_broken_file_is_named(tmp_path: Path) -> None:
    """Something else in the middle of a file says what to delete."""
    (tmp_path / "own-harbour.jsonl").write_text('{"id": 1}\n', "utf-8")
    with pytest.raises(InvalidSource, match="own-harbour.jsonl:1"):
        shortlists(SOURCE, tmp_path, quiet)
