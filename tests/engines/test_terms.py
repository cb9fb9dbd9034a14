"""Terms that are found by halving."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolsearch.engines import terms as module
from toolsearch.engines.postings import Postings
from toolsearch.engines.terms import Terms, columns


@settings(max_examples=60, deadline=None)
@given(st.sets(st.text(max_size=5), max_size=30), st.text(max_size=5))
def test_the_same_as_a_dict(words: set[str], other: str) -> None:
    """Every term has its place, in order, and no other text has one."""
    ordered = sorted(words)
    found = Terms("".join(ordered), np.cumsum([len(one) for one in ordered], dtype=np.int64))
    assert list(found) == ordered
    assert dict(found) == {one: place for place, one in enumerate(ordered)}
    assert found.get(other, -1) == (ordered.index(other) if other in words else -1)


def test_postings_of_many_terms_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """Postings read from arrays find the rows of each term, whichever way terms are looked up."""
    monkeypatch.setattr(module, "DICT", 2)
    made = Postings.of([{"saw": 1.0, "é": 2.0}, {"plane": 1.0, "saw": 3.0}, {"木": 1.0}])
    read = Postings.from_arrays("words", made.to_arrays("words"))
    assert isinstance(read.columns, Terms)
    for term in ("saw", "é", "plane", "木", "absent"):
        assert [one.tolist() for one in read.find(term)] == [one.tolist() for one in made.find(term)]
    assert isinstance(columns("ab", np.array([1, 2])), dict)
