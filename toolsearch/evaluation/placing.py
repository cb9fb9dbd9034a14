"""How much a place in the ranking says beside a judge's answer, fitted to judged requests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np

from toolsearch.evaluation.judged import JudgedQuery
from toolsearch.evaluation.logistic import fitted
from toolsearch.protocols import ToolView
from toolsearch.strategies.calibration import Fitted, logit_of
from toolsearch.strategies.reranking import Reranked

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]

LEAST: Final = 10
"""Requests with a right tool on the shortlist below which nothing is fitted."""
MOST: Final = 100.0
"""A judge whose answers say nothing, or the opposite of the truth, leaves the order to the ranking."""


def place(ranker: Reranked, view: ToolView, queries: Sequence[JudgedQuery]) -> float:
    """The `Fitted.place` that makes the likeliest chances of a judge's answers; 0 where too few requests tell.

    Raises:
        DecisionFailed: the judge failed.
    """
    alone = replace(ranker, fitted=Fitted(), min_probability=0.0)
    parts = [_answers(alone, view, query) for query in queries if query.query.strip()]
    told = [rows for rows in parts if len(rows) and rows[:, 2].any()]
    if len(told) < LEAST:
        return 0.0
    rows = np.concatenate(told)
    features = np.c_[rows[:, :2], np.ones(len(rows))]
    judge, above, _ = fitted(features, rows[:, 2], np.ones(len(rows)), np.array([1.0, 0.0, 0.0]))
    if judge <= 0:
        return MOST
    return float(np.clip(above / judge, 0.0, MOST))


def _answers(ranker: Reranked, view: ToolView, query: JudgedQuery) -> Numbers:
    """Of each tool that the judge spoke about: the logit, how far above the others it ranks, whether it is right."""
    asked = ranker.asked(query.query, view, ranker.shortlist)
    if not asked.above:
        return np.empty((0, 3))
    chances = ranker.chances(query.query, view, asked.above)
    return np.array(
        [
            (logit_of(chance), asked.above[row], float(view.corpus.tool(row).id in query.relevant))
            for row, chance in chances.items()
        ]
    ).reshape(-1, 3)
