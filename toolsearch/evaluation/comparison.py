"""Is one run better than another, or is it luck? Paired tests over the same requests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from toolsearch.errors import InvalidInput

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

DRAWS = 10_000
CHUNK = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """Run B minus run A, in points (percent of the measure).

    `low` and `high` bound the 95 % bootstrap interval of the mean; `p` is two-sided, from a paired
    randomisation test. `wins` and `losses` count requests; `changed` lists them, largest change first.
    """

    mean: float
    low: float
    high: float
    p: float
    wins: int
    losses: int
    ties: int
    changed: tuple[tuple[str, float], ...]


def compare(a: Mapping[str, float], b: Mapping[str, float], *, seed: int = 0) -> Difference:
    """Compare two runs' values of one measure, by request id.

    Raises:
        InvalidInput: the runs do not hold the same requests.
    """
    import numpy as np

    if set(a) != set(b):
        missing = sorted(set(a) ^ set(b))
        raise InvalidInput(f"the runs differ in {len(missing)} requests, such as {missing[0][:80]!r}")
    ids = sorted(a)
    gaps = 100 * np.array([b[key] - a[key] for key in ids])
    low, high = interval(gaps, seed=seed)
    changed = sorted(((key, float(gap)) for key, gap in zip(ids, gaps, strict=True) if gap), key=lambda x: -abs(x[1]))
    wins, losses = int((gaps > 0).sum()), int((gaps < 0).sum())
    return Difference(
        mean=float(gaps.mean()) if len(gaps) else 0.0,
        low=low,
        high=high,
        p=_randomisation(gaps, seed),
        wins=wins,
        losses=losses,
        ties=len(ids) - wins - losses,
        changed=tuple(changed),
    )


def interval(values: NDArray[np.float64], *, seed: int = 0) -> tuple[float, float]:
    """The 95 % percentile bootstrap interval of the mean of (n,) values; (0, 0) without values."""
    import numpy as np

    if not len(values):
        return 0.0, 0.0
    generator = np.random.default_rng(seed)
    chunks = [values[generator.integers(0, len(values), (CHUNK, len(values)))].mean(1) for _ in range(DRAWS // CHUNK)]
    low, high = np.percentile(np.concatenate(chunks), [2.5, 97.5])
    return float(low), float(high)


def _randomisation(gaps: NDArray[np.float64], seed: int) -> float:
    """Share of random sign changes whose mean is at least as far from zero (Fisher's test, sampled)."""
    import numpy as np

    if not np.any(gaps):
        return 1.0
    generator = np.random.default_rng(seed)
    observed, extreme = abs(gaps.mean()), 0
    for _ in range(DRAWS // CHUNK):
        signs = generator.integers(0, 2, (CHUNK, len(gaps)), dtype=np.int8) * 2 - 1
        extreme += int((np.abs((signs * gaps).mean(1)) >= observed - 1e-12).sum())
    return (extreme + 1) / (DRAWS + 1)


def holm(values: Sequence[float]) -> list[float]:
    """P-values corrected for being many (Holm 1979), in the order given."""
    order = sorted(range(len(values)), key=values.__getitem__)
    corrected = [0.0] * len(values)
    running = 0.0
    for position, index in enumerate(order):
        running = max(running, min(1.0, values[index] * (len(values) - position)))
        corrected[index] = running
    return corrected
