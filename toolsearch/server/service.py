"""What all routes work with: settings, indexes, the service's file, and threads for what would block."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeVar, cast

import anyio
from fastapi import Depends, Request
from pydantic import BaseModel
from starlette.responses import Response

from toolsearch.encoders.machine import usable_cores
from toolsearch.server.callers import OWNER, Caller, Role
from toolsearch.server.indexes import Indexes
from toolsearch.server.jobs import Jobs, rebuild
from toolsearch.server.keys import Keys
from toolsearch.server.ledger import Ledger
from toolsearch.server.limits import Rates
from toolsearch.server.metrics import Metrics
from toolsearch.server.problems import Problem
from toolsearch.server.replies import Replies
from toolsearch.server.sessions import Sessions
from toolsearch.server.sources import Sources
from toolsearch.server.state import StateFile
from toolsearch.server.usage import Usage
from toolsearch.server.writing import as_json
from toolsearch.strategies.judges import open_judge

if TYPE_CHECKING:
    from anyio.abc import TaskGroup

    from toolsearch.index.tool_index import ToolIndex
    from toolsearch.server.indexes import Served
    from toolsearch.server.jobs import Job
    from toolsearch.server.settings import Settings

T = TypeVar("T")
FEW: Final = (2, 4)
MANY: Final = 8
REMOTE: Final = "openai:"
"""Threads of a worker: those that search, by default; those that change; and the encoders that are waited for."""
LOOK: Final = 1.0
"""Seconds between looks for what others changed."""
SWEEP: Final = 600
"""Looks between deletions of old usage."""


class Service:
    """The parts of one worker.

    `first` is the first index, where the gateway has it open already, and `origins` are those of the gateway's tools.
    """

    def __init__(
        self, settings: Settings, first: ToolIndex | None = None, origins: Callable[[], Sequence[str]] = tuple
    ) -> None:
        self.settings = settings
        self.state = StateFile(settings.state_file)
        self.indexes = Indexes(settings.indexes, self.state.secret, first)
        self.keys = Keys(self.state)
        self.keys.refresh()
        self.sessions = Sessions(self.state, settings.session_seconds)
        self.replies, self.ledger = Replies(self.state), Ledger(self.state)
        self.sources, self.jobs = Sources(self.state), Jobs(self.state)
        self.usage = Usage(self.state, settings.usage, settings.usage_days)
        self.rates = Rates(self.state, settings.rate or 1.0, settings.burst)
        self.metrics = Metrics()
        self.judge = open_judge(settings.judge) if settings.judge else None
        self._reloads = {served.name: self.state.reloads(served.name) for served in self.indexes}
        self._origins = origins
        self._background: TaskGroup | None = None
        self._searches = ThreadPoolExecutor(settings.threads or _threads(self.indexes), "search")
        self._changes = ThreadPoolExecutor(settings.threads or MANY, "change")

    def warm(self) -> None:
        """Search once in every index, so that the first request finds everything loaded."""
        for served in self.indexes:
            served.index.retriever(served.strategy).search(["warm up"], served.see(OWNER).view, 1)

    async def run(self, work: Callable[[], T]) -> T:
        """Do something that computes or reads, in a thread."""
        return await asyncio.get_running_loop().run_in_executor(self._searches, work)

    async def change(self, work: Callable[[], T]) -> T:
        """Do something that writes or takes long, in a thread of those that searches do not wait for."""
        return await asyncio.get_running_loop().run_in_executor(self._changes, work)

    async def answer(self, work: Callable[[], BaseModel | Mapping[str, Any]]) -> Response:
        """What a piece of work gives, written as JSON in the same thread."""
        body = await self.run(lambda: as_json(work()))
        return Response(body, media_type="application/json")

    def reload(self, served: Served) -> None:
        """Open an index anew, here now and in the other workers within a second."""
        served.reload()
        self._reloads[served.name] = self.state.ask_reload(served.name)

    def start_rebuild(self, served: Served, job: Job) -> None:
        """Rebuild an index in the background; the gateway's tools lie in the first and stay."""
        origins = self._origins() if served is self.indexes.named(None) else ()
        self._soon(rebuild, self.jobs, job, (self.settings.state_file, served.path), origins)

    def record(self, caller: Caller, tool: str) -> None:
        """Note in the background that a caller called a tool."""
        if self.settings.usage != "off":
            self._soon(self.change, lambda: self.usage.called(caller.name, tool))

    def _soon(self, work: Callable[..., Coroutine[Any, Any, object]], *values: object) -> None:
        if self._background is not None:
            self._background.start_soon(work, *values)

    @asynccontextmanager
    async def watching(self) -> AsyncGenerator[None]:
        """Follow what other workers and commands change in the service's file."""
        async with anyio.create_task_group() as group:
            self._background = group
            group.start_soon(self._look)
            yield
            self._background = None
            group.cancel_scope.cancel()

    async def _look(self) -> None:
        looks = 0
        while True:
            await self.change(self._follow if looks % SWEEP else self.usage.sweep)
            looks += 1
            await anyio.sleep(LOOK)

    def _follow(self) -> None:
        self.keys.refresh()
        for served in self.indexes:
            asked = self.state.reloads(served.name)
            if asked != self._reloads[served.name]:
                self._reloads[served.name] = asked
                served.reload()

    def close(self) -> None:
        """Let all files go, once no thread uses them."""
        for threads in (self._searches, self._changes):
            threads.shutdown(cancel_futures=True)
        self.indexes.close()
        self.state.close()


def _threads(indexes: Indexes) -> int:
    """How many searches go on at once: one a processor, or more where they wait for others."""
    remote = any(served.index.status.encoder.startswith(REMOTE) for served in indexes)
    return MANY if remote else min(max(usable_cores(), FEW[0]), FEW[1])


async def service_of(request: Request) -> Service:
    """The service that a request came to."""
    return cast("Service", request.app.state.service)


async def caller_of(request: Request) -> Caller:
    """Who sent a request; the doors have found out."""
    return cast("Caller", request.scope.get("caller", OWNER))


def needing(role: Role) -> Callable[[Caller], Caller]:
    """A dependency that lets only callers of a role pass."""

    def checked(caller: Caller) -> Caller:
        if not caller.role.covers(role):
            raise Problem(403, f"this needs a key of the role {role.value!r}; yours has {caller.role.value!r}")
        return caller

    return checked


async def _writer(caller: Annotated[Caller, Depends(caller_of)]) -> Caller:
    return needing(Role.WRITE)(caller)


async def _admin(caller: Annotated[Caller, Depends(caller_of)]) -> Caller:
    return needing(Role.ADMIN)(caller)


Here = Annotated[Service, Depends(service_of)]
Anyone = Annotated[Caller, Depends(caller_of)]
Writer = Annotated[Caller, Depends(_writer)]
Admin = Annotated[Caller, Depends(_admin)]
