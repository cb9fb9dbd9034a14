"""What a judge is worth beside the ranking that it looks at again."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from toolsearch.decision.lines import Line
from toolsearch.evaluation.abstention import auc
from toolsearch.evaluation.logistic import fitted
from toolsearch.training.mining import Shortlist

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]

CUT: Final = 10
REFUSED: Final = 0.1
"""Share of the lists that hold a right tool which a threshold may refuse."""
BINS: Final = 10

Judges = Callable[[str, Sequence[Line]], Sequence[float]]
"""A request and lines of tools in, one logit a tool out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """One request's shortlist: scores of the ranking and logits of the judge, (n,) float64; which tools are right.

    `missing` right tools are not on the list.
    """

    scores: Numbers
    logits: Numbers
    right: NDArray[np.bool_]
    missing: int

    def without(self) -> Seen:
        """The same list without its right tools."""
        wrong = ~self.right
        return Seen(scores=self.scores[wrong], logits=self.logits[wrong], right=self.right[wrong], missing=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """What makes chances of logits: sigmoid(scale * logit + bias), and beside a ranking one that knows the place.

    `beside` holds "scale", "bias" and "place", as `strategies.calibration.Fitted` has them.
    """

    scale: float
    bias: float
    beside: Mapping[str, float]

    def alone(self, one: Seen) -> Numbers:
        """Logits of the judge's own chances."""
        return self.scale * one.logits + self.bias

    def mixed(self, one: Seen) -> Numbers:
        """Logits of the chances beside the ranking."""
        placed = self.alone(one) + self.beside["place"] * above(one.scores)
        return self.beside["scale"] * placed + self.beside["bias"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Worth:
    """`ranking`, `judge` and `mixed` are mean NDCG@10 in percent; `auc` and `ece` speak of single hits, from 0 to 1.

    `auc_alone` and `ece_alone` are those of the judge's own chances, the others those beside the ranking. `offers_*`:
    share of lists without their right tools whose first tool passes a threshold that refuses REFUSED of the lists with
    them.
    """

    requests: int
    ranking: float
    judge: float
    mixed: float
    auc_alone: float
    ece_alone: float
    auc: float
    ece: float
    offers_ranking: float
    offers_judge: float
    offers_mixed: float


def seen(
    shortlist: Shortlist, request: str, relevant: Sequence[str], lines: Mapping[str, Line], judge: Judges
) -> Seen | None:
    """A request as ranking and judge see it; None when nothing was found."""
    if not shortlist.hits:
        return None
    right = np.array([hit in relevant for hit in shortlist.hits])
    logits = np.array(judge(request, [lines[hit] for hit in shortlist.hits]), np.float64)
    missing = len(relevant) - int(right.sum())
    return Seen(scores=np.array(shortlist.scores, np.float64), logits=logits, right=right, missing=missing)


def above(scores: Numbers) -> Numbers:
    """By how many standard deviations each score is above their mean."""
    spread = scores.std()
    return (scores - scores.mean()) / spread if spread > 0 else np.zeros_like(scores)


def calibration(lists: Sequence[Seen]) -> Curve:
    """The curve of some lists; to be fitted on other sources than it is tested on."""
    truth = np.concatenate([one.right for one in lists]).astype(np.float64)
    logits, places = (
        np.concatenate(part) for part in zip(*((one.logits, above(one.scores)) for one in lists), strict=True)
    )
    scale, bias = _solved(truth, [1.0, 0.0], logits)
    slope, place, offset = _solved(truth, [1.0, 0.0, 0.0], scale * logits + bias, places)
    beside = {"scale": slope, "bias": offset, "place": place / slope if slope > 0 else 0.0}
    return Curve(scale=scale, bias=bias, beside=beside)


def _solved(truth: Numbers, prior: Sequence[float], *columns: Numbers) -> list[float]:
    features = np.stack([*columns, np.ones_like(truth)], axis=1)
    return [float(one) for one in fitted(features, truth, np.ones_like(truth), np.array(prior))]


def worth(lists: Sequence[Seen], curve: Curve) -> Worth:
    """What a judge is worth on some lists, with a curve that was found on others."""
    truth = np.concatenate([one.right for one in lists])
    alone = np.concatenate([curve.alone(one) for one in lists])
    mixed = np.concatenate([curve.mixed(one) for one in lists])
    tried = [(one, one.without()) for one in lists if one.right.any() and not one.right.all()]
    return Worth(
        requests=len(lists),
        ranking=_mean(lists, lambda one: one.scores),
        judge=_mean(lists, lambda one: one.logits),
        mixed=_mean(lists, curve.mixed),
        auc_alone=auc(list(alone[truth]), list(alone[~truth])),
        ece_alone=_ece(alone, truth),
        auc=auc(list(mixed[truth]), list(mixed[~truth])),
        ece=_ece(mixed, truth),
        offers_ranking=_offers([(one.scores.max(), rest.scores.max()) for one, rest in tried]),
        offers_judge=_offers([(one.logits.max(), rest.logits.max()) for one, rest in tried]),
        offers_mixed=_offers([(curve.mixed(one).max(), curve.mixed(rest).max()) for one, rest in tried]),
    )


def _mean(lists: Sequence[Seen], points: Callable[[Seen], Numbers]) -> float:
    asked = [one for one in lists if one.right.any() or one.missing]
    return 100 * float(np.mean([_ndcg(one, points(one)) for one in asked])) if asked else 0.0


def _ndcg(one: Seen, points: Numbers) -> float:
    order = np.argsort(-points, kind="stable")[:CUT]
    gains = 1 / np.log2(2 + np.arange(CUT))
    best = gains[: min(CUT, int(one.right.sum()) + one.missing)].sum()
    return float(gains[: len(order)][one.right[order]].sum() / best)


def _ece(logits: Numbers, truth: NDArray[np.bool_]) -> float:
    """Expected calibration error over bins of equal width."""
    chances = 1 / (1 + np.exp(-np.clip(logits, -50, 50)))
    bins = np.minimum((chances * BINS).astype(np.int64), BINS - 1)
    parts = [(chances[bins == one], truth[bins == one]) for one in range(BINS) if (bins == one).any()]
    return sum(len(said) * abs(float(said.mean()) - float(was.mean())) for said, was in parts) / len(chances)


def _offers(pairs: Sequence[tuple[float, float]]) -> float:
    """Pairs hold the best value of a list and of the same list without its right tools."""
    if not pairs:
        return 0.0
    threshold = sorted(whole for whole, _ in pairs)[int(REFUSED * len(pairs))]
    return float(sum(without >= threshold for _, without in pairs) / len(pairs))
