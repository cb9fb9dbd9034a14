"""Building from files: read one by one, known lines are not read again, and what is broken is named."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.index.catalogs import by_words, ids
from toolsearch.catalog.loaded import Problem
from toolsearch.errors import InvalidInput, InvalidSource
from toolsearch.index import bodies, changes, staging
from toolsearch.index.feeds import SourceTools
from toolsearch.index.locks import BuildLock
from toolsearch.index.staging import Stage
from toolsearch.index.store import Store
from toolsearch.index.tool_index import ToolIndex


def written(path: Path, names: list[str], words: str = "letter engine") -> Path:
    path.write_text("".join(json.dumps({"name": name, "description": words}) + "\n" for name in names), "utf-8")
    return path


def test_a_rebuild_changes_only_other_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file built again after some lines changed, left, came and moved gives what a fresh build of it gives."""
    monkeypatch.setattr(staging, "BLOCK", 3)
    source = written(tmp_path / "t.jsonl", [f"tool_{n}" for n in range(10)])
    ToolIndex.build(tmp_path / "i", SourceTools([source]), encoder="").close()
    lines = source.read_text().splitlines()
    lines = [lines[5], *lines[:3], lines[4].replace("engine", "forest"), *lines[6:]]
    source.write_text("\n".join([*lines, json.dumps({"name": "fresh"})]), "utf-8")
    with ToolIndex.build(tmp_path / "i", SourceTools([source]), encoder="") as index:
        assert index.changes.added == ("fresh",)
        assert index.changes.changed == ("tool_4",)
        assert index.changes.removed == ("tool_3",)
        assert index.changes.unchanged == 8
        with ToolIndex.build(tmp_path / "j", SourceTools([source]), encoder="") as other:
            assert ids(index) == ids(other) == [spec.id for spec in SourceTools([source])]
            assert by_words(index, "letter forest", 20) == by_words(other, "letter forest", 20)


def test_known_lines_are_found_by_their_text(tmp_path: Path) -> None:
    """A line that was read before is known while its tool's body is there, blanks around it aside."""
    source = written(tmp_path / "t.jsonl", ["one", "two"])
    ToolIndex.build(tmp_path / "i", SourceTools([source]), encoder="").close()
    store = Store(tmp_path / "i")
    line = source.read_text().splitlines()[0]
    digest = staging._digest(f"  {line}\n")
    assert bodies.lines(store, [digest, "other"]) == {digest: ("one", store.entries()["one"].hash, "")}
    store.close()
    written(source, ["two"])
    ToolIndex.build(tmp_path / "i", SourceTools([source]), encoder="").close()
    with ToolIndex.open(tmp_path / "i") as index:
        writer = index._parts.writer
        assert writer is not None
        changes.collect(writer, writer.generation, None)
        assert bodies.lines(writer, [digest]) == {}


@pytest.mark.parametrize("again", [False, True])
def test_equal_ids_of_two_sources_name_both_places(tmp_path: Path, again: bool) -> None:
    """The second tool with an id is refused, or left out and told; also when both lines are known."""
    first, second = written(tmp_path / "a.jsonl", ["one", "two"]), written(tmp_path / "b.jsonl", ["three", "two"])
    if again:
        for source in (first, second):
            ToolIndex.build(tmp_path / "i", SourceTools([source]), encoder="").close()
    with pytest.raises(InvalidSource, match=r"b\.jsonl:2: the id 'two' is taken by a\.jsonl:2"):
        ToolIndex.build(tmp_path / "i", SourceTools([first, second]), encoder="")
    told: list[Problem] = []
    sources = SourceTools([first, second], keep_going=True, problem=told.append)
    with ToolIndex.build(tmp_path / "i", sources, encoder="") as index:
        assert ids(index) == ["one", "two", "three"]
    assert [str(one) for one in told] == ["b.jsonl:2: the id 'two' is taken by a.jsonl:2"]


def test_a_broken_line_is_named_and_nothing_is_made(tmp_path: Path) -> None:
    """The first broken line ends a build that was not told to keep going; there is no index then."""
    source = tmp_path / "t.jsonl"
    source.write_text('{"name": "one"}\n\n{"name": \n', "utf-8")
    with pytest.raises(InvalidInput, match=r"t\.jsonl:3: not JSON"):
        ToolIndex.build(tmp_path / "i", SourceTools([source]), encoder="")
    assert not list((tmp_path / "i" / "data").glob("truth*"))


@pytest.mark.parametrize("around", ["\u00a0", "\x1c", "\u2003"])
def test_a_known_line_with_other_blanks_is_not_known(tmp_path: Path, around: str) -> None:
    """What a fresh build refuses, a rebuild refuses too: only blanks of JSON may stand around a line."""
    source = written(tmp_path / "t.jsonl", ["one"])
    ToolIndex.build(tmp_path / "i", SourceTools([source]), encoder="").close()
    source.write_text(around + source.read_text("utf-8"), "utf-8")
    with pytest.raises(InvalidInput, match=r"t\.jsonl:1: not JSON"):
        ToolIndex.build(tmp_path / "i", SourceTools([source]), encoder="")


def test_a_failed_build_leaves_no_bodies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tools that were read before a broken line are gone from the database, and the index is as it was."""
    monkeypatch.setattr(staging, "BLOCK", 2)
    ToolIndex.build(tmp_path / "i", SourceTools([written(tmp_path / "t.jsonl", ["one"])]), encoder="").close()
    source = written(tmp_path / "t.jsonl", ["two", "three", "four"])
    source.write_text(source.read_text("utf-8") + "broken\n", "utf-8")
    with pytest.raises(InvalidInput, match=r"t\.jsonl:4"):
        ToolIndex.build(tmp_path / "i", SourceTools([source]), encoder="")
    with ToolIndex.open(tmp_path / "i") as index:
        assert ids(index) == ["one"]
        assert index._parts.reader.read("SELECT count(*) FROM bodies") == [(1,)]


def test_nothing_is_collected_under_a_build(tmp_path: Path) -> None:
    """Bodies that a build has written, and not yet listed, are left alone by whoever compacts meanwhile."""
    ToolIndex.build(tmp_path / "i", SourceTools([written(tmp_path / "t.jsonl", ["one"])]), encoder="").close()
    with ToolIndex.open(tmp_path / "i") as index:
        layout, store = index._parts.layout, Store(tmp_path / "i")
        assert layout is not None
        with BuildLock(layout.lock):
            tools = Stage(store, SourceTools([written(tmp_path / "t.jsonl", ["one", "two"])])).filled()
            index._writer.collect()
            assert changes.arrange(store, tools).added == ("two",)
        store.close()
