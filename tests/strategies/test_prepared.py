"""Requests made ready: kept where the encoder keeps vectors too, for each view, and never after a failure."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from tests.strategies.words_encoder import WordsEncoder
from toolsearch.errors import EncoderFailed
from toolsearch.protocols import Encoder, Role
from toolsearch.strategies.corpus import MemoryCorpus, view
from toolsearch.strategies.prepared import SHORT, Prepared, prepared
from toolsearch.strategies.settings import HYBRID, WORDS
from toolsearch.tool import ToolSpec

TOOLS = (
    ToolSpec(name="open_lock", description="Open a lock"),
    ToolSpec(name="close_lock", description="Close a lock", groups=("keepers",)),
)


class Keeping(WordsEncoder):
    """Keeps vectors of requests, and may fail."""

    keeps = True
    broken = False

    def encode(self, texts: Sequence[str], role: Role) -> np.ndarray:
        if self.broken and role == "query":
            raise EncoderFailed("no power")
        return super().encode(texts, role)


def ready(corpus: MemoryCorpus, text: str = "open the lock", groups: Sequence[str] | None = None) -> Prepared:
    return prepared(text, view(corpus, groups), HYBRID)


@pytest.mark.parametrize(("encoder", "kept"), [(Keeping(), True), (WordsEncoder(), False), (None, True)])
def test_what_is_kept(encoder: Encoder | None, kept: bool) -> None:
    """A request asked again is not made ready again, unless the encoder is to see every request."""
    corpus = MemoryCorpus.build(TOOLS, encoder)
    assert (ready(corpus) is ready(corpus)) == kept
    assert prepared("open the lock", view(corpus), WORDS) is not ready(corpus)


def test_long_requests_are_not_kept() -> None:
    """What is kept has a bound in length too."""
    corpus, text = MemoryCorpus.build(TOOLS, Keeping()), "lock " * SHORT
    assert ready(corpus, text) is not ready(corpus, text)


def test_each_view_has_its_own() -> None:
    """How rare a word is depends on what the caller may see."""
    corpus = MemoryCorpus.build(TOOLS, Keeping())
    every, some = ready(corpus), ready(corpus, groups=["guests"])
    assert every.rarity["open"] > some.rarity["open"]


def test_a_failure_is_not_kept() -> None:
    """Once the encoder works again, so does similarity."""
    encoder = Keeping()
    corpus = MemoryCorpus.build(TOOLS, encoder)
    encoder.broken = True
    assert ready(corpus).vectors is None
    assert ready(corpus).notes == ("ranked by words alone, for the encoder failed: no power",)
    encoder.broken = False
    assert ready(corpus).vectors is not None
    assert ready(corpus).notes == ()
