"""Time limits."""

from __future__ import annotations

import pytest

from tests.encoders.plain_encoder import PlainEncoder
from toolsearch.encoders.deadline import Watch
from toolsearch.errors import EncoderFailed, InvalidInput


def test_slow_work_fails_at_the_limit_and_works_again_later() -> None:
    """The caller gets an error instead of waiting; the next call is served."""
    plain, watch = PlainEncoder(), Watch(0.05)
    plain.gate.clear()
    with pytest.raises(EncoderFailed, match=r"within 0\.05 s"):
        watch.run(lambda: plain.encode(["pay"], "query"), "it")
    plain.gate.set()
    assert Watch(5).run(lambda: plain.encode(["pay"], "query"), "it").shape == (1, 2)


def test_errors_of_the_work_reach_the_caller() -> None:
    """What the work raises is raised, not hidden by the thread between."""
    plain = PlainEncoder()
    plain.fails = True
    with pytest.raises(EncoderFailed, match="told to fail"):
        Watch(5).run(lambda: plain.encode(["pay"], "query"), "it")


def test_work_that_hangs_takes_a_bounded_number_of_threads() -> None:
    """When every place is taken by work given up, new work fails at its limit without starting."""
    plain = PlainEncoder()
    plain.gate.clear()
    watch = Watch(0.05, at_once=1)
    with pytest.raises(EncoderFailed):
        watch.run(lambda: plain.encode(["first"], "query"), "it")
    with pytest.raises(EncoderFailed, match="too much is waiting"):
        watch.run(lambda: plain.encode(["second"], "query"), "it")
    plain.gate.set()
    assert ("second", "query") not in plain.asked


@pytest.mark.parametrize("seconds", [0, -1, float("nan")])
def test_a_limit_that_is_no_time_is_refused(seconds: float) -> None:
    """Limits are positive."""
    with pytest.raises(InvalidInput, match="more than 0"):
        Watch(seconds)
