"""BM25 over segments, under views."""

from __future__ import annotations

import itertools
import math
from collections import Counter

import bm25s
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rank_bm25 import BM25Okapi

from toolsearch.engines import word_scores
from toolsearch.engines.lexical import LexicalEngine, LexicalSegment, merged_lexical
from toolsearch.protocols import RowSet

EVERYONE = RowSet("everyone")
Document = tuple[dict[str, float], float]


def document(text: str) -> Document:
    counts = Counter(text.split())
    return {word: float(count) for word, count in counts.items()}, float(counts.total())


def engine(texts: list[str], live: np.ndarray | None = None, **options: float) -> LexicalEngine:
    return LexicalEngine([LexicalSegment.of(map(document, texts))], live, **options)


def query(text: str) -> dict[str, float]:
    return {word: float(count) for word, count in Counter(text.split()).items()}


def scores(found: LexicalEngine, text: str, rows: int, view: RowSet = EVERYONE) -> list[float]:
    return found.score(query(text), view).at(np.arange(rows, dtype=np.int32)).tolist()


def random_texts(seed: int, count: int = 120, words: int = 60) -> list[str]:
    rng = np.random.default_rng(seed)
    return [" ".join(f"w{w}" for w in rng.zipf(1.4, rng.integers(3, 20)) % words) for _ in range(count)]


def test_scores_equal_bm25s_in_its_lucene_setting() -> None:
    """With plain frequencies, k1 1.2 and b .75, the scores are those of an independent library."""
    texts = random_texts(1)
    peer = bm25s.BM25(method="lucene", k1=1.2, b=0.75)
    peer.index([text.split() for text in texts], show_progress=False)
    ours = engine(texts, k1=1.2, b=0.75)
    for wanted in ("w1 w2", "w7 w9 w11", "w3", "w40 w2 w2"):
        expected = peer.get_scores(wanted.split())
        np.testing.assert_allclose(scores(ours, wanted, len(texts)), expected, rtol=1e-4, atol=1e-5)


def test_order_equals_rank_bm25_for_one_rare_word() -> None:
    """For one word that less than half of the documents hold, the factor k1 + 1 and the IDF do not change the order."""
    texts = random_texts(2)
    peer = BM25Okapi([text.split() for text in texts], k1=1.5, b=0.75)
    ours = engine(texts, k1=1.5, b=0.75)
    n = len(texts)
    for word in ("w5", "w9", "w14"):
        df = sum(word in text.split() for text in texts)
        assert 0 < df < n / 2
        ratio = 2.5 * peer.idf[word] / math.log1p((n - df + 0.5) / (df + 0.5))
        expected = peer.get_scores([word])
        np.testing.assert_allclose(np.multiply(scores(ours, word, n), ratio), expected, rtol=1e-4, atol=1e-5)


def test_word_in_half_of_two_tools_scores_above_zero() -> None:
    """A word in exactly half of the documents still finds them."""
    ours = engine(["post invoice", "walk dog"])
    assert ours.score(query("invoice"), EVERYONE).top(5).rows.tolist() == [0]


def test_word_everywhere_is_never_negative() -> None:
    """A word that all documents hold counts little, and never against them."""
    assert all(score > 0 for score in scores(engine(["a b", "a c", "a d"]), "a", 3))


@pytest.mark.parametrize("texts", [[], ["", ""], [""]])
def test_nothing_to_match_is_an_empty_answer(texts: list[str]) -> None:
    """An empty catalog and tools without words are searched without an error."""
    found = engine(texts).score(query("anything"), EVERYONE)
    assert found.top(5).rows.tolist() == []
    assert (found.mean, found.std) == (0.0, 0.0)


def test_no_segment_at_all_is_an_empty_answer() -> None:
    """An engine over nothing answers nothing."""
    assert LexicalEngine([]).score({"a": 1.0}, EVERYONE).top(3).rows.tolist() == []


def test_one_tool_is_found() -> None:
    """A catalog of one tool works."""
    assert engine(["send mail"]).score(query("mail"), EVERYONE).top(3).rows.tolist() == [0]


def test_ties_go_by_row() -> None:
    """Equal documents come in catalog order."""
    assert engine(["x y"] * 5).score(query("y"), EVERYONE).top(3).rows.tolist() == [0, 1, 2]


def test_moments_are_those_of_the_view() -> None:
    """Mean and deviation cover every row of the view, those that score 0 included."""
    mask = np.array([True, False, True, True])
    found = engine(["a b", "a", "c", "a a"]).score(query("a"), RowSet("half", mask))
    seen = found.at(np.array([0, 2, 3], np.int32))
    assert found.mean == pytest.approx(seen.mean())
    assert found.std == pytest.approx(seen.std())


def test_a_filter_narrows_the_answer_only() -> None:
    """`within` leaves scores and moments as they are."""
    found = engine(["a b", "a c", "d"]).score(query("a"), EVERYONE)
    assert found.top(5, np.array([False, True, True])).rows.tolist() == [1]
    assert found.top(5, np.array([False, True, True])).scores[0] == found.at(np.array([1], np.int32))[0]


