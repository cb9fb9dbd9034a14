"""What tools elsewhere do: the phrases, their vectors, and how near a request is to them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from toolsearch.encoders import builtin, world
from toolsearch.encoders.cached import CachedEncoder
from toolsearch.errors import EncoderFailed


def test_the_vectors_are_those_of_the_phrases() -> None:
    """Each phrase has a vector of the built-in encoder, in its order; made again when either changes."""
    texts = world.phrases()
    kept = world._vectors(builtin.FOLDER)
    assert kept.shape == (len(texts), builtin.BuiltinEncoder().dimension)
    assert len(set(texts)) == len(texts)
    some = [0, len(texts) // 2, len(texts) - 1]
    fresh = builtin.BuiltinEncoder().encode([texts[place] for place in some], "tool")
    assert np.all(np.sum(fresh * kept[some], axis=1) > 0.99)


def test_a_request_for_a_common_tool_is_near() -> None:
    """What many tools do is nearer than nonsense; a cache passes it on."""
    encoder = CachedEncoder(builtin.BuiltinEncoder())
    known, odd = encoder.encode(["will it rain tomorrow", "zorbing the quimble"], "query")
    assert encoder.elsewhere(known) > encoder.elsewhere(odd) + 0.1


def test_missing_vectors_are_named(tmp_path: Path) -> None:
    """Without the file the error says what to do."""
    with pytest.raises(EncoderFailed, match="toolsearch train encoder"):
        world.nearness(np.zeros(448, np.float32), tmp_path)
