"""`toolsearch index backup` and `restore`."""

from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import Run


def test_backup_and_restore(index: Path, tmp_path: Path, run: Run) -> None:
    """A copy goes back only when asked to replace what is there, and then says how much there is."""
    copy = tmp_path / "copy"
    assert run("index", "backup", index, copy)[0] == 0
    code, _, err = run("index", "restore", copy, index)
    assert code == 2
    assert "holds an index" in err
    code, out, _ = run("index", "restore", copy, index, "--replace")
    assert code == 0
    assert "tools again" in out
    assert run("search", "refund", "-i", index)[0] == 0
