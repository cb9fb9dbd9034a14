"""Copies of an index: whole, taken while it is used, checked before they are put back."""

from __future__ import annotations

import shutil
import threading
from pathlib import Path

import pytest

from tests.index.catalogs import by_vectors, catalog, ids, tool
from tests.strategies.words_encoder import WordsEncoder
from toolsearch.errors import IndexBusy, IndexFault, IndexNotFound, InvalidInput
from toolsearch.index.copies import BESIDE, backup, restore
from toolsearch.index.layout import Layout
from toolsearch.index.locks import BuildLock, held
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
    with BuildLock(Layout(root).lock, builds=True), pytest.raises(IndexBusy):
        restore(copy, root, replace=True)


def test_a_full_disk_leaves_no_copy(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A copy that cannot be finished is not there at all."""

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("toolsearch.index.copies.shutil.copyfile", full)
    with pytest.raises(IndexFault, match="no space left"):
        backup(root, tmp_path / "c")
    assert {path.name for path in tmp_path.iterdir()} == {"i"}


def test_folders_that_no_restore_noted_stay(root: Path) -> None:
    """What people put beside the data is theirs, whatever its name; so is the folder of a backup under way."""
    kept = [root / "data.before-upgrade", root / "data.before-11111111", root / f".new-{'1' * 32}"]
    for folder in kept:
        shutil.copytree(root / "data", folder)
    with opened(root):
        assert all(folder.is_dir() for folder in kept)


def test_an_opening_to_read_changes_nothing(root: Path) -> None:
    """A restore that was killed is ended by an opening that may write; one to read names it and the way out."""
    old = root / "data.before-11111111"
    (root / ".restoring").write_text(f"1\n.new-{'1' * 32}\n{old.name}\n", "ascii")
    (root / "data").rename(old)
    with pytest.raises(IndexNotFound, match="toolsearch index verify --repair"):
        ToolIndex.open(root, read_only=True)
    assert old.is_dir()
    with opened(root) as index:
        assert len(index) == 10
    assert {path.name for path in root.iterdir()} == {"index.toml", "data"}


def test_a_restore_under_way_is_left_alone(root: Path) -> None:
    """While somebody restores, whoever opens the index touches none of its folders."""
    fresh = root / f".new-{'1' * 32}"
    fresh.mkdir()
    with BuildLock(root / ".restoring", f"1\n{fresh.name}\ndata.before-11111111\n"):
        opened(root).close()
        assert fresh.is_dir()
    opened(root).close()
    assert not fresh.exists()


def test_a_copy_has_the_files_beside_the_data(root: Path, tmp_path: Path) -> None:
    """An adaptation and a calibration are copied and put back; those of a replaced index leave with it."""
    plain = backup(root, tmp_path / "plain")
    for name in BESIDE[1:]:
        (root / name).write_text("of this index", "utf-8")
    whole = backup(root, tmp_path / "whole")
    restore(plain, root, replace=True)
    assert {path.name for path in root.iterdir()} == {"index.toml", "data"}
    restore(whole, root, replace=True)
    assert {path.name for path in root.iterdir()} == {*BESIDE, "data"}


@pytest.mark.parametrize("moment", ["copied", "old away", "new in place", "beside"])
def test_a_killed_restore_leaves_the_one_or_the_other(root: Path, tmp_path: Path, moment: str) -> None:
    """Wherever a restore was ended, opening gives a whole index with its own definition, and nothing is left over."""
    copy = backup(root, tmp_path / "c")
    (copy / "index.toml").write_text('name = "copied"\n', "utf-8")
    with opened(root) as index:
        index.remove(["tool_3"])
    fresh, old = root / f".new-{'1' * 32}", root / "data.before-11111111"
    (root / ".restoring").write_text(f"1\n{fresh.name}\n{old.name}\n", "ascii")
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


def test_who_asks_for_a_lock_does_not_hinder_a_build(root: Path) -> None:
    """Looking whether an index is being built never makes it look so to a builder, nor to others who look."""
    lock, stop = Layout(root).lock, threading.Event()
    found: list[bool] = []

    def look() -> None:
        while not stop.is_set():
            held(lock)

    lookers = [threading.Thread(target=look) for _ in range(2)]
    for one in lookers:
        one.start()
    try:
        for _ in range(200):
            found.append(held(lock))
            with BuildLock(lock):
                pass
    finally:
        stop.set()
        for one in lookers:
            one.join()
    assert not any(found)
