"""Approximate search: proposed rows are few, scores and statistics exact, small sets and short answers exact too."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from toolsearch.engines import approximate, dense, nearest
from toolsearch.engines.dense import DenseEngine, DenseSegment
from toolsearch.engines.moments import Moments
from toolsearch.protocols import RowSet

ROWS, DIMENSION = 3000, 32
EVERYONE = RowSet("everyone")


def clustered(rows: int, seed: int = 3) -> np.ndarray:
    rng = np.random.default_rng(seed)
    centres = rng.standard_normal((20, DIMENSION))
    vectors = centres[rng.integers(0, 20, rows)] + rng.standard_normal((rows, DIMENSION))
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


VECTORS = clustered(ROWS)
EXACT = DenseEngine([DenseSegment.of(VECTORS)])


@pytest.fixture(params=["whole", "cells"])
def small(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Bounds so low that small catalogs are searched approximately."""
    for module in (nearest, dense, approximate):
        monkeypatch.setattr(module, "EXACT", 100)
    if request.param == "cells":
        monkeypatch.setattr(nearest, "CELLS_FROM", 1000)


@pytest.fixture
def segment(small: None) -> DenseSegment:
    """A segment with an approximate index."""
    return DenseSegment.of(VECTORS).planned()


def test_a_small_segment_is_searched_exactly() -> None:
    """Nothing is trained while a scan is cheap, and the plan says that every row is compared."""
    segment = DenseSegment.of(VECTORS)
    assert segment.planned() is segment
    assert EXACT.plan(EVERYONE) == f"similarity of all {ROWS} rows"
    assert EXACT.recall() is None


def test_approximate_search_finds_nearly_all(segment: DenseSegment) -> None:
    """At least 97 of 100 of the exact ten best are found, and the plan tells what was measured."""
    engine = DenseEngine([segment])
    found = wanted = 0
    for query in nearest.mixed(VECTORS, 50):
        exact = EXACT.score(query, EVERYONE).top(10)
        near = engine.score(query, EVERYONE).top(10)
        found += len(np.intersect1d(near.rows, exact.rows))
        wanted += 10
    assert found >= 0.97 * wanted
    recall = engine.recall()
    assert recall is not None
    assert recall >= nearest.LEAST
    assert engine.plan(EVERYONE).startswith(f"approximate similarity of {ROWS} rows")


def test_scores_and_moments_are_exact(segment: DenseSegment) -> None:
    """Every score equals that of a full scan to the last bit; mean and deviation agree to rounding."""
    query = nearest.mixed(VECTORS, 1)[0]
    near, exact = DenseEngine([segment]).score(query, EVERYONE), EXACT.score(query, EVERYONE)
    rows = np.arange(0, ROWS, 7, dtype=np.int32)
    assert np.array_equal(near.at(rows), exact.at(rows))
    assert (near.mean, near.std) == pytest.approx((exact.mean, exact.std), rel=1e-5)
    top = near.top(20)
    assert np.array_equal(top.scores, exact.at(top.rows))


@pytest.mark.parametrize("share", [0.9, 0.3, 0.04, 0.001])
def test_views_and_filters_give_only_their_rows(segment: DenseSegment, share: float) -> None:
    """Rows outside a view or a filter never appear, nothing is missing, and a view's moments are its own."""
    mask = np.random.default_rng(1).random(ROWS) < share
    view, engine = RowSet(("some", share), mask), DenseEngine([segment])
    for query in nearest.mixed(VECTORS, 5):
        exact = EXACT.score(query, view)
        for near in (engine.score(query, view).top(10), engine.score(query, EVERYONE).top(10, mask)):
            assert mask[near.rows].all()
            assert len(near.rows) == min(10, np.count_nonzero(mask))
            assert len(np.intersect1d(near.rows, exact.top(10).rows)) >= 0.9 * len(near.rows)
        mine = engine.score(query, view)
        assert (mine.mean, mine.std) == pytest.approx((exact.mean, exact.std), rel=1e-4, abs=1e-6)


def test_a_search_starts_no_threads(segment: DenseSegment) -> None:
    """Each request is searched by its own thread, however many faiss would take."""
    tasks = Path("/proc/self/task")
    if not tasks.is_dir():
        pytest.skip("threads are counted by /proc")
    faiss = pytest.importorskip("faiss")
    before = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(4)
    try:
        engines = DenseEngine([segment]), DenseEngine([DenseSegment.of(VECTORS)])
        threads = len(list(tasks.iterdir()))
        for query in nearest.mixed(VECTORS, 10):
            for scores in (engine.score(query, EVERYONE) for engine in engines):
                assert scores.std > 0
                assert len(scores.top(10).rows) == 10
        assert len(list(tasks.iterdir())) == threads
        assert faiss.omp_get_max_threads() == 4
    finally:
        faiss.omp_set_num_threads(before)


def test_a_small_allowed_set_is_compared_exactly(segment: DenseSegment) -> None:
    """A filter that keeps few rows gives the exact answer, in the exact order."""
    mask = np.zeros(ROWS, np.bool_)
    mask[::40] = True
    for query in nearest.mixed(VECTORS, 5):
        near = DenseEngine([segment]).score(query, EVERYONE).top(10, mask)
        exact = EXACT.score(query, EVERYONE).top(10, mask)
        assert near.rows.tolist() == exact.rows.tolist()


