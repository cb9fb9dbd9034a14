"""Each clause of a request has a tool near the top."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from toolsearch.strategies.covering import covering

PLACES = 5


@st.composite
def votes(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray]:
    """Scores of some rows, and what two to four clauses give them; small numbers, so that many are equal."""
    rows = draw(st.integers(1, 20))
    clauses = draw(st.integers(2, PLACES - 1))
    values = st.integers(-3, 3).map(float)
    scores = draw(st.lists(values, min_size=rows, max_size=rows))
    parts = draw(st.lists(st.lists(values, min_size=rows, max_size=rows), min_size=clauses, max_size=clauses))
    return np.array(scores), np.array(parts)


@given(votes())
def test_every_clause_is_covered(case: tuple[np.ndarray, np.ndarray]) -> None:
    """Among the first rows stands, for each clause, its best row or one that serves no other clause better."""
    scores, parts = case
    rows = np.arange(len(scores), dtype=np.int32)
    lifts = covering(rows, scores, parts, PLACES)
    lifted = scores + [lifts[row].points if row in lifts else 0.0 for row in rows.tolist()]
    first = np.lexsort((rows, -lifted))[:PLACES]
    serves = parts.argmax(axis=0)
    for clause, part in enumerate(parts):
        assert clause in serves[first] or part.argmax() in first


@given(votes())
def test_nobody_is_lifted_without_need(case: tuple[np.ndarray, np.ndarray]) -> None:
    """Only rows that were not among the first are lifted, at most one for each clause."""
    scores, parts = case
    rows = np.arange(len(scores), dtype=np.int32)
    lifts = covering(rows, scores, parts, PLACES)
    first = np.lexsort((rows, -scores))[: PLACES - len(lifts)]
    assert len(lifts) < len(parts)
    assert not set(lifts) & set(first.tolist())
    assert all(lift.points >= 0 for lift in lifts.values())
