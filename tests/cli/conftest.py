"""Commands run in this process, and a small index made with them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from toolsearch.cli import main

TOOLS = [
    {"name": "refund_payment", "namespace": "pay", "description": "Give money back to a customer"},
    {"name": "void_payment", "namespace": "pay", "description": "Cancel an authorisation", "groups": ["finance"]},
    {"name": "send_mail", "namespace": "mail", "description": "Write to somebody", "tags": ["office"]},
]
Run = Callable[..., tuple[int, str, str]]


def write(path: Path, *tools: object) -> Path:
    """A file with one tool a line; texts are written as they are."""
    path.write_text("".join((tool if isinstance(tool, str) else json.dumps(tool)) + "\n" for tool in tools), "utf-8")
    return path


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs a command: exit code, standard output, standard error."""
    monkeypatch.delenv("TOOLSEARCH_INDEX", raising=False)
    monkeypatch.setenv("COLUMNS", "100")

    def command(*arguments: object) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as ended:
            main([str(one) for one in arguments])
        out, err = capsys.readouterr()
        return int(ended.value.code or 0), out, err

    return command


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    """A file of three tools."""
    return write(tmp_path / "tools.jsonl", *TOOLS)


@pytest.fixture
def index(tmp_path: Path, tools: Path, run: Run) -> Path:
    """An index of the three tools, by words only so that it is quick."""
    place = tmp_path / "shop"
    assert run("index", "build", place, "--from", tools, "--encoder", "")[0] == 0
    return place
