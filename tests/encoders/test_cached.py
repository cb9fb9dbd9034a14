"""The cache of vectors."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.encoders.plain_encoder import PlainEncoder
from toolsearch.encoders import open_encoder
from toolsearch.encoders.cached import CachedEncoder
from toolsearch.errors import EncoderFailed, InvalidInput

CALLS = st.lists(
    st.tuples(
        st.lists(st.sampled_from(["", "a", "bb", "ccc", "dddd", "\ud800"]), max_size=5),
        st.sampled_from(["query", "tool"]),
    ),
    max_size=12,
)


@settings(max_examples=60, deadline=None)
@given(calls=CALLS, size=st.integers(1, 4))
def test_the_cache_never_changes_a_vector(calls: list, size: int) -> None:
    """Whatever was asked before and however small the cache: the vectors of the encoder behind."""
    cached, plain = CachedEncoder(PlainEncoder(), size), PlainEncoder()
    for texts, role in calls:
        assert np.array_equal(cached.encode(texts, role), plain.encode(texts, role))


def test_a_text_is_encoded_once_for_each_role() -> None:
    """Repeats cost nothing, within one call too; a tool's vector is not a request's."""
    plain = PlainEncoder()
    cached = CachedEncoder(plain)
    cached.encode(["pay", "pay", "send"], "query")
    cached.encode(["send", "pay"], "query")
    cached.encode(["pay"], "tool")
    assert plain.asked == [("pay", "query"), ("send", "query"), ("pay", "tool")]


def test_the_least_recently_used_vector_goes_first() -> None:
    """At most `size` vectors are kept, those used last."""
    plain = PlainEncoder()
    cached = CachedEncoder(plain, 2)
    for text in ("a", "bb", "a", "ccc", "a", "bb"):
        cached.encode([text], "query")
    assert [text for text, _ in plain.asked] == ["a", "bb", "ccc", "bb"]


def test_a_failure_is_not_kept() -> None:
    """After a failure the text is asked for again."""
    plain = PlainEncoder()
    cached = CachedEncoder(plain)
    plain.fails = True
    with pytest.raises(EncoderFailed):
        cached.encode(["pay"], "query")
    plain.fails = False
    assert cached.encode(["pay"], "query").any()


def test_changing_an_answer_does_not_change_the_cache() -> None:
    """Callers own what they were given."""
    cached = CachedEncoder(PlainEncoder())
    first = cached.encode(["pay"], "query")
    wanted = first.copy()
    first[:] = 9
    again = cached.encode(["pay"], "query")
    assert np.array_equal(again, wanted)
    again[:] = 9
    assert np.array_equal(cached.encode(["pay"], "query"), wanted)


def test_threads_may_share_it() -> None:
    """Many threads on a small cache get the right vectors."""
    cached, plain = CachedEncoder(PlainEncoder(), 3), PlainEncoder()
    texts = ["a", "bb", "ccc", "dddd", "eeeee"] * 40
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda text: cached.encode([text], "tool")[0], texts))
    assert np.array_equal(np.stack(found), plain.encode(texts, "tool"))


def test_identity_is_that_of_the_encoder_behind() -> None:
    """Vectors from the cache are kept under the same id."""
    cached = CachedEncoder(PlainEncoder())
    assert (cached.id, cached.dimension) == ("plain", 2)


def test_a_cache_of_nothing_is_refused() -> None:
    """The size must be positive."""
    with pytest.raises(InvalidInput, match="at least 1"):
        CachedEncoder(PlainEncoder(), 0)


def test_roles_that_are_not_kept_pass_through() -> None:
    """An index caches requests only: tools' texts would push them out."""
    plain = PlainEncoder()
    cached = CachedEncoder(plain, 1, roles=("query",))
    for role in ("query", "tool", "tool", "query"):
        cached.encode(["pay"], role)
    assert plain.asked == [("pay", "query"), ("pay", "tool"), ("pay", "tool")]


def test_what_the_encoder_says_about_itself_is_passed_on() -> None:
    """Languages and known words of the encoder behind; nothing where it says nothing."""
    builtin = open_encoder("builtin")
    assert CachedEncoder(builtin).languages == builtin.languages
    assert CachedEncoder(builtin).knows("money")
    assert not hasattr(CachedEncoder(PlainEncoder()), "languages")
