"""Fits confidence to one catalog by judged requests, and says how well that works on requests it has not seen.

What is fitted is the chance that the catalog has a tool for a request at all, as if as many requests had one as had
none. A request whose right tools are not in the catalog counts as one that has none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from toolsearch.errors import InvalidInput
from toolsearch.evaluation.abstention import auc
from toolsearch.evaluation.judged import JudgedQuery
from toolsearch.evaluation.logistic import balanced, fitted
from toolsearch.protocols import ToolView
from toolsearch.strategies.calibration import Fitted
from toolsearch.strategies.confidence import FIT, Evidence, Fit
from toolsearch.strategies.likeness import Likeness
from toolsearch.strategies.ranking import Ranker

if TYPE_CHECKING:
    from toolsearch.evaluation.logistic import Numbers

FOLDS: Final = 5
LEAST: Final = 8
"""Requests of each kind below which nothing is fitted."""
MINIMUM: Final = 10
"""Requests of each kind that a calibration needs, so that each of its FOLDS can be fitted without the others."""
REFUSED: Final = 0.10
"""Share of answerable requests that may fall below the threshold."""
ALONE: Final = ("offset", "cosine", "coverage", "length", "answered", "unanswered")
"""Numbers that are fitted, in the order of the features."""
WORLD: Final = (
    *("world_offset", "world_cosine", "world_coverage", "world_length", "answered", "unanswered"),
    *("elsewhere", "world_around", "world_mixed"),
)
"""The same where the encoder tells how near a request is to what tools elsewhere do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One judged request: the estimate for its best hit, what it was made from, and whether the catalog has a tool."""

    text: str
    estimate: float
    evidence: Evidence | None
    answerable: bool


def samples(ranker: Ranker, view: ToolView, queries: Sequence[JudgedQuery]) -> list[Sample]:
    """What a ranking says of the judged requests.

    Raises:
        InvalidInput: the ranking makes no estimate, or no request is left.
    """
    found: list[Sample] = []
    for query in (one for one in queries if one.query.strip()):
        ranked = ranker.rank(query.query, view, 1)
        if ranked.confidence is None:
            raise InvalidInput("this strategy makes no estimate to calibrate; use hybrid, lexical or vector")
        right = any(view.get(tool_id) for tool_id in query.relevant)
        found.append(Sample(text=query.query, estimate=ranked.confidence, evidence=ranked.evidence, answerable=right))
    if not found:
        raise InvalidInput("there is no judged request to calibrate by")
    return found


def check_enough(given: Sequence[Sample]) -> None:
    """Refuse to fit anything to too few requests.

    Raises:
        InvalidInput: there are fewer than MINIMUM of a kind; the text says how many there are.
    """
    right = sum(one.answerable for one in given)
    wrong = len(given) - right
    if min(right, wrong) < MINIMUM:
        raise InvalidInput(
            f"{right} requests have a right tool in this catalog and {wrong} have none; a calibration needs at least "
            f'{MINIMUM} of each, and means little below 100. A request without a tool is written with: "relevant": []'
        )


def likeness(given: Sequence[Sample], view: ToolView) -> tuple[Likeness | None, list[Sample]]:
    """The judged requests as vectors, and the samples with their nearness to the others; None without an encoder."""
    read = [one for one in given if one.evidence is not None and one.evidence.cosine is not None]
    if view.corpus.encoder is None or not read:
        return None, list(given)
    vectors = view.corpus.encoder.encode([one.text for one in read], "query")
    known = Likeness.of(vectors, [one.answerable for one in read])
    near = {id(one): known.near(vector, left_out=True) for one, vector in zip(read, vectors, strict=True)}
    return known, [_with_near(one, near[id(one)]) if id(one) in near else one for one in given]


def calibrated(given: Sequence[Sample], known: Likeness | None) -> tuple[Fitted, list[float]]:
    """What is fitted to all samples, and the confidence in each by a fit that has not seen it.

    The threshold is where REFUSED of the answerable samples would be refused, of those for which anything was found.
    """
    unseen = [0.0] * len(given)
    for fold in range(FOLDS):
        curve = _curve([one for place, one in enumerate(given) if place % FOLDS != fold])
        for place in range(fold, len(given), FOLDS):
            unseen[place] = confidence(curve, given[place])
    threshold = threshold_of(found_values(given, unseen))
    return replace(_curve(given), threshold=threshold, likeness=known), unseen


def found_values(given: Sequence[Sample], values: Sequence[float]) -> list[float]:
    """The confidences of the answerable samples for which anything was found."""
    return [value for value, one in zip(values, given, strict=True) if one.answerable and value > 0]


def threshold_of(values: Sequence[float]) -> float:
    """Where REFUSED of these would be refused."""
    right = sorted(values)
    return right[int(REFUSED * len(right))] if right else 0.0


def confidence(curve: Fitted, one: Sample) -> float:
    """The calibrated confidence for a sample."""
    if one.evidence is not None:
        return curve.fit.of(one.evidence)
    return curve.put_right(one.estimate) if 0 < one.estimate < 1 else one.estimate


def _curve(given: Sequence[Sample]) -> Fitted:
    near = [one for one in given if one.evidence is not None and one.evidence.cosine is not None]
    foreign = [one for one in near if one.evidence is not None and one.evidence.foreign]
    near = [one for one in near if one.evidence is not None and not one.evidence.foreign]
    words = [one for one in given if one.evidence is not None and one.evidence.cosine is None]
    if near or words or foreign:
        return Fitted(fit=_foreign_fit(_words_fit(_near_fit(FIT, near), words), foreign))
    rows = [one for one in given if 0 < one.estimate < 1]
    estimates = np.array([one.estimate for one in rows])
    found = _solved(np.c_[np.log(estimates / (1 - estimates)), np.ones(len(rows))], rows, [1.0, 0.0])
    return Fitted() if found is None else Fitted(scale=float(found[0]), bias=float(found[1]))


def fitted_anew(rows: Sequence[Sample]) -> Fit:
    """The numbers of requests in the tools' languages fitted to these samples, as nothing were known before.

    Raises:
        InvalidInput: there are too few samples.
    """
    check_enough(rows)
    near = [one for one in rows if one.evidence and one.evidence.cosine is not None and not one.evidence.foreign]
    return _near_fit(replace(FIT, **dict.fromkeys(WORLD, 0.0)), near)


def _near_fit(fit: Fit, rows: Sequence[Sample]) -> Fit:
    told = any(one.evidence is not None and one.evidence.elsewhere is not None for one in rows)
    names = WORLD if told else ALONE
    features = np.array([_features(one)[: len(names)] for one in rows])
    found = _solved(features, rows, [getattr(fit, name) for name in names])
    return fit if found is None else replace(fit, **{n: float(value) for n, value in zip(names, found, strict=True)})


def _words_fit(fit: Fit, rows: Sequence[Sample]) -> Fit:
    features = np.array([[1.0, one.evidence.coverage] for one in rows if one.evidence])
    found = _solved(features, rows, [fit.words_offset, fit.words_coverage])
    return fit if found is None else replace(fit, words_offset=float(found[0]), words_coverage=float(found[1]))


def _foreign_fit(fit: Fit, rows: Sequence[Sample]) -> Fit:
    features = np.array([[1.0, one.evidence.cosine or 0.0] for one in rows if one.evidence])
    found = _solved(features, rows, [fit.likeness_offset, fit.likeness_cosine])
    return fit if found is None else replace(fit, likeness_offset=float(found[0]), likeness_cosine=float(found[1]))


def _features(one: Sample) -> list[float]:
    evidence = one.evidence or Evidence(cosine=0.0, coverage=0.0, terms=0)
    length = float(np.log1p(evidence.terms))
    alone = [1.0, evidence.cosine or 0.0, evidence.coverage, length, *evidence.near]
    return [*alone, evidence.elsewhere or 0.0, evidence.around, evidence.coverage * length]


def _solved(features: Numbers, rows: Sequence[Sample], prior: Sequence[float]) -> Numbers | None:
    truth = np.array([float(one.answerable) for one in rows])
    if min(truth.sum(), len(truth) - truth.sum()) < LEAST:
        return None
    return fitted(features, truth, balanced(truth), np.array(prior))


def _with_near(one: Sample, near: tuple[float, float]) -> Sample:
    return one if one.evidence is None else replace(one, evidence=replace(one.evidence, near=near))


@dataclass(frozen=True, slots=True, kw_only=True)
class Quality:
    """How good confidences are: `ece` is the mean gap between confidence and truth; shares from 0 to 1."""

    answerable: int
    unanswerable: int
    refused: float
    offered: float
    auc: float
    ece: float


EDGES: Final = (0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 1.0)


def quality(given: Sequence[Sample], values: Sequence[float], threshold: float) -> Quality:
    """What a threshold does to these samples, and how far the confidences are from the truth."""
    right = [value for value, one in zip(values, given, strict=True) if one.answerable]
    wrong = [value for value, one in zip(values, given, strict=True) if not one.answerable]
    gaps = [share * abs(mean - truth) for _, share, mean, truth in reliability(given, values)]
    return Quality(
        answerable=len(right),
        unanswerable=len(wrong),
        refused=float(np.mean([value < threshold for value in right])) if right else 0.0,
        offered=float(np.mean([0 < value >= threshold for value in wrong])) if wrong else 0.0,
        auc=auc(right, wrong) if right and wrong else float("nan"),
        ece=float(sum(gaps)),
    )


def reliability(given: Sequence[Sample], values: Sequence[float]) -> list[tuple[str, float, float, float]]:
    """Per range of confidence: its name, its share of the weight, the mean confidence, the share of answerable ones."""
    truth = np.array([float(one.answerable) for one in given])
    both = 0 < truth.sum() < len(truth)
    weights = balanced(truth) if both else np.ones(len(truth))
    places = np.clip(np.searchsorted(EDGES, values, side="right") - 1, 0, len(EDGES) - 2)
    found: list[tuple[str, float, float, float]] = []
    for place in range(len(EDGES) - 1):
        inside = places == place
        if weight := weights[inside].sum():
            mean = float((weights * np.array(values))[inside].sum() / weight)
            name = f"{EDGES[place]:.1f} to {EDGES[place + 1]:.1f}"
            found.append((name, float(weight / weights.sum()), mean, float((weights * truth)[inside].sum() / weight)))
    return found
