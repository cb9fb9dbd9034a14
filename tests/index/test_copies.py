"""Copies of an index: whole, taken while it is used, checked before they are put back."""

from __future__ import annotations

import shutil
import threading
from pathlib import Path

import pytest

from tests.index.catalogs import by_vectors, catalog, ids, tool
from tests.strategies.words_encoder import WordsEncoder
from toolsearch.errors import IndexBusy, IndexFault, IndexNotFound, InvalidInput
from toolsearch.index.copies import backup, restore
from toolsearch.index.layout import Layout
from toolsearch.index.locks import BuildLock
from toolsearch.index.tool_index import ToolIndex


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A folder with an index of ten tools and a definition."""
    ToolIndex.build(tmp_path / "i", catalog(10), encoder=WordsEncoder()).close()
    (tmp_path / "i" / "index.toml").write_text('name = "i"\n', "utf-8")
    return tmp_path / "i"


def opened(path: Path) -> ToolIndex:
    return ToolIndex.open(path, encoder=WordsEncoder())


def test_a_copy_is_an_index_and_goes_back(root: Path, tmp_path: Path) -> None:
    """What was there when the copy was made is there again, vectors and definition too, and nothing is left over."""
    copy = backup(root, tmp_path / "backups" / "monday")
    with opened(root) as index:
        index.remove(ids(index))
    with opened(copy) as there:
        assert len(there) == 10
    restore(copy, root, replace=True)
    with opened(root) as index:
        assert ids(index) == [f"tool_{n}" for n in range(10)]
        assert by_vectors(index, f"tool 3: {tool(3).description}")[0][0] == "tool_3"
        assert index.verify(repair=True).ok
    assert (copy / "index.toml").read_text("utf-8") == 'name = "i"\n'
    assert {path.name for path in root.iterdir()} == {"index.toml", "data"}
    assert [path.name for path in (tmp_path / "backups").iterdir()] == ["monday"]


def test_a_copy_can_become_a_new_index(root: Path, tmp_path: Path) -> None:
    """Without an index in its place, nothing needs to be replaced."""
    restore(backup(root, tmp_path / "c"), tmp_path / "new")
    with opened(tmp_path / "new") as index:
        assert len(index) == 10


def test_a_copy_is_of_one_moment_while_others_write(root: Path, tmp_path: Path) -> None:
    """Tools that are changed in pairs are in every copy in pairs."""
    stop = threading.Event()

    def write() -> None:
        with opened(root) as index:
            step = 0
            while not stop.is_set():
                step += 1
                index.upsert([tool(100, f"pair {step}"), tool(101, f"pair {step}")])

    writer = threading.Thread(target=write)
    writer.start()
    try:
        copies = [backup(root, tmp_path / f"c{number}") for number in range(5)]
    finally:
        stop.set()
        writer.join()
    for copy in copies:
        with opened(copy) as index:
            found = [index.get(f"tool_{number}") for number in (100, 101)]
            assert (found[0] and found[0].description) == (found[1] and found[1].description)


def test_nothing_is_overwritten_unasked(root: Path, tmp_path: Path) -> None:
    """An existing target, an existing index and a missing copy are refused by name."""
    copy = backup(root, tmp_path / "c")
    with pytest.raises(InvalidInput, match="exists"):
        backup(root, copy)
    with pytest.raises(InvalidInput, match="holds an index"):
        restore(copy, root)
    with pytest.raises(IndexNotFound):
        restore(tmp_path / "nothing", root, replace=True)
    with pytest.raises(IndexNotFound):
        backup(tmp_path / "nothing", tmp_path / "d")


def test_a_damaged_copy_is_not_put_back(root: Path, tmp_path: Path) -> None:
    """A copy with changed bytes is refused, and the index stays as it was."""
    copy = backup(root, tmp_path / "c")
    truth = Layout(copy).truth
    content = bytearray(truth.read_bytes())
    content[4096:12288] = b"\xff" * 8192
    truth.write_bytes(content)
    with pytest.raises(IndexFault, match="damaged"):
        restore(copy, root, replace=True)
    with opened(root) as index:
        assert len(index) == 10


def test_an_index_under_construction_is_not_replaced(root: Path, tmp_path: Path) -> None:
    """Who builds keeps the right to the folder."""
    copy = backup(root, tmp_path / "c")
    with BuildLock(Layout(root).lock), pytest.raises(IndexBusy):
        restore(copy, root, replace=True)


def test_a_full_disk_leaves_no_copy(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A copy that cannot be finished is not there at all."""

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("toolsearch.index.copies.shutil.copyfile", full)
    with pytest.raises(IndexFault, match="no space left"):
        backup(root, tmp_path / "c")
    assert {path.name for path in tmp_path.iterdir()} == {"i"}


@pytest.mark.parametrize("moment", ["copied", "old away", "new in place", "beside"])
def test_a_killed_restore_leaves_the_one_or_the_other(root: Path, tmp_path: Path, moment: str) -> None:
    """Wherever a restore was ended, opening gives a whole index with its own definition, and nothing is left over."""
    copy = backup(root, tmp_path / "c")
    (copy / "index.toml").write_text('name = "copied"\n', "utf-8")
    with opened(root) as index:
        index.remove(["tool_3"])
    fresh, old = root / ".new-1", root / "data.before-1"
    shutil.copytree(copy / "data", fresh / "data")
    (fresh / "data" / "restored").mkdir()
    shutil.copyfile(copy / "index.toml", fresh / "data" / "restored" / "index.toml")
    if moment != "copied":
        (root / "data").rename(old)
    if moment in ("new in place", "beside"):
        (fresh / "data").rename(root / "data")
    if moment == "beside":
        shutil.copyfile(copy / "index.toml", root / "index.toml")
    with opened(root) as index:
        changed = moment in ("new in place", "beside")
        assert len(index) == (10 if changed else 9)
        assert (root / "index.toml").read_text("utf-8") == ('name = "copied"\n' if changed else 'name = "i"\n')
    assert {path.name for path in root.iterdir()} == {"index.toml", "data"}
    assert not (root / "data" / "restored").exists()
