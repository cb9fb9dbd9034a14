"""`toolsearch train --from-log`: an index adapted to its users, and back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from toolsearch import ToolIndex, ToolSpec
from toolsearch.cli import main
from toolsearch.encoders.adapted import FILE


def ended(*given: str) -> int:
    """The exit status of a command."""
    with pytest.raises(SystemExit) as end:
        main([*given])
    return int(end.value.code or 0)


def test_train_says_what_it_needs(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Without an index or a file there is nothing to do, and the message shows the whole command."""
    assert ended("train") == 2
    assert ended("train", "-i", str(tmp_path)) == 2
    assert capsys.readouterr().err.count("toolsearch train --from-log FILE -i INDEX") == 2


def test_forgetting_takes_the_map_away(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """One command goes back and names the reload; without a map it says so; where there is no index it is refused."""
    ToolIndex.build(tmp_path / "it", [ToolSpec(name="send_mail")], encoder="").close()
    (tmp_path / "it" / FILE).write_bytes(b"any")
    assert ended("train", "--forget", "-i", str(tmp_path / "it")) == 0
    assert "/reload" in capsys.readouterr().out
    assert ended("train", "--forget", "-i", str(tmp_path / "it")) == 0
    assert not (tmp_path / "it" / FILE).exists()
    assert "has no adaptation" in capsys.readouterr().out
    assert ended("train", "--forget", "-i", str(tmp_path / "nothing")) != 0
    assert "there is no index" in capsys.readouterr().err


def test_too_few_requests_change_nothing(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """A short file is refused with the number that is needed."""
    queries = tmp_path / "queries.jsonl"
    queries.write_text(json.dumps({"id": "1", "query": "write to Ann", "relevant": ["send_mail"]}) + "\n", "utf-8")
    ToolIndex.build(tmp_path / "it", [ToolSpec(name="send_mail", description="Send a mail")]).close()
    assert ended("train", "--from-log", str(queries), "-i", str(tmp_path / "it")) == 2
    assert "are needed to test" in capsys.readouterr().err
    assert not (tmp_path / "it" / FILE).exists()


def test_a_service_without_plain_searches_is_named(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """A state file in which no search was logged in plain text says so."""
    from toolsearch.server.state import StateFile

    StateFile(tmp_path / "state.db").close()
    ToolIndex.build(tmp_path / "it", [ToolSpec(name="send_mail", description="Send a mail")]).close()
    assert ended("train", "--from-log", str(tmp_path / "state.db"), "-i", str(tmp_path / "it")) == 2
    assert "plain text" in capsys.readouterr().err
