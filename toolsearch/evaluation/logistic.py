"""Logistic regression with a prior: what few judged requests cannot tell stays as it was."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]

STEPS = 60


def fitted(features: Numbers, truth: Numbers, weights: Numbers, prior: Numbers, pull: float = 0.05) -> Numbers:
    """Coefficients of sigmoid(features @ coefficients), pulled to `prior`, by Newton's method.

    features: (n, m); truth: (n,) of 0 and 1; weights: (n,); prior: (m,). The result is (m,), float64.
    """
    found = prior.astype(np.float64).copy()
    for _ in range(STEPS):
        chances = chance(features, found)
        slope = features.T @ (weights * (truth - chances)) - pull * (found - prior)
        bend = (features * (weights * chances * (1 - chances))[:, None]).T @ features + pull * np.eye(len(prior))
        step = np.linalg.solve(bend, slope)
        found += np.clip(step, -5, 5)
        if np.abs(step).max(initial=0.0) < 1e-9:
            break
    return found


def chance(features: Numbers, coefficients: Numbers) -> Numbers:
    """sigmoid(features @ coefficients), (n,) float64."""
    return 1 / (1 + np.exp(-np.clip(features @ coefficients, -50, 50)))


def balanced(truth: Numbers) -> Numbers:
    """Weights that let both kinds count as much together as the rarer one alone, (n,) float64."""
    yes = float(truth.sum())
    no = len(truth) - yes
    rarer = min(yes, no)
    found = np.full(len(truth), rarer / max(no, 1.0))
    found[truth > 0] = rarer / max(yes, 1.0)
    return found
