"""Files that are missing, cut, changed or cannot be written: named, and mended from the truth."""

from __future__ import annotations

import errno
import json
import os
import pickle
import shutil
import sqlite3
from pathlib import Path

import numpy as np
import pytest

from tests.index.catalogs import by_vectors, by_words, catalog, ids, tool
from tests.strategies.words_encoder import WordsEncoder
from toolsearch.errors import IndexFault, IndexMismatch
from toolsearch.index import derived
from toolsearch.index.layout import Layout
from toolsearch.index.tool_index import ToolIndex


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A folder with an index of ten tools."""
    ToolIndex.build(tmp_path / "i", catalog(10), encoder=WordsEncoder()).close()
    return tmp_path / "i"


def opened(root: Path) -> ToolIndex:
    return ToolIndex.open(root, encoder=WordsEncoder())


def folder(root: Path) -> Path:
    found = derived.newest(Layout(root))
    assert found is not None
    return found


def changed(root: Path, statement: str) -> None:
    connection = sqlite3.connect(Layout(root).truth)
    connection.execute(statement)
    connection.commit()
    connection.close()


def test_another_format_is_refused(root: Path) -> None:
    """A database of a later format is not touched; the error names both formats."""
    changed(root, "UPDATE meta SET value = '99' WHERE key = 'format'")
    with pytest.raises(IndexMismatch, match="99"):
        opened(root)


@pytest.mark.parametrize("name", ["words_rows.npy", "vectors.npy", "manifest.json", "truth_rows.npy"])
@pytest.mark.parametrize("size", ["gone", "nothing", "one", "half", "less"])
def test_cut_derived_files_are_made_again(root: Path, name: str, size: str) -> None:
    """A file that is missing or cut anywhere is noticed at opening, named, and made anew."""
    path = folder(root) / name
    whole = path.stat().st_size
    if size == "gone":
        path.unlink()
    else:
        os.truncate(path, {"nothing": 0, "one": 1, "half": whole // 2, "less": whole - 1}[size])
    with opened(root) as index:
        assert ids(index) == [f"tool_{n}" for n in range(10)]
        assert by_vectors(index, f"tool 3: {tool(3).description}")[0][0] == "tool_3"
        assert index.status.notes
    with opened(root) as again:
        assert again.status.notes == ()
        assert again.verify().ok


def test_a_missing_folder_of_derived_files_is_made_again(root: Path) -> None:
    """Without any derived file the index opens all the same."""
    shutil.rmtree(Layout(root).segments)
    with opened(root) as index:
        assert by_words(index, tool(1).description)
        assert index.verify().ok


def test_a_flipped_bit_is_found_and_repaired(root: Path) -> None:
    """`verify` reads every byte, and `repair` makes the file again."""
    path = folder(root) / "words_weights.npy"
    content = bytearray(path.read_bytes())
    content[-2] ^= 4
    path.write_bytes(content)
    with opened(root) as index:
        report = index.verify()
        assert not report.ok
        assert "words_weights" in report.problems[0]
        assert index.verify(repair=True).ok


def test_files_of_another_generation_are_found_and_repaired(root: Path) -> None:
    """`verify` compares what is searched with what the database lists; a tool that has left does not come back."""
    with opened(root) as index:
        index.remove(["tool_3"])
    manifest = folder(root) / "manifest.json"
    manifest.write_text(json.dumps({**json.loads(manifest.read_text()), "generation": 2}))
    with opened(root) as index:
        assert "1 tools are searched and not in the database" in index.verify().problems[0]
        assert index.verify(repair=True).ok
        assert "tool_3" not in ids(index)


@pytest.mark.parametrize("harm", [(b"), }", b"(, }"), (b"'descr'", b"'descq'"), (b"{", b"\x00"), (b"NUMPY", b"NUMPX")])
def test_a_damaged_header_is_noticed_at_opening(root: Path, harm: tuple[bytes, bytes]) -> None:
    """A header of an array that cannot be read is named, and the files are made anew."""
    path = folder(root) / "lengths.npy"
    path.write_bytes(path.read_bytes().replace(*harm, 1))
    with opened(root) as index:
        assert by_words(index, tool(1).description)
        assert index.status.notes
        assert index.verify().ok


def test_numbers_that_point_outside_are_noticed(root: Path) -> None:
    """Rows that do not exist would crash a search: the arrays are refused at opening."""
    path = folder(root) / "words_rows.npy"
    array = np.load(path)
    array[0] = 10_000
    np.save(path, array)
    with opened(root) as index:
        assert by_words(index, tool(1).description)
        assert "do not fit" in index.status.notes[0]


def test_a_pickle_is_refused(root: Path, tmp_path: Path) -> None:
    """A file that would run code when it is read never does."""
    path, touched = folder(root) / "lengths.npy", tmp_path / "touched"

    class Evil:
        def __reduce__(self):
            return (os.mkdir, (str(touched),))

    evil = pickle.dumps(Evil())
    path.write_bytes(evil)
    manifest = folder(root) / "manifest.json"
    body = json.loads(manifest.read_text())
    body["files"]["lengths"][0] = len(evil)
    manifest.write_text(json.dumps(body))
    with opened(root) as index:
        assert by_words(index, tool(1).description)
    assert not touched.exists()


@pytest.mark.parametrize("content", [b"", b"SQLite format 3\0 and then nothing", b"not a database at all" * 100])
def test_a_damaged_database_is_named(root: Path, content: bytes) -> None:
    """Without its truth an index cannot be opened; the error says the way out."""
    Layout(root).truth.write_bytes(content)
    with pytest.raises(IndexFault, match="build"):
        opened(root)


def test_a_changed_body_is_found(root: Path) -> None:
    """A tool that differs from its checksum is a problem that `verify` names."""
    changed(root, "UPDATE bodies SET body = replace(body, 'tool_1', 'tool_x')")
    with opened(root) as index:
        assert any("checksum" in problem for problem in index.verify().problems)


def test_a_body_that_is_no_json_is_named(root: Path) -> None:
    """Repairing cannot make a tool that the database has lost; the error names the body and the ways out."""
    changed(root, "UPDATE bodies SET body = replace(body, ':', '*') WHERE number = 3")
    with opened(root) as index, pytest.raises(IndexFault, match="tool body 3 .* restore"):
        index.verify(repair=True)


def test_a_full_disk_leaves_the_old_files(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """When derived files cannot be written, the build says so, and the index opens and answers."""

    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    before = folder(root)
    monkeypatch.setattr(np, "save", full)
    with pytest.raises(IndexFault, match="no space left"):
        ToolIndex.build(root, catalog(11), encoder=WordsEncoder())
    monkeypatch.undo()
    assert folder(root) == before
    assert not list(Layout(root).segments.glob(".new-*"))
    with opened(root) as index:
        assert len(index) == 11


def test_a_full_database_changes_nothing(root: Path) -> None:
    """When the database cannot grow, an upsert fails with one clear error and nothing of it is there."""
    with opened(root) as index:
        writer = index._parts.writer
        assert writer is not None
        writer.read(f"PRAGMA max_page_count = {writer.read('PRAGMA page_count')[0][0]}")
        with pytest.raises(IndexFault, match="no space left"):
            index.upsert([tool(n, "large " * 5000) for n in range(100, 130)])
        assert len(index) == 10
    with opened(root) as again:
        assert len(again) == 10
