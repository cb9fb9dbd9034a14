"""How far figures of few requests may be off: intervals that hold the true value in 95 of 100 cases."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

Z: Final = 1.96
DRAWS: Final = 500
SEED: Final = 20_261


def share_interval(share: float, count: int) -> tuple[float, float]:
    """For a share of `count` cases, both from 0 to 1 (Wilson's score interval); all when there is no case."""
    if not count:
        return 0.0, 1.0
    spread = Z * math.sqrt(share * (1 - share) / count + Z**2 / (4 * count**2))
    middle, scale = share + Z**2 / (2 * count), 1 + Z**2 / count
    return max(0.0, (middle - spread) / scale), min(1.0, (middle + spread) / scale)


def auc_interval(area: float, right: int, wrong: int) -> tuple[float, float]:
    """For an area under the ROC curve of so many cases of each kind (Hanley and McNeil, 1982)."""
    if not right or not wrong:
        return 0.0, 1.0
    same = (right - 1) * (area / (2 - area) - area**2) + (wrong - 1) * (2 * area**2 / (1 + area) - area**2)
    spread = Z * math.sqrt(max(0.0, area * (1 - area) + same) / (right * wrong))
    return max(0.0, area - spread), min(1.0, area + spread)


def drawn_interval(values: Sequence[float], figure: Callable[[Sequence[float]], float]) -> tuple[float, float]:
    """For a figure of some values, by drawing them again with replacement; always the same draws."""
    if not values:
        return 0.0, 1.0
    chance = np.random.default_rng(SEED)
    array = np.asarray(values, np.float64)
    found = [figure(chance.choice(array, len(array)).tolist()) for _ in range(DRAWS)]
    return float(np.quantile(found, 0.025)), float(np.quantile(found, 0.975))
