"""How a request is read in a view, and that what is kept of it belongs to that view and catalog."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from toolsearch.strategies.corpus import MemoryCorpus, view
from toolsearch.strategies.corrections import read
from toolsearch.strategies.retrievers import open_retriever
from toolsearch.strategies.settings import HYBRID
from toolsearch.text import term, terms_of
from toolsearch.tool import ToolSpec

WORDS = ("invoice", "invoces", "berth", "config", "cfg", "kubernetes", "k8s", "send", "parcel", "the")


def tools(*names: str) -> list[ToolSpec]:
    return [ToolSpec(name=f"tool_{place}", description=name) for place, name in enumerate(names)]


@settings(deadline=None, max_examples=40)
@given(st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=4), min_size=2, max_size=8), st.data())
def test_a_request_asked_again_is_answered_as_by_a_fresh_catalog(texts: list[list[str]], data: st.DataObject) -> None:
    """Whatever was asked before, in whichever view, a request is read and answered as if it were the first."""
    specs = [
        ToolSpec(name=f"tool_{place}", description=" ".join(words), groups=("some",) if place % 2 else ())
        for place, words in enumerate(texts)
    ]
    used, find = MemoryCorpus.build(specs), open_retriever("hybrid").search
    for _ in range(4):
        asked = " ".join(data.draw(st.lists(st.sampled_from(WORDS), min_size=1, max_size=3)))
        groups = data.draw(st.sampled_from([None, (), ("some",)]))
        fresh = MemoryCorpus.build(specs)
        assert find([asked], view(used, groups), 5) == find([asked], view(fresh, groups), 5)


def test_a_word_is_read_by_the_words_of_its_own_catalog() -> None:
    """The same text in two catalogs is corrected in the one that lacks its word only."""
    with_it, without = (MemoryCorpus.build(tools(text, "parcel")) for text in ("pay the invoces", "pay the invoice"))
    assert read("invoces", view(with_it), HYBRID).notes == ()
    assert read("invoces", view(without), HYBRID).text != "invoces"
    assert read("invoces", view(with_it), HYBRID).notes == ()


@settings(deadline=None, max_examples=60)
@given(st.lists(st.text("abcdefghijklmnopqrstuvwxyzäé", min_size=1, max_size=80), min_size=1, max_size=5))
def test_terms_of_many_words_are_those_of_each(words: list[str]) -> None:
    """Words of one language have the same terms together as alone."""
    for spoken in ("en", "de", "xx"):
        assert terms_of(words, spoken) == [term(word, spoken) for word in words]
