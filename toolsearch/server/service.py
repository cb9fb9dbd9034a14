"""What all routes work with: settings, indexes, the service's file, and threads for what would block."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Annotated, Final, TypeVar, cast

import anyio
import anyio.to_thread
from fastapi import Depends, Request
from pydantic import BaseModel
from starlette.responses import Response

from toolsearch.server.callers import OWNER, Caller, Role
from toolsearch.server.indexes import Indexes
from toolsearch.server.keys import Keys
from toolsearch.server.problems import Problem
from toolsearch.server.state import StateFile

if TYPE_CHECKING:
    from toolsearch.server.settings import Settings

T = TypeVar("T")
LOOK: Final = 1.0
"""Seconds between looks for keys that others made or revoked."""


class Service:
    """The parts of one worker."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.state = StateFile(settings.state_file)
        self.indexes = Indexes(settings.indexes, self.state.secret)
        self.keys = Keys(self.state)
        self.keys.refresh()
        self._searches = anyio.CapacityLimiter(settings.threads)
        self._changes = anyio.CapacityLimiter(settings.threads)

    async def run(self, work: Callable[[], T]) -> T:
        """Do something that computes or reads, in a thread."""
        return await anyio.to_thread.run_sync(work, limiter=self._searches)

    async def change(self, work: Callable[[], T]) -> T:
        """Do something that writes or takes long, in a thread of those that searches do not wait for."""
        return await anyio.to_thread.run_sync(work, limiter=self._changes)

    async def answer(self, work: Callable[[], BaseModel]) -> Response:
        """What a piece of work gives, written as JSON in the same thread."""
        body = await self.run(lambda: work().model_dump_json(exclude_unset=True))
        return Response(body, media_type="application/json")

    @asynccontextmanager
    async def watching(self) -> AsyncGenerator[None]:
        """Take in new and revoked keys while the service runs."""

        async def look() -> None:
            while True:
                await anyio.sleep(LOOK)
                await self.change(self.keys.refresh)

        async with anyio.create_task_group() as group:
            group.start_soon(look)
            yield
            group.cancel_scope.cancel()

    def close(self) -> None:
        """Let all files go."""
        self.indexes.close()
        self.state.close()


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
