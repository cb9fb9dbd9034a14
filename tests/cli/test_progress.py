"""How far a build is, told where there is no terminal."""

from __future__ import annotations

import pytest

from toolsearch.cli import progress
from toolsearch.index.progress import Progress


def test_lines_tell_stage_count_and_what_is_left(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    """Each line names the stage, how far it is, and the seconds that are left where the total is known."""
    clock = iter([0.0, 1.0, 3.0, 4.0])
    monkeypatch.setattr(progress, "monotonic", lambda: next(clock))
    monkeypatch.setattr(progress, "PAUSE", 1.0)
    lines = progress.Lines()
    lines.told(Progress(stage="read", done=2048, total=0))
    lines.told(Progress(stage="read", done=6144, total=0))
    lines.told(Progress(stage="encode", done=1, total=4))
    assert capsys.readouterr().err.splitlines() == ["read 2,048", "read 6,144, 3,072/s", "encode 1 of 4"]


def test_quick_builds_say_nothing(capsys: pytest.CaptureFixture) -> None:
    """Before the first pause is over nothing is told."""
    lines = progress.Lines()
    lines.told(Progress(stage="read", done=5, total=5))
    assert capsys.readouterr().err == ""
