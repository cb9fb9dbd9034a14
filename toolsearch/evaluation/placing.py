"""How much a place in the ranking says beside a judge's answer, fitted to judged requests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np

from toolsearch.chances import logit_of
from toolsearch.evaluation.judged import JudgedQuery
from toolsearch.evaluation.logistic import fitted
from toolsearch.protocols import ToolView
from toolsearch.strategies.calibration import Fitted
from toolsearch.strategies.reranking import Reranked

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]

LEAST: Final = 10
"""Requests with a right tool on the shortlist below which nothing is fitted."""


def placed(ranker: Reranked, view: ToolView, queries: Sequence[JudgedQuery]) -> Fitted:
    """The `answer` and `place` that make the likeliest chances; a judge who says the opposite of the truth has no say.

    The judge decides alone where too few requests tell.

    Raises:
        DecisionFailed: the judge failed.
    """
    alone = replace(ranker, fitted=Fitted(), min_probability=0.0)
    parts = [_answers(alone, view, query) for query in queries if query.query.strip()]
    told = [rows for rows in parts if len(rows) and rows[:, 2].any()]
    if len(told) < LEAST:
        return Fitted()
    rows = np.concatenate(told)
    answer, place = _solved(rows[:, :2], rows[:, 2])
    if answer <= 0:
        answer, place = 0.0, _solved(rows[:, 1:2], rows[:, 2])[0]
    return Fitted(answer=answer, place=max(0.0, place))


def _solved(features: Numbers, truth: Numbers) -> list[float]:
    """Coefficients of the features, pulled a little to 1."""
    full = np.c_[features, np.ones(len(features))]
    prior = np.array([*[1.0] * features.shape[1], 0.0])
    return fitted(full, truth, np.ones(len(truth)), prior).tolist()[:-1]


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
