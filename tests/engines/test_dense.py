"""Vector similarity over segments, under views."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolsearch.engines.dense import DenseEngine, DenseSegment, merged_dense
from toolsearch.errors import InvalidInput
from toolsearch.protocols import RowSet

EVERYONE = RowSet("everyone")


def unit(seed: int, rows: int, dimension: int = 24) -> np.ndarray:
    vectors = np.random.default_rng(seed).standard_normal((rows, dimension)).astype(np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


@pytest.mark.parametrize("dimension", [1, 3, 8, 16, 384])
def test_scores_are_inner_products(dimension: int) -> None:
    """Every dimension gives the products and the moments that plain arithmetic gives."""
    vectors = unit(1, 50, dimension)
    found = DenseEngine([DenseSegment.of(vectors)]).score(vectors[7], EVERYONE)
    expected = vectors @ vectors[7]
    np.testing.assert_allclose(found.at(np.arange(50, dtype=np.int32)), expected, atol=1e-6)
    assert (found.mean, found.std) == pytest.approx((expected.mean(), expected.std()), abs=1e-6)


def test_negative_similarities_are_answers_too() -> None:
    """A request for more rows than fit returns all of them in order."""
    vectors = np.array([[1, 0], [-1, 0], [0, 1]], np.float32)
    found = DenseEngine([DenseSegment.of(vectors)]).score(vectors[0], EVERYONE)
    assert found.top(9).rows.tolist() == [0, 2, 1]


def test_zero_vectors_score_zero() -> None:
    """The vector of an empty text is similar to nothing, and never not a number."""
    vectors = np.array([[0, 0], [1, 0], [-1, 0]], np.float32)
    engine = DenseEngine([DenseSegment.of(vectors)])
    ranking = engine.score(np.array([1, 0], np.float32), EVERYONE).top(3)
    assert ranking.rows.tolist() == [1, 0, 2]
    assert engine.score(np.zeros(2, np.float32), EVERYONE).top(3).scores.tolist() == [0, 0, 0]


def test_rows_without_a_vector_are_marked_and_never_ranked() -> None:
    """Missing and non-finite vectors are left out of answers and moments."""
    vectors = np.array([[1, 0], [np.nan, 0], [0.5, 0.5], [0, 1]], np.float32)
    engine = DenseEngine([DenseSegment.of(vectors, np.array([False, False, True, False]))])
    found = engine.score(np.array([1, 0], np.float32), EVERYONE)
    assert engine.missing is not None
    assert engine.missing.tolist() == [False, True, True, False]
    assert found.top(9).rows.tolist() == [0, 3]
    assert found.mean == pytest.approx(0.5)
    assert found.at(np.array([1, 2], np.int32)).tolist() == [0, 0]


@pytest.mark.parametrize("vector", [np.ones(3, np.float32), np.array([np.nan, 1], np.float32)])
def test_a_vector_that_does_not_fit_is_refused(vector: np.ndarray) -> None:
    """Wrong length and not-a-number are named."""
    engine = DenseEngine([DenseSegment.of(np.eye(2, dtype=np.float32))])
    with pytest.raises(InvalidInput, match="2 finite numbers"):
        engine.score(vector, EVERYONE)


@pytest.mark.parametrize("few", [False, True])
def test_several_requests_score_as_each_alone(few: bool) -> None:
    """Scored together or one by one, over everything or over a few rows: the same bits."""
    engine = DenseEngine([DenseSegment.of(unit(5, 700, 24)), DenseSegment.of(unit(6, 2100, 24))])
    view = EVERYONE if not few else RowSet("few", np.arange(2800) % 10 == 3)
    wanted, rows = unit(7, 3, 24), np.arange(2800, dtype=np.int32)
    together = engine.score_many(wanted, view)
    for query, found in zip(wanted, together, strict=True):
        np.testing.assert_array_equal(found.at(rows), engine.score(query, view).at(rows))
    assert engine.score_many(np.empty((0, 24), np.float32), view) == []


def test_nothing_to_score_is_an_empty_answer() -> None:
    """An engine over no rows answers nothing."""
    engine = DenseEngine([DenseSegment.of(np.empty((0, 4), np.float32))])
    found = engine.score(np.ones(4, np.float32), EVERYONE)
    assert (len(found.top(3).rows), found.mean, found.std) == (0, 0.0, 0.0)


@settings(deadline=None, max_examples=25)
@given(st.integers(0, 2**32 - 1), st.lists(st.integers(0, 40), min_size=1, max_size=5), st.floats(0, 0.99))
def test_segments_views_and_removals_equal_a_fresh_build(seed: int, sizes: list[int], removed: float) -> None:
    """Any split, any removal and any view give, to the bit, the scores of one segment of what is left."""
    rng = np.random.default_rng(seed)
    vectors = unit(seed, sum(sizes))
    live, seen = rng.random((2, len(vectors))) >= removed
    bounds = np.cumsum([0, *sizes]).tolist()
    spans = list(itertools.pairwise(bounds))
    segments = [DenseSegment.of(vectors[a:b]) for a, b in spans]
    rows = np.flatnonzero(live & seen).astype(np.int32)
    wanted = unit(seed + 1, 1)[0]
    fresh = DenseEngine([DenseSegment.of(vectors[rows])]).score(wanted, EVERYONE)
    parts = DenseEngine(segments, live).score(wanted, RowSet("some", seen))
    assert rows[fresh.top(9).rows].tolist() == parts.top(9).rows.tolist()
    assert fresh.top(9).scores.tolist() == parts.top(9).scores.tolist()
    assert fresh.mean == pytest.approx(parts.mean)
    places = np.where(live, np.cumsum(live) - 1, -1).astype(np.int32)
    one = merged_dense([(s, places[a:b]) for s, (a, b) in zip(segments, spans, strict=True)], int(live.sum()))
    np.testing.assert_array_equal(one.vectors, vectors[live])
