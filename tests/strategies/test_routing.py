"""Requests and tools in several languages, with an encoder of two readings and with one for English alone."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from tests.strategies.words_encoder import WordsEncoder
from toolsearch.encoders.multilingual import MultilingualEncoder
from toolsearch.protocols import Encoder, Role, ToolView
from toolsearch.strategies.corpus import MemoryCorpus, foreign, view
from toolsearch.strategies.retrievers import RANKERS, open_retriever
from toolsearch.tool import ToolSpec

TOOLS = (
    ToolSpec(name="refund_payment", description="Give the money of a payment back to the customer"),
    ToolSpec(name="list_payments", description="All payments of a customer"),
    ToolSpec(name="weather_report", description="What the weather will be tomorrow"),
    ToolSpec(name="kucun", description="查询仓库库存数量"),
    ToolSpec(name="rechnung", description="Legt eine neue Rechnung für den Kunden an"),
)
MEANINGS = {
    "refund": ("back", "refund", "退款", "rückzahl"),
    "weather": ("weather", "天气", "wetter"),
    "stock": ("stock", "库存"),
}


class English(WordsEncoder):
    languages = ("en",)

    def knows(self, word: str) -> bool:
        return True

    def elsewhere(self, vector: np.ndarray) -> float:
        return 0.3


class Meanings:
    """One dimension for each meaning, in any language, and one for anything."""

    id, dimension = "meanings", len(MEANINGS) + 1

    def encode(self, texts: Sequence[str], role: Role) -> np.ndarray:
        rows = [
            [float(any(word in text.lower() for word in words)) for words in MEANINGS.values()] + [0.3]
            for text in texts
        ]
        vectors = np.array(rows, np.float32).reshape(len(texts), self.dimension)
        return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)


def seen(encoder: Encoder) -> ToolView:
    return view(MemoryCorpus.build(TOOLS, encoder))


@pytest.fixture
def both() -> ToolView:
    return seen(MultilingualEncoder(English(64), Meanings()))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("request_", "first"),
    [
        ("退款", "refund_payment"),
        ("明天的天气", "weather_report"),
        ("库存数量", "kucun"),
        ("eine Rückzahlung für den Kunden", "refund_payment"),
        ("give the customer a refund", "refund_payment"),
        ("how much is in stock", "kucun"),
        ("eine Rechnung anlegen", "rechnung"),
    ],
)
def test_requests_find_tools_in_any_language(both: ToolView, request_: str, first: str) -> None:
    """Words within a language, the second reading between languages; parts add up to the score for every tool."""
    result = open_retriever().search([request_], both, 5)
    assert result.ids[0] == first
    for hit in result:
        assert sum(reason.points for reason in hit.reasons) == pytest.approx(hit.score)
    for spec in TOOLS:
        one = open_retriever().explain(request_, both, spec.id, 5)
        assert one.score == pytest.approx(sum(reason.points for reason in one.reasons))


@pytest.mark.parametrize("strategy", sorted(RANKERS))
def test_every_strategy_takes_the_routing_encoder(both: ToolView, strategy: str) -> None:
    """A name in any style is first, whatever the language of its tool."""
    assert open_retriever(strategy).search(["KUCUN"], both, 3).ids[0] == "kucun"


def test_an_english_encoder_has_no_say_on_other_scripts() -> None:
    """Without a second reading a Chinese tool goes by its words, and its cosine is not told."""
    alone = seen(English(64))
    found = open_retriever().search(["the kucun of our warehouse customer"], alone, 5)
    [chinese] = [hit for hit in found if hit.id == "kucun"]
    assert "similarity" not in {reason.kind for reason in chinese.reasons}
    assert "similarity" in {reason.kind for reason in found.hits[0].reasons} | {r.kind for r in found.hits[1].reasons}


def test_groups_of_languages_follow_the_callers_view() -> None:
    """Only what the caller sees is counted, in each group."""
    hidden = ToolSpec(name="tuikuan", description="退款 退款给客户", groups=("admin",))
    corpus = MemoryCorpus.build([*TOOLS, hidden], MultilingualEncoder(English(64), Meanings()))  # type: ignore[arg-type]
    mine = open_retriever().search(["库存数量 退款"], view(corpus, groups=[]), 6)
    fresh = open_retriever().search(["库存数量 退款"], seen(corpus.encoder), 6)  # type: ignore[arg-type]
    assert mine.ids == fresh.ids
    assert [hit.score for hit in mine] == pytest.approx([hit.score for hit in fresh])


def test_the_languages_of_tools_are_known() -> None:
    """Rows in none of the given languages; nothing when all are in them."""
    corpus = MemoryCorpus.build(TOOLS)
    mask = foreign(corpus, ("en",))
    assert mask is not None
    assert np.flatnonzero(mask).tolist() == [3, 4]
    assert foreign(MemoryCorpus.build(TOOLS[:3]), ("en",)) is None
