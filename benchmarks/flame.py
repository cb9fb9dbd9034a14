"""Where the CPU of a search goes: stacks sampled by CPU time, folded as flame graph viewers read them."""

from __future__ import annotations

import signal
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Final

EVERY: Final = 0.001
"""Seconds of CPU between two samples."""
DEEPEST: Final = 40


def sampled(work: Callable[[], object]) -> Counter[tuple[str, ...]]:
    """How often each stack, outermost function first, was found at work."""
    found: Counter[tuple[str, ...]] = Counter()

    def sample(_: int, frame: FrameType | None) -> None:
        stack: list[str] = []
        while frame is not None and len(stack) < DEEPEST:
            stack.append(f"{Path(frame.f_code.co_filename).stem}.{frame.f_code.co_name}")
            frame = frame.f_back
        found[tuple(reversed(stack))] += 1

    before = signal.signal(signal.SIGPROF, sample)
    signal.setitimer(signal.ITIMER_PROF, EVERY, EVERY)
    try:
        work()
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
    return found


def folded(found: Counter[tuple[str, ...]]) -> str:
    """One line a stack: names with semicolons between them, and how often."""
    return "".join(f"{';'.join(stack)} {count}\n" for stack, count in sorted(found.items()))
