"""Does search know that nothing fits? The demo in slices of three namespaces, each a catalog of its own.

Requests whose right tools lie in a slice are answerable there; English requests whose right tools all lie elsewhere
are the unrelated ones. English answerable requests are also asked without their right tools, whose siblings stay.
Confidence is fitted to each slice by the development half and measured on the test half.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.tasks import DEMO
from toolsearch import ToolIndex, ToolSpec, open_encoder
from toolsearch.catalog.sources import load
from toolsearch.encoders.cached import CachedEncoder
from toolsearch.evaluation.calibrating import Sample, calibrated, confidence, likeness, samples
from toolsearch.evaluation.judged import JudgedQuery, read_queries
from toolsearch.evaluation.tables import bounded, table
from toolsearch.protocols import Encoder, ToolView
from toolsearch.strategies.calibration import Calibration, Fitted
from toolsearch.strategies.confidence import FIT
from toolsearch.strategies.likeness import Likeness
from toolsearch.strategies.ranking import Ranker
from toolsearch.strategies.retrievers import open_retriever

SIZE = 3
REFUSED = 0.10
DRAWS = 1_000
Truths = NDArray[np.bool_]


class Pair(NamedTuple):
    """The confidence in what a slice finds for a request, and whether it has a tool for it."""

    confidence: float
    answerable: bool
    text: str


class Figures(NamedTuple):
    """Share of answerable requests refused, of the others offered a tool, and area under the curve, from 0 to 1."""

    refused: float
    offered: float
    auc: float


def slices() -> Iterator[list[ToolSpec]]:
    """The catalogs: namespaces by name, three at a time, a rest left out."""
    tools = [tool.spec for tool in load(DEMO / "tools").tools]
    names = sorted({spec.namespace for spec in tools})
    for start in range(0, len(names) - SIZE + 1, SIZE):
        inside = set(names[start : start + SIZE])
        yield [spec for spec in tools if spec.namespace in inside]


def asked_of(tools: Sequence[ToolSpec], split: str) -> list[JudgedQuery]:
    """The requests of a split for one slice: all that it answers, and the English ones that others answer."""
    ids = {spec.id for spec in tools}
    known = read_queries(DEMO / "requests.jsonl")
    mine = [query for query in known if query.split == split and query.answerable]
    return [query for query in mine if query.lang == "en" or ids & set(query.relevant)]


@dataclass(frozen=True)
class Slice:
    """What one slice says of its development requests and of its test requests, each with its language.

    `without` are the English answerable ones of the test half, asked without their right tools.
    """

    view: ToolView
    taught: list[tuple[str, Sample]]
    test: list[tuple[str, Sample]]
    without: list[Sample]
    known: Likeness | None


def slices_table(encoder_name: str = "builtin", strategy: str = "hybrid") -> str:
    """Refused answerable requests and false offers on unrelated ones, as confidence is and as it is when fitted."""
    encoder = CachedEncoder(open_encoder(encoder_name), 10_000)
    found = [_slice(tools, encoder, strategy) for tools in slices()]
    rows: list[list[str]] = []
    for what, languages in (("English", ["en"]), ("all languages", [])):
        plain: list[Pair] = []
        fitted: list[Pair] = []
        passed: list[bool] = []
        for one in found:
            fit, _ = calibrated([sample for lang, sample in one.taught if lang in (languages or [lang])], one.known)
            test = [sample for lang, sample in one.test if lang in (languages or [lang])]
            values = [Pair(confidence(fit, sample), sample.answerable, sample.text) for sample in test]
            plain += map(_plain, test)
            fitted += values
            passed += [0 < one.confidence >= fit.threshold for one in values]
        rows += [[f"{what}, as it is", *at_one(plain)], [f"{what}, fitted, one threshold", *at_one(fitted)]]
        rows.append([f"{what}, fitted, a threshold a slice", *_cells(passed, fitted)])
        if what == "English":
            missing = [_plain(sample) for one in found for sample in one.without]
            rows.append([f"{what}, the right tools taken out", *at_one([*filter(_answerable, plain), *missing])])
    return table(["", "refused %", "false offers %", "AUC"], rows)


def _plain(sample: Sample) -> Pair:
    """What confidence says as it is, without what a catalog's own judged requests tell."""
    value = FIT.of(sample.evidence) if sample.evidence else sample.estimate
    return Pair(value, sample.answerable, sample.text)


