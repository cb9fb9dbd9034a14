"""Base and delta become one on a thread of their own, and space is given back."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.index.catalogs import by_words, catalog, ids, tool
from tests.strategies.words_encoder import WordsEncoder
from toolsearch.index import changes, derived, leases, state
from toolsearch.index.layout import Layout
from toolsearch.index.tool_index import ToolIndex


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten changes are many."""
    monkeypatch.setattr(state, "SMALL", 10)


def test_changes_are_compacted_beside_searches(tmp_path: Path) -> None:
    """After many changes there is one new base on disk, which equals a fresh build; a reader takes it over."""
    root = tmp_path / "i"
    with ToolIndex.build(root, catalog(30), encoder=WordsEncoder()) as index:
        before = derived.newest(Layout(root))
        with ToolIndex.open(root, read_only=True, encoder=WordsEncoder()) as reader:
            for number in range(20):
                index.upsert([tool(number, f"violin number {number}")])
                assert by_words(index, f"number {number}")[0][0] == f"tool_{number}"
            index._writer.settled()
            assert derived.newest(Layout(root)) != before
            index.remove(["tool_3"])
            assert len(reader) == 29
            assert reader._parts.keeper._folder not in (None, before)
            with ToolIndex.from_tools(list(index.view()), encoder=WordsEncoder()) as fresh:
                for one in (index, reader):
                    assert ids(one) == ids(fresh)
                    assert by_words(one, "violin letter number", 40) == by_words(fresh, "violin letter number", 40)


def test_what_changes_meanwhile_is_the_new_delta(tmp_path: Path) -> None:
    """A base made of an older generation carries the changes that came while it was made."""
    with ToolIndex.build(tmp_path / "i", catalog(30), encoder="") as index:
        keeper = index._parts.keeper
        index.upsert([tool(1, "one thing")])
        whole = keeper._maker.whole

        def slow(*given: object) -> state.State:
            made = whole(*given)  # type: ignore[arg-type]
            index.upsert([tool(2, "another thing")])
            return made

        keeper._maker = type("Slow", (), {"whole": staticmethod(slow), "later": keeper._maker.later, "encoder": None})()
        assert keeper.compact()
        assert keeper._state.changes == 2
        assert ids(index)[-2:] == ["tool_1", "tool_2"]


def test_space_is_given_back(tmp_path: Path) -> None:
    """The files shrink after large tools have left and nobody holds their generation."""
    root = tmp_path / "i"
    with ToolIndex.build(root, catalog(30), encoder="") as index:
        index.upsert([tool(number, f"large {number} " + "word " * 20_000) for number in range(100, 110)])
        full = sum(file.stat().st_size for file in Layout(root).data.glob("truth*"))
        index.remove([f"tool_{number}" for number in range(100, 110)])
        for number in range(70):
            index.upsert([tool(number % 30, f"step {number}")])
        index._writer.settled()
        index._writer.collect()
        assert sum(file.stat().st_size for file in Layout(root).data.glob("truth*")) < full / 4


def test_builds_that_change_everything_do_not_pile_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A catalog of which every build is another keeps what is there and what was there in the last few."""
    monkeypatch.setattr(leases, "SPARE", 10)
    for number in range(9):
        tools = [tool(one, f"version {number} of {one}") for one in range(30)]
        ToolIndex.build(tmp_path / "i", tools, encoder="").close()
    with ToolIndex.open(tmp_path / "i") as index:
        assert index._parts.reader.read("SELECT count(*) FROM bodies") == [(30 * (1 + leases.LAST),)]


def test_changes_of_the_same_few_tools_do_not_pile_up(tmp_path: Path) -> None:
    """Where a few tools change all the time, what they were is given back, though there is nothing to compact."""
    with ToolIndex.build(tmp_path / "i", catalog(30), encoder="") as index:
        for number in range(200):
            index.upsert([tool(number % 4, f"step {number}")])
            index._writer.settled()
        [(bodies,)] = index._parts.reader.read("SELECT count(*) FROM bodies")
        assert bodies <= 30 + leases.KEPT + 2 * state.SMALL


def test_a_base_of_others_is_not_taken_for_newer_than_it_is(tmp_path: Path) -> None:
    """What is removed while another process has written a new base stays away at the next opening."""
    root = tmp_path / "i"
    ToolIndex.build(root, catalog(30), encoder="").close()
    with ToolIndex.open(root) as one, ToolIndex.open(root) as other:
        other.upsert([tool(number, f"violin {number}") for number in range(12)])
        other._writer.settled()
        one.remove(["tool_20"])
        assert len(one) == 29
        with ToolIndex.open(root) as later:
            assert ids(later) == ids(one)


def test_what_has_left_long_ago_stays_away(tmp_path: Path) -> None:
    """After hundreds of changes of a few tools an opening finds what is there, and nothing that has left."""
    root = tmp_path / "i"
    with ToolIndex.build(root, catalog(30), encoder=WordsEncoder()) as index:
        index.remove(["tool_7"])
        for number in range(3 * leases.KEPT):
            index.upsert([tool(number % 2, f"step {number}")])
            index._writer.settled()
        with ToolIndex.open(root, encoder=WordsEncoder()) as later:
            assert ids(later) == ids(index)
            assert by_words(later, "violin letter number", 40) == by_words(index, "violin letter number", 40)


def test_an_old_base_is_made_anew_from_what_is_there(tmp_path: Path) -> None:
    """Where what left since a base was written is forgotten, neither an opening nor a reader goes by that base."""
    root = tmp_path / "i"
    with ToolIndex.build(root, catalog(30), encoder="") as index, ToolIndex.open(root, read_only=True) as reader:
        index.remove(["tool_7", "tool_8"])
        index.upsert([tool(9, "another")])
        changes.collect(index._writer._store(), 3, None)
        assert index._parts.reader.read("SELECT count(died) FROM entries") == [(0,)]
        assert ids(reader) == ids(index)
        with ToolIndex.open(root) as later:
            assert ids(later) == ids(index)
