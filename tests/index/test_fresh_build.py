"""Whatever was changed, in whatever order: an index answers as one that was built from scratch."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.index.catalogs import by_vectors, by_words, ids
from tests.index.catalogs import tool as plain
from tests.strategies.words_encoder import WordsEncoder
from toolsearch.index import pieces, state
from toolsearch.index.tool_index import ToolIndex
from toolsearch.tool import ToolSpec

REQUESTS = ("letter engine", "forest", "violin harbour planet invoice")
numbers = st.lists(st.integers(0, 40), unique=True, max_size=6)
change = st.tuples(st.sampled_from(["upsert", "remove", "replace"]), numbers, st.integers(0, 9))
CALLERS = (None, ["east"], ["east", "west"], ["nobody"])
EVEN = {"eq": ["tags", "even"]}


def tool(number: int, words: str = "") -> ToolSpec:
    """A tool for everybody, or for one of two groups, by its number."""
    groups = ((), ("east",), ("west",))[number % 3]
    return plain(number, words, groups=groups, tags=("odd",) if number % 2 else ("even",))


def catalog(count: int) -> list[ToolSpec]:
    """That many tools."""
    return [tool(number) for number in range(count)]


@pytest.mark.parametrize("small", [2, 1024])
@settings(deadline=None, max_examples=20)
@given(changes=st.lists(change, max_size=8))
def test_any_changes_equal_a_fresh_build(small: int, changes: list[tuple[str, list[int], int]]) -> None:
    """After any sequence of changes, order, scores and moments are those of a fresh index of the same tools."""
    limit, state.SMALL = state.SMALL, small
    try:
        with ToolIndex.from_tools(catalog(12), encoder=WordsEncoder()) as index:
            for one in changes:
                apply(index, *one)
            with ToolIndex.from_tools(list(index.view()), encoder=WordsEncoder()) as fresh:
                assert_same(index, fresh)
    finally:
        state.SMALL = limit


step = st.one_of(change, st.tuples(st.sampled_from(["reopen", "compact", "build", "elsewhere"]), numbers, st.just(0)))


@settings(deadline=None, max_examples=6)
@given(changes=st.lists(step, min_size=1, max_size=6))
@example(
    # Removed and written again, before a base was made and after, here and by others.
    changes=[
        ("upsert", [1, 2, 30], 5),
        ("remove", [1, 2, 5], 0),
        ("compact", [], 0),
        ("upsert", [1, 5], 0),
        ("elsewhere", [3, 30], 0),
        ("remove", [30, 31], 0),
        ("reopen", [], 0),
        ("upsert", [30, 2], 6),
    ]
)
def test_any_changes_in_a_folder_equal_a_fresh_build(changes: list[tuple[str, list[int], int]]) -> None:
    """So they do on disk, whatever is compacted, opened again, built again or changed by others in between."""
    limit, state.SMALL = state.SMALL, 4
    try:
        with TemporaryDirectory() as folder:
            root = Path(folder) / "i"
            index = ToolIndex.build(root, catalog(12), encoder=WordsEncoder())
            for one in changes:
                index = applied(index, root, *one)
            with index, ToolIndex.from_tools(list(index.view()), encoder=WordsEncoder()) as fresh:
                assert_same(index, fresh)
                assert index.verify().ok
    finally:
        state.SMALL = limit


def applied(index: ToolIndex, root: Path, verb: str, chosen: list[int], salt: int) -> ToolIndex:
    """The index after a step; another opening of it when it was opened again."""
    index._writer.settled()
    if verb == "reopen":
        index.close()
        return ToolIndex.open(root, encoder=WordsEncoder())
    if verb == "compact":
        index._parts.keeper.compact()
        index._writer.collect()
    elif verb == "build":
        ToolIndex.build(root, [tool(number) for number in chosen], encoder=WordsEncoder()).close()
    elif verb == "elsewhere":
        with ToolIndex.open(root, encoder=WordsEncoder()) as other:
            other.upsert([tool(number, "forest of others") for number in chosen])
    else:
        apply(index, verb, chosen, salt)
    return index


def apply(index: ToolIndex, verb: str, chosen: list[int], salt: int) -> None:
    if verb == "remove":
        index.remove([f"tool_{number}" for number in chosen])
    elif verb == "replace":
        index.replace("other", [tool(number) for number in chosen])
    else:
        index.upsert([tool(number, tool(number + salt).description if salt > 4 else "") for number in chosen])


def assert_same(index: ToolIndex, fresh: ToolIndex) -> None:
    assert ids(index) == ids(fresh)
    for request in REQUESTS:
        assert by_words(index, request) == by_words(fresh, request)
        if len(fresh):
            assert by_vectors(index, request, 50) == by_vectors(fresh, request, 50)
    for caller in CALLERS:
        for narrowed in (None, EVEN):
            assert answers(index, caller, narrowed) == answers(fresh, caller, narrowed)
    one, other = index.view(), fresh.view()
    terms = ["letter", "engin", "forest", "violin"]
    assert one.corpus.frequencies(terms, one.allowed) == other.corpus.frequencies(terms, other.allowed)
    mine, theirs = (v.corpus.lexical.score({"letter": 1.0}, v.allowed) for v in (one, other))
    np.testing.assert_allclose((mine.mean, mine.std), (theirs.mean, theirs.std), rtol=1e-6, atol=1e-9)


def answers(index: ToolIndex, caller: list[str] | None, narrowed: object) -> list[object]:
    """What whole searches answer to a caller: ids, scores, and how sure they are."""
    found = [
        index.search(request, k=50, caller=caller, filter=narrowed, exclude=["tool_4"], strategy=strategy)
        for request in REQUESTS
        for strategy in ("hybrid", "lexical", "vector")
    ]
    return [([(hit.id, hit.score) for hit in one.hits], one.confidence) for one in found]


@pytest.mark.parametrize("block", [1, 7, 12, 100])
def test_blocks_make_one_catalog(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many tools are analysed at a time, the index is the same."""
    with ToolIndex.from_tools(catalog(12), encoder=WordsEncoder()) as whole:
        monkeypatch.setattr(pieces, "BLOCK", block)
        with ToolIndex.from_tools(catalog(12), encoder=WordsEncoder()) as index:
            assert_same(index, whole)