def test_a_short_answer_is_topped_up(segment: DenseSegment) -> None:
    """A request for more rows than are proposed is answered in full."""
    query = nearest.mixed(VECTORS, 1)[0]
    assert len(DenseEngine([segment]).score(query, EVERYONE).top(ROWS).rows) == ROWS


def test_new_and_removed_rows_count_at_once(segment: DenseSegment) -> None:
    """A delta beside the base is compared row by row, and removed rows are never proposed."""
    fresh = clustered(50, 9)
    live = np.ones(ROWS + 50, np.bool_)
    live[:500] = False
    engine = DenseEngine([segment, DenseSegment.of(fresh)], live)
    plain = DenseEngine([DenseSegment.of(np.concatenate([VECTORS, fresh]))], live)
    for query in (fresh[3], fresh[40]):
        near, exact = engine.score(query, EVERYONE), plain.score(query, EVERYONE)
        assert near.top(1).rows.tolist() == exact.top(1).rows.tolist()
        assert (near.top(40).rows >= 500).all()
        assert (near.mean, near.std) == pytest.approx((exact.mean, exact.std), rel=1e-4)


def test_arrays_carry_everything(segment: DenseSegment) -> None:
    """What was written and read again answers the same."""
    again = DenseSegment.from_arrays(segment.to_arrays())
    query = nearest.mixed(VECTORS, 1)[0]
    one, other = (DenseEngine([own]).score(query, EVERYONE) for own in (segment, again))
    assert one.top(30).rows.tolist() == other.top(30).rows.tolist()
    assert (one.mean, one.std) == (other.mean, other.std)


def test_damaged_bytes_are_refused(segment: DenseSegment) -> None:
    """Bytes that are no index, or one of other rows, are an error when they are read."""
    arrays = segment.to_arrays()
    with pytest.raises(ValueError, match="cannot be read"):
        DenseSegment.from_arrays({**arrays, "nearest": arrays["nearest"][:1000]})
    fewer = {**arrays, "vectors": VECTORS[:-1], "missing": np.zeros(ROWS - 1, np.bool_)}
    with pytest.raises(ValueError, match="rows"):
        DenseSegment.from_arrays(fewer)


def test_vectors_that_no_code_can_tell_apart_stay_exact(small: None) -> None:
    """Equal vectors everywhere: whatever is chosen, the answer is that of a full scan."""
    same = np.tile(VECTORS[:1], (500, 1))
    segment = DenseSegment.of(same).planned()
    found = DenseEngine([segment]).score(same[0], EVERYONE).top(5)
    assert len(found.rows) == 5


def test_moments_add_up() -> None:
    """Moments of parts make those of the whole, and leave again what was added."""
    first, second = np.arange(100), np.arange(100, 300)
    both = Moments.of(VECTORS, first) + Moments.of(VECTORS, second)
    whole = Moments.of(VECTORS, np.arange(300))
    assert both.spread(VECTORS[0]) == pytest.approx(whole.spread(VECTORS[0]), rel=1e-6)
    assert (whole - Moments.of(VECTORS, second)).spread(VECTORS[0]) == pytest.approx(
        Moments.of(VECTORS, first).spread(VECTORS[0]), rel=1e-5
    )
    assert (whole - whole).spread(VECTORS[0]) == (0.0, 0.0)


def assert_used_again(trained: nearest.Nearest) -> None:
    """Its training serves changed vectors as well, and it stays as it was."""
    changed = np.concatenate([VECTORS[5:], clustered(5, 9)])
    again = DenseSegment.of(changed).planned(trained)
    assert again.nearest is not None
    assert again.nearest.recall >= nearest.AIM
    assert trained.index.ntotal == ROWS


def test_training_is_used_again(segment: DenseSegment) -> None:
    """An index filled with other vectors of the same kind finds as much, and far other vectors are trained anew."""
    assert segment.nearest is not None
    assert_used_again(segment.nearest)
    assert segment.nearest.refilled(clustered(200)[:, :16].copy()) is None


def test_training_of_a_mapped_index_is_used_again(segment: DenseSegment, tmp_path: Path) -> None:
    """An index that reads its file in place is refilled as well, and goes on as it was."""
    np.save(tmp_path / "nearest.npy", segment.to_arrays()["nearest"])
    mapped = np.load(tmp_path / "nearest.npy", mmap_mode="r")
    read = DenseSegment.from_arrays({**segment.to_arrays(), "nearest": mapped})
    assert read.nearest is not None
    assert_used_again(read.nearest)


def test_rows_are_scored_alike_however_often_they_are_asked(segment: DenseSegment) -> None:
    """The similarity of a row does not depend on what was asked before, nor on the order of rows or repeats."""
    query = clustered(1, 8)[0]
    scores, exact = DenseEngine([segment]).score(query, EVERYONE), EXACT.score(query, EVERYONE)
    for rows in ([5, 2999, 5, 0], [7], [0, 5, 2999], list(range(40, 20, -1))):
        asked = np.array(rows, np.int32)
        assert np.array_equal(scores.at(asked), exact.at(asked))
    found = scores.top(10).rows
    assert np.array_equal(scores.at(found), exact.at(found))
