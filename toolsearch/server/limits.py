"""How often, and how many at once: one rate for each key over all workers, and places in each worker."""

from __future__ import annotations

import math
import time
from collections import Counter
from typing import TYPE_CHECKING, Final

from toolsearch.server.doors import WORKING
from toolsearch.server.problems import Problem, problem

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.types import ASGIApp, Receive, Scope, Send

    from toolsearch.server.callers import Caller
    from toolsearch.server.service import Service
    from toolsearch.server.settings import Settings
    from toolsearch.server.state import StateFile

TAKE: Final = """
INSERT INTO rates VALUES (?1, ?2 + ?3)
ON CONFLICT (key) DO UPDATE SET free = max(free, ?2) + ?3 WHERE max(free, ?2) - ?2 <= ?4
RETURNING free"""


class Rates:
    """A bucket for each key: `rate` requests a second, `burst` at once. One number a key says when it is full again."""

    def __init__(self, state: StateFile, rate: float, burst: int) -> None:
        self._state, self._pause = state, 1 / rate
        self._slack = (burst - 1) / rate

    def take(self, key: str) -> float:
        """Take one request of a key; gives the seconds to wait when there is none left, else 0."""
        now = time.time()
        if self._state.read(TAKE, (key, now, self._pause, self._slack)):
            return 0.0
        [(free,)] = self._state.read("SELECT free FROM rates WHERE key = ?", (key,))
        return max(free - self._slack - now, 0.001)


class Limited:
    """Refuses what comes too often or while too much of the same key is under way."""

    def __init__(self, app: ASGIApp, settings: Settings, service: Callable[[], Service]) -> None:
        self._app, self._service = app, service
        self._places = math.ceil(settings.concurrent / settings.workers)
        self._rated = settings.rate > 0
        self._under_way: Counter[str] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http" or not str(scope["path"]).startswith(WORKING):
            await self._app(scope, receive, send)
            return
        caller: Caller = scope["caller"]
        wait = 1.0 if self._under_way[caller.name] >= self._places else 0.0
        self._under_way[caller.name] += 1
        try:
            if self._rated and not wait:
                wait = await self._taken(caller.name)
            if wait:
                await problem(scope, _too_many(wait))(scope, receive, send)
            else:
                await self._app(scope, receive, send)
        finally:
            self._leave(caller.name)

    async def _taken(self, name: str) -> float:
        service = self._service()
        return await service.run(lambda: service.rates.take(name))

    def _leave(self, name: str) -> None:
        self._under_way[name] -= 1
        if not self._under_way[name]:
            del self._under_way[name]


def _too_many(wait: float) -> Problem:
    return Problem(429, "too many requests of this key; come back later", {"Retry-After": str(math.ceil(wait))})
