"""Corpora: who sees what, what a filter keeps, and what names find."""

from __future__ import annotations

import numpy as np
import pytest

from tests.strategies.words_encoder import WordsEncoder
from toolsearch import text
from toolsearch.errors import EncoderFailed, InvalidFilter
from toolsearch.strategies.corpus import MemoryCorpus, view
from toolsearch.strategies.segment import Segment
from toolsearch.tool import ToolSpec

MAIL = ToolSpec(name="send_mail", description="Send a letter", namespace="mail", tags=("write", "beta"))
READ = ToolSpec(name="readMail", description="Read letters", namespace="mail", annotations={"readOnlyHint": True})
PAY = ToolSpec(name="pay", description="Send money", namespace="bank", groups=("finance",), aliases=("Remit Funds",))
AUDIT = ToolSpec(name="audit", description="Check the books", groups=("finance", "legal"), source="py:x")
TOOLS = (MAIL, READ, PAY, AUDIT)


@pytest.fixture
def corpus() -> MemoryCorpus:
    return MemoryCorpus.build(TOOLS)


def ids(found: object) -> list[str]:
    return [spec.id for spec in found]  # type: ignore[attr-defined]


def test_tools_without_groups_are_for_everybody(corpus: MemoryCorpus) -> None:
    """A caller without groups sees the tools that have none."""
    assert ids(view(corpus, groups=[])) == ["mail/send_mail", "mail/readMail"]


def test_a_shared_group_shows_a_tool(corpus: MemoryCorpus) -> None:
    """A member of one of a tool's groups sees it; the owner sees all."""
    assert ids(view(corpus, groups=["legal"])) == ["mail/send_mail", "mail/readMail", "audit"]
    assert ids(view(corpus)) == [spec.id for spec in TOOLS]


def test_unknown_groups_make_no_views_of_their_own(corpus: MemoryCorpus) -> None:
    """Groups that no tool names share one view, so that callers cannot fill the caches."""
    assert corpus.visible_to(frozenset({"a"})) is corpus.visible_to(frozenset({"b", "c"}))
    assert corpus.visible_to(frozenset({"finance"})) == corpus.everyone()


def test_words_are_counted_under_the_callers_view(corpus: MemoryCorpus) -> None:
    """A word of hidden tools is unknown to a caller who may not see them."""
    assert corpus.frequencies(["money"], corpus.visible_to(frozenset()))[1] == {"money": 0}
    assert corpus.frequencies(["money"], corpus.everyone())[1] == {"money": 1}


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("namespace = mail", [0, 1]),
        ("not namespace = mail", [2, 3]),
        ("exists namespace", [0, 1, 2]),
        ("tags in (beta, other)", [0]),
        ("annotations.readOnlyHint = true", [1]),
        ("annotations.readOnlyHint = 1", []),
        ("exists annotations.readOnlyHint or source = 'py:x'", [1, 3]),
        ("namespace = mail and tags = write", [0]),
        ({"and": []}, [0, 1, 2, 3]),
        ({"or": []}, []),
    ],
)
def test_filters_keep_rows(corpus: MemoryCorpus, condition: object, expected: list[int]) -> None:
    """Each test of the language selects the rows it says."""
    assert np.flatnonzero(corpus.matching(condition, corpus.everyone())).tolist() == expected


def test_filters_stay_inside_the_view(corpus: MemoryCorpus) -> None:
    """A filter never shows what the caller may not see."""
    assert np.flatnonzero(corpus.matching("exists source", corpus.visible_to(frozenset()))).tolist() == []


def test_a_wrong_filter_is_refused(corpus: MemoryCorpus) -> None:
    """A filter outside the language is an error, not an empty answer."""
    with pytest.raises(InvalidFilter):
        view(corpus, condition="colour = red")


def test_names_are_found_in_any_style(corpus: MemoryCorpus) -> None:
    """Name, alias and id find their rows, whatever case and separators."""
    for written in ("SendMail", "send-mail", "mail/send_mail"):
        assert list(corpus.named(text.name_key(written))) == [0]
    assert list(corpus.named(text.name_key("remit_funds"))) == [2]
    assert list(corpus.named(text.name_key("nothing here"))) == []


def test_excluded_ids_leave_the_view_but_not_its_statistics(corpus: MemoryCorpus) -> None:
    """Excluding narrows what is found; unknown ids are ignored."""
    found = view(corpus, exclude_ids=["pay", "bank/pay", "nobody"])
    assert found.get("bank/pay") is None
    assert found.allowed == corpus.everyone()
    assert len(ids(found)) == 3


def test_excluding_a_hidden_tool_changes_nothing(corpus: MemoryCorpus) -> None:
    """A view is the same whether or not an excluded id belongs to somebody else's tool."""
    assert view(corpus, groups=["legal"], exclude_ids=["bank/pay"]) == view(corpus, groups=["legal"])


def test_get_respects_groups(corpus: MemoryCorpus) -> None:
    """A tool of other groups is not there for this caller."""
    assert view(corpus, groups=[]).get("bank/pay") is None
    assert view(corpus, groups=["finance"]).get("bank/pay") == PAY


def test_an_empty_corpus_answers(corpus: MemoryCorpus) -> None:
    """A catalog without tools can be searched and filtered."""
    empty = MemoryCorpus.build([], WordsEncoder())
    assert list(view(empty, groups=["x"], condition="tags = a")) == []
    assert empty.dense is None
    assert len(empty.lexical.score({"a": 1.0}, empty.everyone()).top(5).rows) == 0


def test_removed_rows_are_gone() -> None:
    """A row that is not alive is found by no name, no word and no listing."""
    corpus = MemoryCorpus([Segment.of(TOOLS)], TOOLS, live=np.array([False, True, True, True]))
    assert list(corpus.named(text.name_key("send_mail"))) == []
    assert corpus.row("mail/send_mail") is None
    assert corpus.rows(corpus.everyone()).tolist() == [1, 2, 3]
    assert len(corpus) == 3
    assert corpus.frequencies(["beta"], corpus.everyone())[1] == {"beta": 0}


def test_a_segment_without_vectors_is_marked() -> None:
    """Where only some segments have vectors, the rows of the others are named as unvectored."""
    encoder = WordsEncoder()
    first = MemoryCorpus.build([MAIL], encoder).segments[0]
    corpus = MemoryCorpus([first, Segment.of([READ])], (MAIL, READ), encoder=encoder)
    assert corpus.unvectored is not None
    assert corpus.unvectored.tolist() == [False, True]


def test_equal_texts_are_encoded_once() -> None:
    """Two tools with one text cost one encoding."""
    encoder = WordsEncoder()
    MemoryCorpus.build([MAIL, MAIL.with_(id="other"), READ], encoder)
    assert len(encoder.seen) == 2


def test_a_wrong_shape_of_vectors_is_refused() -> None:
    """An encoder that returns too few vectors is an error of the encoder."""

    class Short(WordsEncoder):
        def encode(self, texts, role):
            return super().encode(texts, role)[:-1]

    with pytest.raises(EncoderFailed, match="words"):
        MemoryCorpus.build([MAIL], Short())
