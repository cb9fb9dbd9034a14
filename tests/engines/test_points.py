"""What terms add to their rows is kept, within a bound."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from toolsearch.engines.points import LEAST, kept_points

if TYPE_CHECKING:
    from toolsearch.engines.views import Recent
    from toolsearch.protocols import Floats


def _made(points: Recent[Floats], key: str, size: int, log: list[str]) -> None:
    def make() -> np.ndarray:
        log.append(key)
        return np.full(size, len(key), np.float32)

    assert points.get(key, make).tolist() == [len(key)] * size


def test_what_was_used_last_stays() -> None:
    """Numbers are made once; above the bound the least recently used ones leave."""
    points, log = kept_points(3 * LEAST), []
    for key in ("a", "b", "a", "c", "d", "a", "b"):
        _made(points, key, LEAST, log)
    assert log == ["a", "b", "c", "d", "b"]


def test_rare_terms_count_too() -> None:
    """However few rows a term has, only so many terms are kept."""
    points, log = kept_points(3 * LEAST), []
    for key in ("a", "b", "c", "d", "a"):
        _made(points, key, 1, log)
    assert log == ["a", "b", "c", "d", "a"]


def test_what_is_too_large_is_given_all_the_same() -> None:
    """More numbers than the bound are made and not kept."""
    points, log = kept_points(LEAST), []
    for key in ("a", "a"):
        _made(points, key, LEAST + 1, log)
    assert log == ["a", "a"]
