"""An index in a folder: what outlives the process, and who sees it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.index.catalogs import by_vectors, by_words, catalog, ids, tool
from tests.strategies.words_encoder import WordsEncoder
from toolsearch import text
from toolsearch.errors import IndexBusy, IndexReadOnly
from toolsearch.index.layout import Layout
from toolsearch.index.locks import BuildLock
from toolsearch.index.tool_index import ToolIndex


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A folder with an index of ten tools."""
    ToolIndex.build(tmp_path / "i", catalog(10), encoder=WordsEncoder()).close()
    return tmp_path / "i"


def opened(root: Path, *, read_only: bool = False) -> ToolIndex:
    return ToolIndex.open(root, encoder=WordsEncoder(), read_only=read_only)


def test_what_was_built_is_opened(root: Path) -> None:
    """A new process finds the tools, their order, words and vectors, and encodes nothing."""
    encoder = WordsEncoder()
    with ToolIndex.open(root, encoder=encoder) as index:
        assert ids(index) == [f"tool_{n}" for n in range(10)]
        assert by_words(index, tool(3).description)
        assert by_vectors(index, f"tool 3: {tool(3).description}")[0][0] == "tool_3"
        assert encoder.seen == []
        assert index.status.notes == ()


def test_changes_outlive_the_process(root: Path) -> None:
    """What was upserted and removed is there at the next opening."""
    with opened(root) as index:
        index.upsert([tool(77, "zebra")])
        index.remove(["tool_0"])
    with opened(root) as again:
        assert ids(again) == [*(f"tool_{n}" for n in range(1, 10)), "tool_77"]
        assert by_words(again, "zebra")[0][0] == "tool_77"


def test_another_reader_follows(root: Path) -> None:
    """A reader that was open before sees changes at its next search; a view it holds stays."""
    with opened(root) as writer, opened(root, read_only=True) as reader:
        before = reader.view()
        writer.remove(["tool_4"])
        writer.upsert([tool(50)])
        assert "tool_4" not in ids(reader)
        assert "tool_50" in ids(reader)
        assert [spec.id for spec in before] == [f"tool_{n}" for n in range(10)]


def test_a_build_makes_the_order_of_its_sources(root: Path) -> None:
    """Building again puts the tools into the given order, keeps unchanged ones, and encodes what is new."""
    encoder = WordsEncoder()
    tools = [*catalog(3, start=20), *catalog(10)[::-1]]
    with ToolIndex.build(root, tools, encoder=encoder) as index:
        assert ids(index) == [spec.id for spec in tools]
        assert (len(index.changes.added), index.changes.unchanged, index.changes.removed) == (3, 10, ())
        assert len(encoder.seen) == 3
        assert by_vectors(index, f"tool 3: {tool(3).description}")[0][0] == "tool_3"


def test_a_build_leaves_changed_tools_in_their_place(root: Path) -> None:
    """Ties go by the order of the sources, whichever tools changed since; an open reader follows."""
    tools = [*catalog(4), tool(4, "zebra"), *catalog(5, start=5), tool(30)]
    with opened(root) as reader:
        built = ToolIndex.build(root, tools, encoder=WordsEncoder())
        assert (built.changes.changed, built.changes.added) == (("tool_4",), ("tool_30",))
        assert ids(built) == ids(reader) == [spec.id for spec in tools]
        built.upsert([tool(40)])
        assert ids(reader)[-1] == "tool_40"
        built.close()


def test_a_search_during_a_build_answers_from_the_old_generation(root: Path) -> None:
    """While texts are encoded, an open index is what it was, and can even be changed."""
    with opened(root) as index:

        class Looking(WordsEncoder):
            looked = 0

            def encode(self, texts, role):
                self.looked += 1
                assert len(index) in (10, 11)
                index.upsert([tool(90)])
                return super().encode(texts, role)

        encoder = Looking()
        ToolIndex.build(root, catalog(12), encoder=encoder).close()
        assert encoder.looked == 1
        assert ids(index) == [f"tool_{n}" for n in range(12)]


def test_an_interrupted_build_goes_on(tmp_path: Path) -> None:
    """Texts that were encoded before a build failed are not encoded again."""

    class Dying(WordsEncoder):
        left = 1

        def encode(self, texts, role):
            if not self.left:
                raise KeyboardInterrupt
            self.left -= 1
            return super().encode(texts, role)

    with pytest.raises(KeyboardInterrupt):
        ToolIndex.build(tmp_path / "i", catalog(200), encoder=Dying())
    encoder = WordsEncoder()
    with ToolIndex.build(tmp_path / "i", catalog(200), encoder=encoder) as index:
        assert len(index) == 200
        assert len(encoder.seen) == 200 - 128


def test_two_builders_at_once(root: Path) -> None:
    """The second builder is told which process builds what; the index stays open for readers."""
    with BuildLock(Layout(root).lock, builds=True):
        with pytest.raises(IndexBusy, match=rf"i' is being built.*process {os.getpid()}"):
            ToolIndex.build(root, catalog(3), encoder=WordsEncoder())
        with opened(root) as index:
            assert len(index) == 10


def test_a_read_only_index_refuses_changes(root: Path) -> None:
    """Changes of an index that was opened to be read are refused, and nothing is written."""
    before = sorted(str(path) for path in root.rglob("*") if path.is_dir())
    with opened(root, read_only=True) as index:
        with pytest.raises(IndexReadOnly):
            index.upsert([tool(99)])
        with pytest.raises(IndexReadOnly):
            index.verify(repair=True)
        assert by_words(index, tool(1).description)
    assert sorted(str(path) for path in root.rglob("*") if path.is_dir()) == before


def test_another_encoder_is_named_and_mended(root: Path) -> None:
    """With another encoder words are still searched, a note names both, and the stated command mends it."""
    other = WordsEncoder(32, "other")
    with ToolIndex.open(root, encoder=other) as index:
        assert by_words(index, tool(1).description)
        assert index.view().corpus.dense is None
        (note,) = index.status.notes
        assert "words:24" in note
        assert "other:32" in note
        assert f"toolsearch index build {root}" in note
        index.upsert([tool(60)])
        assert other.seen == []
    with ToolIndex.build(root, encoder=other) as mended:
        assert mended.status.notes == ()
        assert by_vectors(mended, f"tool 3: {tool(3).description}")[0][0] == "tool_3"


def test_an_encoder_object_must_be_given_again(root: Path) -> None:
    """An encoder without a name cannot be opened by the index: it is searched by words and says why."""
    with ToolIndex.open(root) as index:
        assert "encoder=" in index.status.notes[0]
        assert by_words(index, tool(1).description)


def test_another_analyser_is_named(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Words of another analyser are made anew from the tools, and a note says so until the index is built."""
    monkeypatch.setattr(text, "ANALYSER", "next")
    with opened(root, read_only=True) as index:
        assert by_words(index, tool(1).description)
        assert any("analyser" in note for note in index.status.notes)
    ToolIndex.build(root, encoder=WordsEncoder()).close()
    with opened(root) as mended:
        assert mended.status.notes == ()
