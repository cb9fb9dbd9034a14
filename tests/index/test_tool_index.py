"""The facade: what can be done with an index, in memory and in a folder alike."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.index.catalogs import by_vectors, by_words, catalog, ids, tool
from tests.strategies.words_encoder import WordsEncoder
from toolsearch.errors import DuplicateTool, EncoderFailed, IndexFault, IndexNotFound, InvalidInput, InvalidSource
from toolsearch.index.tool_index import ToolIndex
from toolsearch.tool import Tool, ToolSpec

Make = Callable[[list[ToolSpec]], ToolIndex]


@pytest.fixture(params=["memory", "folder"])
def make(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Make]:
    """Makes an index in memory or in a folder."""
    made: list[ToolIndex] = []

    def one(tools: list[ToolSpec]) -> ToolIndex:
        if request.param == "memory":
            made.append(ToolIndex.from_tools(tools, encoder=WordsEncoder()))
        else:
            made.append(ToolIndex.build(tmp_path / f"i{len(made)}", tools, encoder=WordsEncoder()))
        return made[-1]

    yield one
    for index in made:
        index.close()


def test_tools_are_there_in_order(make: Make) -> None:
    """An index holds what it was made of, in that order."""
    index = make(catalog(5))
    assert ids(index) == [f"tool_{n}" for n in range(5)]
    assert index.changes.added == tuple(ids(index))
    assert len(index) == 5


def test_upsert_tells_what_it_did(make: Make) -> None:
    """Added, changed and unchanged tools are told apart; a changed one is found by its new words only."""
    index = make(catalog(4))
    done = index.upsert([tool(0), tool(1, "zebra crossing"), tool(9)])
    assert (done.added, done.changed, done.unchanged) == (("tool_9",), ("tool_1",), 1)
    assert by_words(index, "zebra")[0][0] == "tool_1"
    assert by_vectors(index, "tool 1: zebra crossing")[0][0] == "tool_1"
    assert "tool_1" not in dict(by_words(index, tool(1).description))
    assert ids(index) == ["tool_0", "tool_2", "tool_3", "tool_1", "tool_9"]


def test_nothing_changed_makes_no_generation(make: Make) -> None:
    """Upserting what is there already leaves the generation."""
    index = make(catalog(3))
    before = index.status.generation
    assert not index.upsert(catalog(3))
    assert index.status.generation == before


def test_removed_tools_are_gone(make: Make) -> None:
    """A removed tool is found by nothing, and unknown ids are ignored."""
    index = make(catalog(6))
    assert index.remove(["tool_2", "nobody"]).removed == ("tool_2",)
    assert index.get("tool_2") is None
    assert "tool_2" not in dict(by_words(index, tool(2).description))
    assert "tool_2" not in dict(by_vectors(index, tool(2).description, 99))
    assert len(index) == 5


def test_replace_follows_a_source(make: Make) -> None:
    """What a source no longer lists leaves; tools of other sources stay."""
    index = make([tool(0)])
    index.replace("mcp:x", [tool(1), tool(2)])
    done = index.replace("mcp:x", [tool(2), tool(3)])
    assert (done.added, done.removed, done.unchanged) == (("tool_3",), ("tool_1",), 1)
    assert ids(index) == ["tool_0", "tool_2", "tool_3"]


def test_fingerprints_cannot_be_fooled(make: Make) -> None:
    """Catalogs whose joined texts are equal are different, and so is a change of parameters only."""
    index = make([ToolSpec(name="a", description="p|b q"), ToolSpec(name="c", description="r")])
    index.replace("", [ToolSpec(name="a", description="p"), ToolSpec(name="b", description="q|c r")])
    assert ids(index) == ["a", "b"]
    deeper = ToolSpec(name="a", description="p", parameters={"type": "object", "properties": {"harpoon": {}}})
    assert index.upsert([deeper]).changed == ("a",)
    assert by_words(index, "harpoon")[0][0] == "a"


def test_a_view_stays_as_it_was(make: Make) -> None:
    """Who holds a view sees one generation, whatever happens to the index."""
    index = make(catalog(4))
    view = index.view()
    index.remove(["tool_0"])
    index.upsert([tool(1, "other words")])
    assert [spec.id for spec in view] == [f"tool_{n}" for n in range(4)]
    assert view.get("tool_1") == tool(1)


def test_groups_and_filters(make: Make) -> None:
    """A caller gets what its groups allow, and a filter narrows that."""
    index = make([tool(0), tool(1, groups=("ops",)), tool(2, namespace="n", groups=("ops",))])
    assert index.get("tool_1", caller=[]) is None
    assert [spec.id for spec in index.view(caller=["ops"], filter="namespace = n")] == ["n/tool_2"]


def test_pages_cover_the_catalog(make: Make) -> None:
    """Following cursors gives every tool once, also while tools that were listed are removed."""
    index = make(catalog(25))
    seen: list[str] = []
    cursor: str | None = None
    while True:
        page = index.tools(cursor=cursor, limit=10)
        seen += [spec.id for spec in page.tools]
        cursor = page.next_cursor
        if cursor is None:
            break
        index.remove(["tool_0"])
    assert seen == [f"tool_{n}" for n in range(25)]


@pytest.mark.parametrize(("cursor", "limit"), [("x", 5), ("-1", 5), ("9" * 40, 5), (None, 0), (None, 5000)])
def test_wrong_pages_are_refused(make: Make, cursor: str | None, limit: int) -> None:
    """A limit or cursor that cannot be is named."""
    with pytest.raises(InvalidInput):
        make(catalog(2)).tools(cursor=cursor, limit=limit)


def test_two_tools_with_one_id_are_refused(make: Make) -> None:
    """Duplicate ids are an error that names the id, and nothing changes."""
    index = make(catalog(2))
    with pytest.raises(DuplicateTool, match="tool_7"):
        index.upsert([tool(7), tool(7, "again")])
    assert len(index) == 2


def test_an_empty_index_works(make: Make) -> None:
    """Nothing is found in nothing, until something is there."""
    index = make([])
    assert by_words(index, "letter") == []
    index.upsert([tool(1)])
    assert by_words(index, tool(1).description)[0][0] == "tool_1"


def test_one_text_is_encoded_once() -> None:
    """Only new texts are encoded, whatever else changed about a tool."""
    encoder = WordsEncoder()
    with ToolIndex.from_tools(catalog(10), encoder=encoder) as index:
        assert len(encoder.seen) == 10
        index.upsert([*catalog(11), tool(3).with_(tags=("new",))][4:])
        assert len(encoder.seen) == 11


def test_executors_come_with_tools_and_are_bound() -> None:
    """A tool's own executor is found, and one that is bound by hand goes before it."""
    with ToolIndex.from_tools([Tool(tool(1), lambda a, c: "own"), tool(2)], encoder=None) as index:
        own = index.executor("tool_1")
        assert own is not None
        assert own({}, None) == "own"
        assert index.executor("tool_2") is None
        assert index.executor("nobody") is None
        index.bind({"tool_1": lambda a, c: "bound"})
        bound = index.executor("tool_1")
        assert bound is not None
        assert bound({}, None) == "bound"


