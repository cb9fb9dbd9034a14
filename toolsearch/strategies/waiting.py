"""Lets plain code wait for asynchronous models: one event loop in a thread of its own, shared by all of the process.

One loop, for clients keep their connections in the loop in which they were opened.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from functools import cache
from typing import Any, TypeVar

T = TypeVar("T")


def waited(work: Coroutine[Any, Any, T]) -> T:
    """The result of a coroutine; raises what it raises. Never call it from the coroutine itself."""
    return asyncio.run_coroutine_threadsafe(work, _loop()).result()


@cache
def _loop() -> asyncio.AbstractEventLoop:
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="toolsearch-waiting", daemon=True).start()
    return loop
