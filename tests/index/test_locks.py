"""Who writes an index waits for another process that publishes or changes it, and not for ever."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.index.catalogs import catalog, tool
from toolsearch.errors import IndexBusy
from toolsearch.index import building, copies, store, writing
from toolsearch.index.layout import Layout
from toolsearch.index.tool_index import ToolIndex

PUBLISHES = """
import sys, time
from pathlib import Path
from toolsearch.index.locks import BuildLock
with BuildLock(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(float(sys.argv[2]))
"""
CHANGES = """
import sqlite3, sys, time
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("BEGIN IMMEDIATE")
print("held", flush=True)
time.sleep(float(sys.argv[2]))
connection.execute("COMMIT")
"""
BRIEFLY, LONG = 0.5, 60.0


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """An index, and a copy of it beside."""
    ToolIndex.build(tmp_path / "i", catalog(5), encoder="").close()
    copies.backup(tmp_path / "i", tmp_path / "copy")
    return tmp_path / "i"


@contextmanager
def holding(root: Path, script: str, seconds: float) -> Generator[subprocess.Popen[str]]:
    """Another process that publishes an index, or is in the middle of a change, for so long."""
    file = Layout(root).lock if script == PUBLISHES else Layout(root).truth
    command = [sys.executable, "-c", script, str(file), str(seconds)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        try:
            yield other
        finally:
            if seconds == LONG:
                other.kill()


def build(root: Path) -> None:
    ToolIndex.build(root, catalog(6), encoder="").close()


def restore(root: Path) -> None:
    copies.restore(root.with_name("copy"), root, replace=True)


def repair(root: Path) -> None:
    with ToolIndex.open(root) as index:
        index.verify(repair=True)


def upsert(root: Path) -> None:
    with ToolIndex.open(root) as index:
        index.upsert([tool(9)])


def remove(root: Path) -> None:
    with ToolIndex.open(root) as index:
        index.remove(["tool_1"])


WAITING = [(PUBLISHES, build), (PUBLISHES, restore), (PUBLISHES, repair), (CHANGES, build), (CHANGES, upsert)]
WAITING += [(CHANGES, remove)]
named = pytest.mark.parametrize(
    ("script", "act"),
    WAITING,
    ids=[f"{act.__name__}-{'publishes' if s == PUBLISHES else 'changes'}" for s, act in WAITING],
)


@named
def test_who_comes_meanwhile_waits(root: Path, script: str, act: Callable[[Path], None]) -> None:
    """What is asked for while another process publishes or changes is done once that has ended."""
    with holding(root, script, BRIEFLY) as other:
        act(root)
        other.wait(60)
        assert other.returncode == 0
    with ToolIndex.open(root) as index:
        assert index.verify().ok


@named
def test_nobody_waits_for_ever(
    root: Path, script: str, act: Callable[[Path], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a while it is told who has the index; nothing was changed."""
    for room in (building, copies, store, writing):
        monkeypatch.setattr(room, "WAIT", 0.3)
    with holding(root, script, LONG) as other:
        said = rf"written by process {other.pid}" if script == PUBLISHES else "changed by another process"
        with pytest.raises(IndexBusy, match=said):
            act(root)
    with ToolIndex.open(root) as index:
        assert [spec.id for spec in index.view()] == [spec.id for spec in catalog(5)]


@pytest.mark.parametrize("act", [upsert, remove])
def test_changes_do_not_wait_for_who_publishes(root: Path, act: Callable[[Path], None]) -> None:
    """Tools are added and removed while another process writes derived files."""
    with holding(root, PUBLISHES, LONG) as other:
        act(root)
        assert other.poll() is None
