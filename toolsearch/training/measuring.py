"""What a judge is worth beside the ranking that it looks at again."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from toolsearch.evaluation.abstention import auc
from toolsearch.evaluation.logistic import chance, fitted
from toolsearch.training.mining import Shortlist

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]

CUT: Final = 10
REFUSED: Final = 0.1
"""Share of the lists that hold a right tool which a threshold may refuse."""
BINS: Final = 10

Judges = Callable[[str, Sequence[str]], Sequence[float]]
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Worth:
    """`ranking`, `judge` and `mixed` are mean NDCG@10 in percent; `auc` and `ece` speak of single hits, from 0 to 1.

    `offers_ranking` and `offers_judge`: share of lists without their right tools whose first tool passes a threshold
    that refuses REFUSED of the lists with them.
    """

    requests: int
    ranking: float
    judge: float
    mixed: float
    auc: float
    ece: float
    offers_ranking: float
    offers_judge: float


def seen(
    shortlist: Shortlist, request: str, relevant: Sequence[str], lines: Mapping[str, str], judge: Judges
) -> Seen | None:
    """A request as ranking and judge see it; None when nothing was found."""
    if not shortlist.hits:
        return None
    right = np.array([hit in relevant for hit in shortlist.hits])
    logits = np.array(judge(request, [lines[hit] for hit in shortlist.hits]), np.float64)
    missing = len(relevant) - int(right.sum())
    return Seen(scores=np.array(shortlist.scores, np.float64), logits=logits, right=right, missing=missing)


def calibration(lists: Sequence[Seen]) -> tuple[float, float]:
    """Scale and bias that make chances of the logits; to be fitted on other sources than it is tested on."""
    logits = np.concatenate([one.logits for one in lists])
    truth = np.concatenate([one.right for one in lists]).astype(np.float64)
    features = np.stack([logits, np.ones_like(logits)], axis=1)
    found = fitted(features, truth, np.ones_like(truth), np.array([1.0, 0.0]))
    return float(found[0]), float(found[1])


def share(lists: Sequence[Seen]) -> float:
    """How much of the judge serves the order best beside the ranking, from 0 (none) to 1 (alone)."""
    return max((0.1 * tenth for tenth in range(11)), key=lambda part: _mean(lists, part))


def worth(lists: Sequence[Seen], curve: tuple[float, float], part: float) -> Worth:
    """What a judge is worth on some lists, with a calibration and a share that were found on others."""
    logits = np.concatenate([one.logits for one in lists])
    truth = np.concatenate([one.right for one in lists])
    chances = chance(np.stack([logits, np.ones_like(logits)], axis=1), np.array(curve))
    tried = [one for one in lists if one.right.any() and not one.right.all()]
    return Worth(
        requests=len(lists),
        ranking=_mean(lists, 0.0),
        judge=_mean(lists, 1.0),
        mixed=_mean(lists, part),
        auc=auc(list(logits[truth]), list(logits[~truth])),
        ece=_ece(chances, truth),
        offers_ranking=_offers([(one.scores.max(), one.scores[~one.right].max()) for one in tried]),
        offers_judge=_offers([(one.logits.max(), one.logits[~one.right].max()) for one in tried]),
    )


def _mean(lists: Sequence[Seen], part: float) -> float:
    asked = [one for one in lists if one.right.any() or one.missing]
    return 100 * float(np.mean([_ndcg(one, part) for one in asked])) if asked else 0.0


def _ndcg(one: Seen, part: float) -> float:
    points = (1 - part) * _scaled(one.scores) + part * _scaled(one.logits)
    order = np.argsort(-points, kind="stable")[:CUT]
    gains = 1 / np.log2(2 + np.arange(CUT))
    best = gains[: min(CUT, int(one.right.sum()) + one.missing)].sum()
    return float(gains[: len(order)][one.right[order]].sum() / best)


def _scaled(values: Numbers) -> Numbers:
    spread = values.std()
    return (values - values.mean()) / spread if spread > 0 else np.zeros_like(values)


def _ece(chances: Numbers, truth: NDArray[np.bool_]) -> float:
    """Expected calibration error over bins of equal width."""
    bins = np.minimum((chances * BINS).astype(np.int64), BINS - 1)
    parts = [(chances[bins == one], truth[bins == one]) for one in range(BINS) if (bins == one).any()]
    return sum(len(said) * abs(float(said.mean()) - float(was.mean())) for said, was in parts) / len(chances)


def _offers(pairs: Sequence[tuple[float, float]]) -> float:
    """Pairs hold the best value of a list and of the same list without its right tools."""
    if not pairs:
        return 0.0
    threshold = sorted(whole for whole, _ in pairs)[int(REFUSED * len(pairs))]
    return sum(without >= threshold for _, without in pairs) / len(pairs)
