"""Nobody waits for the encoder but the request that is being encoded."""

from __future__ import annotations

import threading
from collections.abc import Sequence

import numpy as np

from tests.strategies.words_encoder import WordsEncoder
from toolsearch import ToolIndex, ToolSpec
from toolsearch.encoders.cached import CachedEncoder
from toolsearch.protocols import Role


class Held(WordsEncoder):
    """Encodes a request that says "slow" only when it is let go."""

    def __init__(self) -> None:
        super().__init__()
        self.asked, self.go = threading.Event(), threading.Event()

    def encode(self, texts: Sequence[str], role: Role) -> np.ndarray:
        if role == "query" and any("slow" in text for text in texts):
            self.asked.set()
            assert self.go.wait(60)
        return super().encode(texts, role)


def test_while_a_request_is_encoded_others_are_answered_and_tools_change() -> None:
    """No lock is held while encoding: searches, changes and searches of what changed go on."""
    held = Held()
    found: list[str] = []
    with ToolIndex.from_tools(
        [ToolSpec(name="slow_boat"), ToolSpec(name="fast_car")], encoder=CachedEncoder(held, roles=("query",))
    ) as index:
        waiting = threading.Thread(target=lambda: found.extend(index.search("slow boat please", k=1).ids))
        waiting.start()
        try:
            assert held.asked.wait(60)
            assert index.search("fast car please", k=1).ids == ["fast_car"]
            index.upsert([ToolSpec(name="night_train")])
            assert index.search("a night train", k=1).ids == ["night_train"]
            assert found == []
        finally:
            held.go.set()
            waiting.join(60)
    assert found == ["slow_boat"]
