"""The cache of ad-hoc lists."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from tests.strategies.words_encoder import WordsEncoder
from toolsearch.encoders.adapted import Adaptation, AdaptedEncoder
from toolsearch.errors import EncoderFailed
from toolsearch.strategies.corpus import MemoryCorpus, view
from toolsearch.strategies.joined import joined
from toolsearch.strategies.small import SmallCorpora
from toolsearch.tool import ToolSpec


def tools(count: int, word: str = "tool") -> list[ToolSpec]:
    return [ToolSpec(name=f"{word}_{number}", description=f"Does {word} {number}") for number in range(count)]


def adapted(encoder: WordsEncoder) -> AdaptedEncoder:
    """The encoder with a map of its requests."""
    return AdaptedEncoder(encoder, Adaptation(encoder.id, np.eye(encoder.dimension, dtype=np.float32)))


def test_equal_lists_share_a_corpus() -> None:
    """The same tools, and equal ones, are built once; another order is another catalog."""
    kept = SmallCorpora()
    first = kept.get(tools(3), None)
    assert kept.get(tools(3), None) is first
    assert kept.get(tools(3)[::-1], None) is not first


def test_an_encoder_makes_another_corpus() -> None:
    """With and without vectors are different corpora."""
    kept = SmallCorpora()
    same = tools(3)
    assert kept.get(same, None).dense is None
    assert kept.get(same, WordsEncoder()).dense is not None


def test_an_adaptation_makes_another_corpus() -> None:
    """A list asked for with the plain encoder is not answered by an adapted one that was there before."""
    kept, plain = SmallCorpora(), WordsEncoder()
    assert kept.get(tools(3), adapted(plain)).encoder is not kept.get(tools(3), plain).encoder
    assert kept.get(tools(3), plain).encoder is plain


def test_catalogs_joined_share_an_adaptation_or_have_none() -> None:
    """In either order: one map for all, or requests as the plain encoder reads them."""
    plain = WordsEncoder()
    first, second = (MemoryCorpus.build(tools(2, word), adapted(plain)) for word in ("one", "two"))
    third = MemoryCorpus.build(tools(2, "three"), plain)
    assert isinstance(joined([view(first), view(second)]).corpus.encoder, AdaptedEncoder)
    for pair in ([first, third], [third, first]):
        assert joined([view(one) for one in pair]).corpus.encoder is plain


def test_the_cache_is_bounded() -> None:
    """Neither many lists nor large lists grow it without end."""
    kept = SmallCorpora(corpora=3, tools=10)
    for number in range(20):
        kept.get(tools(2, f"w{number}"), None)
    assert len(kept) == 3
    assert len(kept.get(tools(11), None)) == 11
    assert len(kept) == 0


def test_parallel_first_requests_share_one_build() -> None:
    """Twenty callers with one new list encode it once."""
    kept, encoder, start = SmallCorpora(), WordsEncoder(), threading.Barrier(20)

    def ask(_: int) -> int:
        start.wait()
        return id(kept.get(tools(30), encoder))

    with ThreadPoolExecutor(20) as pool:
        assert len(set(pool.map(ask, range(20)))) == 1
    assert len(encoder.seen) == 30


def test_a_failed_build_is_tried_again() -> None:
    """An encoder that failed once does not spoil the list."""

    class Flaky(WordsEncoder):
        failed = False

        def encode(self, texts, role):
            if not self.failed:
                self.failed = True
                raise EncoderFailed("no answer")
            return super().encode(texts, role)

    kept, encoder = SmallCorpora(), Flaky()
    with pytest.raises(EncoderFailed):
        kept.get(tools(2), encoder)
    assert len(kept.get(tools(2), encoder)) == 2