def test_a_source_alone_runs_nothing() -> None:
    """A catalog from outside cannot make a module run."""
    evil = ToolSpec(name="evil", source="python:os:system")
    with ToolIndex.from_tools([evil], encoder=None) as index, pytest.raises(InvalidSource, match="does not allow"):
        index.executor("evil")


def test_a_failing_encoder_never_keeps_a_tool_out() -> None:
    """A tool that could not be encoded is found by its words, and a note says so until it is encoded."""

    class Broken(WordsEncoder):
        broken = False

        def encode(self, texts, role):
            if self.broken:
                raise EncoderFailed("no answer in 1 s")
            return super().encode(texts, role)

    encoder = Broken()
    with ToolIndex.from_tools(catalog(3), encoder=encoder) as index:
        encoder.broken = True
        index.upsert([tool(50, "submarine")])
        assert by_words(index, "submarine")[0][0] == "tool_50"
        assert any("no answer" in note for note in index.status.notes)
        assert any("1 tools have no vector" in note for note in index.status.notes)
        encoder.broken = False
        index.upsert([tool(50, "submarine")])
        assert by_vectors(index, "tool 50: submarine")[0][0] == "tool_50"
        assert index.status.notes == ()


def test_a_closed_index_says_so() -> None:
    """Using an index after `close` is an error that says what happened."""
    index = ToolIndex.from_tools(catalog(2), encoder=None)
    index.close()
    with pytest.raises(IndexFault, match="closed"):
        index.upsert(catalog(3))


def test_no_index_at_the_path(tmp_path: Path) -> None:
    """Opening nothing names the path and the command that makes an index."""
    with pytest.raises(IndexNotFound, match="toolsearch index build"):
        ToolIndex.open(tmp_path / "none")
    with pytest.raises(IndexNotFound, match="sources"):
        ToolIndex.build(tmp_path / "none")


def test_an_index_is_not_a_file(tmp_path: Path) -> None:
    """A file in the place of the folder is refused."""
    (tmp_path / "file").write_text("x")
    with pytest.raises(InvalidInput, match="is a file"):
        ToolIndex.build(tmp_path / "file", catalog(1), encoder="")


def test_search_and_explain_agree(make: Make) -> None:
    """What is found is explained, and what is not there for the caller is explained as absent."""
    index = make([*catalog(12), tool(50, "refund a payment to the customer", groups=("money",))])
    found = index.search("refund the payment", k=3)
    assert found.ids[0] == "tool_50"
    assert found.generation == index.status.generation
    assert index.explain("refund the payment", "tool_50").rank == 1
    assert "tool_50" not in index.search("refund the payment", caller=["other"]).ids
    assert index.explain("refund the payment", "tool_50", caller=[]).rank is None


@pytest.mark.parametrize("strategy", ["hybrid", "lexical", "vector", "simple"])
def test_every_strategy_searches_an_index(make: Make, strategy: str) -> None:
    """Each strategy finds a tool by its own name first, with filter and exclusions respected."""
    index = make([tool(n, namespace="even" if n % 2 == 0 else "odd") for n in range(10)])
    assert index.search("tool_3", strategy=strategy).ids[0] == "odd/tool_3"
    found = index.search("tool invoice letter", strategy=strategy, filter="namespace = even", exclude=["even/tool_0"])
    assert set(found.ids) <= {f"even/tool_{n}" for n in (2, 4, 6, 8)}


def test_functions_become_tools(make: Make) -> None:
    """A plain function can be handed in; it is found by its docstring and runs when it is called."""

    def refund(order: str) -> str:
        """Give the customer their money back."""
        return f"refunded {order}"

    index = make([])
    index.upsert([refund])
    assert index.search("money back").ids == ["refund"]
    run = index.executor("refund")
    assert run is not None


def test_notes_reach_the_answer(tmp_path: Path) -> None:
    """A search of an index whose encoder is not there says that only words were searched."""
    ToolIndex.build(tmp_path / "i", catalog(3), encoder=WordsEncoder()).close()
    with ToolIndex.open(tmp_path / "i") as index:
        found = index.search(tool(1).description)
        assert found.ids
        assert any("only words are searched" in note for note in found.notes)