@settings(deadline=None, max_examples=25)
@given(st.integers(0, 2**32 - 1), st.floats(0.05, 0.95))
def test_a_view_scores_as_if_the_rest_did_not_exist(seed: int, share: float) -> None:
    """Scores under a mask equal, to the bit, those of a catalog that holds only the rows of the mask."""
    texts = random_texts(seed, 40, 20)
    mask = np.random.default_rng(seed + 1).random(40) < share
    alone = engine([text for text, seen in zip(texts, mask, strict=True) if seen])
    under = engine(texts).score(query("w1 w2 w3 w5"), RowSet("some", mask))
    own = alone.score(query("w1 w2 w3 w5"), EVERYONE)
    rows = np.flatnonzero(mask).astype(np.int32)
    assert under.at(rows).tolist() == own.at(np.arange(len(rows), dtype=np.int32)).tolist()
    assert under.top(7).rows.tolist() == rows[own.top(7).rows].tolist()
    assert under.mean == pytest.approx(own.mean)


@settings(deadline=None, max_examples=25)
@given(st.integers(0, 2**32 - 1), st.lists(st.integers(1, 15), min_size=1, max_size=5), st.floats(0, 0.6))
def test_segments_and_removals_equal_a_fresh_build(seed: int, sizes: list[int], removed: float) -> None:
    """Segments with removed rows score as one segment of what is left; merging them gives the same arrays."""
    texts = random_texts(seed, sum(sizes), 15)
    live = np.random.default_rng(seed).random(len(texts)) >= removed
    bounds = np.cumsum([0, *sizes]).tolist()
    segments = [LexicalSegment.of(map(document, texts[a:b])) for a, b in itertools.pairwise(bounds)]
    kept = [text for text, alive in zip(texts, live, strict=True) if alive]
    fresh_segment = LexicalSegment.of(map(document, kept))
    fresh = LexicalEngine([fresh_segment]).score(query("w1 w2 w4"), EVERYONE)
    parts = LexicalEngine(segments, live).score(query("w1 w2 w4"), EVERYONE)
    rows = np.flatnonzero(live).astype(np.int32)
    assert rows[fresh.top(9).rows].tolist() == parts.top(9).rows.tolist()
    assert fresh.top(9).scores.tolist() == parts.top(9).scores.tolist()
    places = np.where(live, np.cumsum(live) - 1, -1).astype(np.int32)
    spans = itertools.pairwise(bounds)
    one = merged_lexical([(s, places[a:b]) for s, (a, b) in zip(segments, spans, strict=True)], len(kept))
    for name, array in one.to_arrays().items():
        np.testing.assert_array_equal(array, fresh_segment.to_arrays()[name], name)


def test_arrays_carry_a_segment() -> None:
    """What was written to arrays comes back, whatever letters the terms hold."""
    segment = LexicalSegment.of([document("größe 天气 e\u0301 nul\0l"), document("größe")])
    again = LexicalSegment.from_arrays(segment.to_arrays())
    assert list(again.postings.columns) == list(segment.postings.columns)
    assert LexicalEngine([again]).score(query("天气"), EVERYONE).top(2).rows.tolist() == [0]


def test_looking_rows_up_equals_summing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows of a large catalog that are looked up in the postings score the same to the last bit."""
    rng = np.random.default_rng(5)
    documents = [{f"t{int(term)}": float(rng.integers(1, 4)) for term in rng.integers(0, 30, 8)} for _ in range(200)]
    segments = [
        LexicalSegment.of([(one, sum(one.values())) for one in part]) for part in (documents[:150], documents[150:])
    ]
    mask = rng.random(200) < 0.5
    query = {"t1": 1.0, "t7": 0.6, "t29": 1.3, "none": 1.0}
    every = np.array([199, 0, 3, 150, 149], np.int32)
    for view, rows in ((EVERYONE, every), (RowSet("half", mask), every[mask[every]])):
        summed = LexicalEngine(segments).score(query, view).at(rows)
        with monkeypatch.context() as patch:
            patch.setattr(word_scores, "LARGE", 10)
            assert LexicalEngine(segments).score(query, view).at(rows).tolist() == summed.tolist()


@settings(deadline=None, max_examples=25)
@given(st.integers(0, 2**32 - 1), st.integers(1, 70), st.booleans())
def test_sums_by_blocks_equal_one_sum(seed: int, block: int, masked: bool) -> None:
    """However many rows are summed at a time, scores, moments and order are the same to the last bit."""
    texts = random_texts(seed, 60, 20)
    segments = [LexicalSegment.of(map(document, texts[:45])), LexicalSegment.of(map(document, texts[45:]))]
    view = RowSet("some", np.random.default_rng(seed).random(60) < 0.6) if masked else EVERYONE
    whole, parts = (LexicalEngine(segments).score(query("w1 w2 w3 w9"), view) for _ in range(2))
    expected = whole.top(60)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(word_scores, "BLOCK", block)
        found = parts.top(60)
    assert (found.rows.tolist(), found.scores.tolist()) == (expected.rows.tolist(), expected.scores.tolist())
    assert (parts.mean, parts.std) == (whole.mean, whole.std)
