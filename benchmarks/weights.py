"""Tries the weights of fields (`toolsearch/fields.py`): one field changed at a time, and draws around all of them.

Each part is tested with the weights that are best on the others, so the gain is one on requests that chose nothing.
Fields that the parts' tools do not have (titles, tags, aliases, examples, namespaces) are left as they are.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from benchmarks.runner import K, build
from benchmarks.tasks import Task, evenly
from toolsearch import ToolIndex, ToolSpec
from toolsearch.encoders.cached import CachedEncoder
from toolsearch.engines.lexical import GRAIN, LexicalEngine, LexicalSegment
from toolsearch.engines.postings import Postings
from toolsearch.evaluation.measures import measure
from toolsearch.evaluation.runs import Answer
from toolsearch.evaluation.tables import averaged, bounded, table
from toolsearch.fields import WEIGHTS
from toolsearch.strategies.retrievers import open_retriever
from toolsearch.text import field_terms

TRIED: Final = ("name", "description", "parameter names", "parameter descriptions")
FACTORS: Final = (0.5, 2.0)
SPREAD: Final = 0.6
"""Standard deviation of the logarithm of a drawn weight."""
DRAWS: Final = 2_000

Values = NDArray[np.float64]
Point = tuple[float, ...]
"""The weights of TRIED."""
CHOSEN: Final[Point] = tuple(WEIGHTS[field] for field in TRIED)


def points(drawn: int) -> list[Point]:
    """The chosen weights, those with one field changed, and so many draws."""
    found = [CHOSEN]
    for place, weight in enumerate(CHOSEN):
        found += [(*CHOSEN[:place], round(factor * weight, 2), *CHOSEN[place + 1 :]) for factor in FACTORS]
    chance = np.random.default_rng(0)
    for _ in range(drawn):
        factors = np.exp(SPREAD * chance.standard_normal(len(CHOSEN)))
        found.append(tuple(round(float(w * f), 2) for w, f in zip(CHOSEN, factors, strict=True)))
    return found


class Weighed:
    """A catalog's words by field, so that weights can be changed without reading it again."""

    def __init__(self, tools: Sequence[ToolSpec]) -> None:
        known: dict[str, int] = {}
        rows = [
            (row, list(WEIGHTS).index(field), known.setdefault(term, len(known)), count)
            for row, spec in enumerate(tools)
            for field, term, count in field_terms(spec)
        ]
        self._rows, self._fields, terms, self._counts = np.array(rows, np.int64).T
        self._terms = sorted(known)
        places = np.empty(len(known), np.int64)
        places[[known[term] for term in self._terms]] = np.arange(len(known))
        pairs, self._pair = np.unique(places[terms] * len(tools) + self._rows, return_inverse=True)
        self._bounds = np.searchsorted(pairs // len(tools), np.arange(len(known) + 1)).astype(np.int64)
        self._held = (pairs % len(tools)).astype(np.int32)
        self._size = len(tools)

    def engine(self, weights: Mapping[str, float]) -> LexicalEngine:
        """The words engine that these weights make."""
        counted = np.array(list(weights.values()))[self._fields] * self._counts
        columns = {term: place for place, term in enumerate(self._terms)}
        frequencies = np.bincount(self._pair, counted).astype(np.float32)
        lengths = np.round(np.bincount(self._rows, counted, self._size) * GRAIN) / GRAIN
        postings = Postings(columns, self._bounds, self._held, frequencies)
        return LexicalEngine([LexicalSegment(postings, lengths.astype(np.float32))])


def weights_table(tasks: Sequence[Task], requests: int, drawn: int) -> str:
    """Each point on each part, the best ones first; and the gain of what is best on the other parts, by part."""
    values: dict[Point, dict[str, Values]] = {point: {} for point in points(drawn)}
    for task in tasks:
        for point, found in _tried(evenly(task, requests), list(values)).items():
            values[point][task.name] = found
        print(f"{task.name}: {len(values)} points tried", flush=True)
    names = [task.name for task in tasks]
    ordered = sorted(values, key=lambda point: (point != CHOSEN, -_mean(values[point])))
    rows = [[_shown(point), *(f"{v.mean():.2f}" for v in values[point].values())] for point in ordered]
    rows = [[*row, f"{_mean(values[point]):.2f}"] for row, point in zip(rows, ordered, strict=True)]
    held = table(["left out", "best on the others", "gain there"], held_out(values))
    return f"{table([', '.join(TRIED), *names, 'mean'], rows)}\n\n{held}"


def held_out(values: Mapping[Point, Mapping[str, Values]]) -> list[list[str]]:
    """For each part, and in the mean: what the weights gain there that are best on the other parts, with intervals."""
    gains: list[Values] = []
    rows: list[list[str]] = []
    for name in values[CHOSEN]:
        best = max(values, key=lambda point: _mean({n: v for n, v in values[point].items() if n != name}))
        gains.append(values[best][name] - values[CHOSEN][name])
        rows.append([name, _shown(best), averaged(gains[-1], 2)])
    chance = np.random.default_rng(0)
    drawn = [[float(chance.choice(gain, len(gain)).mean()) for gain in gains] for _ in range(DRAWS)]
    low, high = np.percentile(np.mean(drawn, axis=1), [2.5, 97.5]).tolist()
    return [*rows, ["mean", "", bounded(float(np.mean([gain.mean() for gain in gains])), (low, high), 2)]]


def _tried(task: Task, wanted: Sequence[Point]) -> dict[Point, Values]:
    """nDCG@10 of each request, in percent, by point."""
    index = ToolIndex.open(build(task, "builtin").folder, read_only=True)
    view, retriever = index.view(), open_retriever("hybrid")
    corpus: Any = view.corpus
    corpus._encoder = CachedEncoder(corpus._encoder, 10_000)
    words = Weighed([corpus.tool(int(row)) for row in corpus.rows(corpus.everyone())])
    found: dict[Point, Values] = {}
    for point in wanted:
        corpus._lexical = words.engine({**WEIGHTS, **dict(zip(TRIED, point, strict=True))})
        hits = [retriever.search([query.query], view, K) for query in task.queries]
        answers = [
            Answer(id=query.id, hits=tuple((hit.id, hit.score) for hit in one))
            for query, one in zip(task.queries, hits, strict=True)
        ]
        gains = measure(task.queries, answers, ["nDCG@10"])["nDCG@10"]
        found[point] = 100 * np.array(list(gains.values()))
    return found


def _mean(parts: Mapping[str, Values]) -> float:
    return math.fsum(float(one.mean()) for one in parts.values()) / len(parts)


def _shown(point: Point) -> str:
    return ", ".join(f"{weight:g}" for weight in point)