def _answerable(pair: Pair) -> bool:
    return pair.answerable


def _slice(tools: Sequence[ToolSpec], encoder: Encoder, strategy: str) -> Slice:
    view = ToolIndex.from_tools(tools, encoder=encoder).view()
    development, test = asked_of(tools, "development"), asked_of(tools, "test")
    known, taught = likeness(samples(open_retriever(strategy).ranker, view, development), view)
    liking = Calibration(strategies={strategy: Fitted(likeness=known)})
    ranker = open_retriever(strategy, calibration=liking).ranker
    seen = samples(ranker, view, test)
    return Slice(
        view,
        [(query.lang, one) for query, one in zip(development, taught, strict=True)],
        [(query.lang, one) for query, one in zip(test, seen, strict=True)],
        taken_out(ranker, view, [query for query in test if query.lang == "en"]),
        known,
    )


def taken_out(ranker: Ranker, view: ToolView, queries: Sequence[JudgedQuery]) -> list[Sample]:
    """What is said of requests that the view answers, each as if it had none of the right tools."""
    found: list[Sample] = []
    for query in queries:
        right = {row for tool in query.relevant if (row := view.corpus.row(tool)) is not None}
        if right:
            found += samples(ranker, replace(view, excluded=view.excluded | right), [query])
    return found


def at_one(pairs: Sequence[Pair]) -> tuple[str, str, str]:
    """At the threshold that refuses REFUSED of the answerable ones of all slices; cells with intervals."""
    right = sorted(one.confidence for one in pairs if one.answerable)
    bound = right[int(REFUSED * len(right))]
    return _cells([0 < one.confidence >= bound for one in pairs], pairs)


def _cells(passed: Sequence[bool], pairs: Sequence[Pair]) -> tuple[str, str, str]:
    """Refused, false offers and area, with intervals by drawing requests: one that many slices are asked is one."""
    texts, owner = np.unique([one.text for one in pairs], return_inverse=True)
    shown, right = np.array(passed, np.bool_), np.array([one.answerable for one in pairs], np.bool_)
    _, places = np.unique([one.confidence for one in pairs], return_inverse=True)
    chance = np.random.default_rng(0)
    drawn: list[Figures] = []
    while len(drawn) < DRAWS:
        weights = np.bincount(chance.integers(0, len(texts), len(texts)), minlength=len(texts))[owner]
        if weights[right].any() and weights[~right].any():
            drawn.append(_figures(weights, shown, right, places))
    found = _figures(np.ones(len(pairs)), shown, right, places)
    low, high = np.percentile(np.array(drawn), [2.5, 97.5], axis=0).tolist()
    bounds = list(zip(low, high, strict=True))
    shares = [bounded(100 * found[i], (100 * bounds[i][0], 100 * bounds[i][1])) for i in (0, 1)]
    return shares[0], shares[1], bounded(found.auc, bounds[2], 3)


def _figures(
    weights: NDArray[Any], shown: NDArray[np.bool_], right: NDArray[np.bool_], places: NDArray[np.int64]
) -> Figures:
    """What weighted requests say; `places` are those of their confidences in order, equal ones alike."""
    mine, other = weights * right, weights * ~right
    below = np.bincount(places, other)
    area = np.bincount(places, mine) @ (np.cumsum(below) - below / 2)
    return Figures(
        float((mine * ~shown).sum() / mine.sum()),
        float((other * shown).sum() / other.sum()),
        float(area / mine.sum() / other.sum()),
    )
