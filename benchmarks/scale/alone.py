"""Work in a process of its own, so that memory is that of the work."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from typing import TypeVar

Given = TypeVar("Given")
Made = TypeVar("Made")


def alone(work: Callable[[Given], Made], given: Given) -> Made:
    """What the work makes of what is given.

    Raises:
        BrokenProcessPool: the process was ended.
    """
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        return pool.submit(work, given).result()
