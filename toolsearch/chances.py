"""Chances and their logits."""

from __future__ import annotations

import math


def logit_of(chance: float) -> float:
    """The logit of a chance, which is kept off 0 and 1."""
    inside = min(1 - 1e-6, max(1e-6, chance))
    return math.log(inside / (1 - inside))


def chance_of(logit: float) -> float:
    """The chance of a logit, 0 to 1."""
    return 1 / (1 + math.exp(-max(-60.0, min(60.0, logit))))
