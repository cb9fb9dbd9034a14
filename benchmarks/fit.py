"""Fits the numbers of the hybrid ranking so that each part is tested with numbers that were chosen on the others.

The grids stand here, the chosen numbers in `toolsearch/strategies/settings.py`. The share of the token table is part
of every vector; it is tried by weighing the two parts of requests' vectors anew.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from benchmarks.runner import K, build
from benchmarks.tasks import Task
from toolsearch import ToolIndex
from toolsearch.encoders.export import TABLE_DIMENSION, TABLE_SHARE
from toolsearch.evaluation.measures import measure
from toolsearch.evaluation.runs import Answer
from toolsearch.evaluation.tables import table
from toolsearch.strategies.exact import ExactFirst
from toolsearch.strategies.hybrid import HybridRanker
from toolsearch.strategies.retriever import RankedRetriever
from toolsearch.strategies.settings import HYBRID

CURVES = ((3.77, 1.09), (4.3, 1.09), (4.8, 1.09), (4.9, 1.4))
CLAUSE_SHARES = (0.0, 0.3, 0.4, 0.5)
TABLE_SHARES = (0.0, 0.1, 0.25)
CHOSEN = (HYBRID.length_offset, HYBRID.length_slope, HYBRID.clause_share, TABLE_SHARE)

Point = tuple[float, float, float, float]
"""Offset and slope of the length curve, share of the best clause, share of the token table."""


@dataclass(frozen=True, slots=True)
class Reweighed:
    """The built-in encoder for requests, as if the token table had another share.

    `keeps`: what is ready for one share must not be taken for another.
    """

    inner: Any
    share: float
    keeps: bool = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    def encode(self, texts: Sequence[str], role: Any) -> Any:
        """Vectors of requests."""
        vectors = self.inner.encode(texts, role).copy()
        vectors[:, :-TABLE_DIMENSION] *= (1 - self.share) / (1 - TABLE_SHARE)
        vectors[:, -TABLE_DIMENSION:] *= self.share / TABLE_SHARE
        return vectors


def points() -> Iterator[Point]:
    """The chosen point, and those that differ from it in one number."""
    offset, slope, clauses, share = CHOSEN
    found = [(*curve, clauses, share) for curve in CURVES]
    found += [(offset, slope, other, share) for other in CLAUSE_SHARES]
    found += [(offset, slope, clauses, other) for other in TABLE_SHARES]
    yield from dict.fromkeys([CHOSEN, *found])


def fit(tasks: Sequence[Task]) -> str:
    """Tables: each point on each part; and for each part the point that is best on the others, tested on the part."""
    means: dict[Point, dict[str, float]] = {point: {} for point in points()}
    for task in tasks:
        for point, mean in _means(task, list(means)).items():
            means[point][task.name] = mean
        print(f"{task.name}: {len(means)} points tried", flush=True)
    names = [task.name for task in tasks]
    every = [
        [_shown(point), *(f"{v:.2f}" for v in (*row.values(), np.mean([*row.values()])))]
        for point, row in means.items()
    ]
    held = table(
        ["held out", "best on the others", "there", "chosen point there", "best point there"], _held_out(means)
    )
    return f"{table(['point', *names, 'mean'], every)}\n\n{held}"


def _means(task: Task, wanted: Sequence[Point]) -> dict[Point, float]:
    index = ToolIndex.open(build(task, "builtin").folder, read_only=True)
    view = index.view()
    corpus: Any = view.corpus
    plain = corpus._encoder
    found: dict[Point, list[Answer]] = {point: [] for point in wanted}
    for query in task.queries:
        for share in dict.fromkeys(point[3] for point in wanted):
            corpus._encoder = Reweighed(plain, share)
            for point in (point for point in wanted if point[3] == share):
                settings = replace(HYBRID, length_offset=point[0], length_slope=point[1], clause_share=point[2])
                ranker = ExactFirst(HybridRanker(settings=settings))
                result = RankedRetriever(ranker).search([query.query], view, K)
                found[point].append(Answer(id=query.id, hits=tuple((hit.id, hit.score) for hit in result)))
    corpus._encoder = plain
    means: dict[Point, float] = {}
    for point, answers in found.items():
        values = measure(task.queries, answers, ["nDCG@10"])["nDCG@10"].values()
        means[point] = 100 * float(np.mean(list(values)))
    return means


def _held_out(means: Mapping[Point, Mapping[str, float]]) -> list[list[str]]:
    names = list(means[CHOSEN])
    rows: list[list[str]] = []
    held: list[float] = []
    for name in names:
        best = max(means, key=lambda point: sum(means[point][other] for other in names if other != name))
        held.append(means[best][name])
        top = max(values[name] for values in means.values())
        rows.append([name, _shown(best), f"{held[-1]:.2f}", f"{means[CHOSEN][name]:.2f}", f"{top:.2f}"])
    chosen = list(means[CHOSEN].values())
    return [*rows, ["mean", "", f"{np.mean(held):.2f}", f"{np.mean(chosen):.2f}", ""]]


def _shown(point: Point) -> str:
    return "curve {:g} {:g}, clause {:g}, table {:g}".format(*point)
