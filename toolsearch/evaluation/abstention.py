"""Does search know when nothing fits? False offers on unanswerable requests at given false refusals."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from toolsearch.evaluation.runs import Answer

REFUSALS = (0.05, 0.10)


@dataclass(frozen=True, slots=True, kw_only=True)
class Abstention:
    """At `threshold`, `refused` of the answerable and `offered` of the unanswerable requests pass wrongly.

    Shares from 0 to 1. `auc` is the chance that an answerable request has the higher confidence.
    """

    threshold: float
    refused: float
    offered: float
    auc: float


def confidence(answer: Answer) -> float:
    """The confidence of an answer; an empty one has none, and one without an estimate has full."""
    if not answer.hits:
        return 0.0
    return 1.0 if answer.confidence is None else answer.confidence


def abstention(
    answerable: Sequence[Answer], unanswerable: Sequence[Answer], refusals: Iterable[float] = REFUSALS
) -> list[Abstention]:
    """One row for each allowed share of refused answerable requests.

    The threshold is the largest confidence at which no more than that share falls below it.
    """
    right = sorted(confidence(answer) for answer in answerable)
    wrong = [confidence(answer) for answer in unanswerable]
    if not right or not wrong:
        return []
    area = auc(right, wrong)
    return [_at(right[min(len(right) - 1, int(share * len(right)))], right, wrong, area) for share in refusals]


def _at(threshold: float, right: list[float], wrong: list[float], area: float) -> Abstention:
    refused = sum(value < threshold for value in right) / len(right)
    offered = sum(value >= threshold and value > 0 for value in wrong) / len(wrong)
    return Abstention(threshold=threshold, refused=refused, offered=offered, auc=area)


def auc(right: Sequence[float], wrong: Sequence[float]) -> float:
    """Area under the ROC curve by ranks; ties count half."""
    ordered = sorted([*((value, 1) for value in right), *((value, 0) for value in wrong)])
    total, position = 0.0, 0
    while position < len(ordered):
        end = position
        while end < len(ordered) and ordered[end][0] == ordered[position][0]:
            end += 1
        total += (position + 1 + end) / 2 * sum(label for _, label in ordered[position:end])
        position = end
    pairs = len(right) * len(wrong)
    return (total - len(right) * (len(right) + 1) / 2) / pairs if pairs else 0.5
