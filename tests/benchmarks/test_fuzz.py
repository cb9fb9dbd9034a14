"""Broken messages for the gateway."""

from __future__ import annotations

import pytest

from benchmarks.fuzz import fuzzed


@pytest.mark.slow
def test_broken_messages_break_nothing() -> None:
    """Over HTTP and standard input, in both eras: no server error, no hidden tool, and good requests are answered."""
    told, wrong = fuzzed(30, seed=7)
    assert wrong == [], told
