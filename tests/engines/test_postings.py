"""Postings made in one go and postings put together from parts are the same."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from toolsearch.engines.postings import Postings, merged

documents = st.lists(st.dictionaries(st.sampled_from("abcdef"), st.floats(0.5, 4, width=32), max_size=4), max_size=8)


def same(one: Postings, other: Postings) -> bool:
    pairs = [(one.bounds, other.bounds), (one.rows, other.rows), (one.weights, other.weights)]
    return list(one.columns.items()) == list(other.columns.items()) and all(np.array_equal(*pair) for pair in pairs)


@settings(deadline=None, max_examples=60)
@given(parts=st.lists(documents, max_size=4))
def test_parts_laid_end_to_end(parts: list[list[dict[str, float]]]) -> None:
    """Blocks of documents one after another give what all documents at once give."""
    start, placed = 0, []
    for part in parts:
        placed.append((Postings.of(part), np.arange(start, start + len(part), dtype=np.int32)))
        start += len(part)
    assert same(merged(placed), Postings.of([one for part in parts for one in part]))


@settings(deadline=None, max_examples=60)
@given(parts=st.lists(documents, max_size=4))
def test_parts_in_any_order(parts: list[list[dict[str, float]]]) -> None:
    """Rows may go anywhere, and some may be dropped."""
    every = [one for part in parts for one in part]
    order = np.random.default_rng(len(every)).permutation(len(every)).astype(np.int32)
    kept = order % 3 != 1
    new = np.where(kept, np.cumsum(np.isin(np.arange(len(every)), order[kept]))[order] - 1, -1).astype(np.int32)
    start, placed = 0, []
    for part in parts:
        placed.append((Postings.of(part), new[start : start + len(part)]))
        start += len(part)
    wanted: list[dict[str, float]] = [{} for _ in range(int(kept.sum()))]
    for document, place in zip(every, new, strict=True):
        if place >= 0:
            wanted[place] = document
    assert same(merged(placed), Postings.of(wanted))
