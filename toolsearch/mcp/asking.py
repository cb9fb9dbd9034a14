"""What servers ask in the middle of a call (input of the user, a completion of the client's model), passed on.

A server of the older era asks on its session, which says nothing of the call: it is passed on when there is only one
client that can be meant. A server of the newer era asks in its answer to the call. A client of the older era is asked
on its session; one of the newer era gets the question as the interim answer to its call, and calls again with what it
says, while the server's call waits here.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Awaitable, Callable, Generator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Final

from mcp import MCPError
from mcp.shared.dispatcher import ProgressFnT
from mcp.shared.message import ServerMessageMetadata
from mcp_types import (
    INVALID_REQUEST,
    CallToolResult,
    CreateMessageRequest,
    CreateMessageResult,
    CreateMessageResultWithTools,
    ElicitRequest,
    ElicitResult,
    ErrorData,
    InputRequiredResult,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from toolsearch.mcp.calling import Ask, Back
from toolsearch.mcp.results import failed
from toolsearch.mcp.shares import Shares

SECONDS: Final = 300.0
"""Time that a client of the newer era has to answer a question."""
WAITING: Final = 50
MOST_WAITING: Final = 1_000
"""Calls that wait for answers, of one caller and of all; the oldest of who has too many are given up."""
KEY: Final = "question"
_current: ContextVar[Ask | None] = ContextVar("ask", default=None)


@dataclass(frozen=True, slots=True)
class Desk:
    """The calls that are under way in the sessions with one server, and the answers to what it asks.

    `name` of the server is put before its words, for the user must know who asks.
    """

    name: str
    calls: list[Ask] = field(default_factory=list[Ask])

    @contextmanager
    def of(self, ask: Ask | None) -> Generator[None]:
        """What the server asks inside is asked of this call's client."""
        told = _current.set(ask)
        if ask is not None:
            self.calls.append(ask)
        try:
            yield
        finally:
            _current.reset(told)
            if ask is not None:
                self.calls.remove(ask)

    @property
    def answers(self) -> dict[str, Any]:
        """The callbacks, as the SDK's client takes them."""
        return {"elicitation_callback": self.elicit, "sampling_callback": self.sample}

    async def elicit(self, context: Any, params: Any) -> Any:
        """The user's answer."""
        del context
        told = params.model_copy(update={"message": f"[{self.name[:80]}] {params.message}"})
        return await self._asked(ElicitRequest(params=told))

    async def sample(self, context: Any, params: Any) -> Any:
        """What the client's model says."""
        del context
        return await self._asked(CreateMessageRequest(params=params))

    async def _asked(self, question: Any) -> Any:
        ask = _current.get() or (self.calls[0] if len(self.calls) == 1 else None)
        if ask is None:
            return _refused("it cannot be told which of several clients is meant")
        return await ask(question)


@dataclass(slots=True)
class _Running:
    """A call under way, and the questions that came up in it."""

    caller: str
    progress: ProgressFnT
    task: asyncio.Task[CallToolResult] | None = None
    questions: asyncio.Queue[tuple[Any, asyncio.Future[Any]]] = field(
        default_factory=asyncio.Queue[tuple[Any, "asyncio.Future[Any]"]]
    )
    open: tuple[Any, asyncio.Future[Any]] | None = None

    async def ask(self, question: Any) -> Any:
        """The answer of the client, or ErrorData."""
        answer = asyncio.get_running_loop().create_future()
        await self.questions.put((question, answer))
        return await answer

    async def report(self, progress: float, total: float | None = None, message: str | None = None) -> None:
        """Tell progress to whoever waits now."""
        await self.progress(progress, total, message)


class Conversations:
    """Runs calls, and asks their clients what comes up in between.

    Open questions are kept in memory: where several processes share the calls, `alone` is False and nobody is asked.
    """

    def __init__(self, *, alone: bool = True) -> None:
        self._alone = alone
        self._waiting: Shares[str, _Running] = Shares(WAITING, MOST_WAITING)

    async def run(
        self, context: Any, caller: str, work: Callable[[Back], Awaitable[CallToolResult]]
    ) -> CallToolResult | InputRequiredResult:
        """The answer of a call, or the first question in it for a client that will call again."""
        running = _Running(caller, context.session.report_progress)
        running.task = asyncio.ensure_future(_as_coroutine(work(Back(progress=running.report, ask=running.ask))))
        return await self._next(context, running)

    async def resume(
        self, context: Any, caller: str, state: str, responses: Mapping[str, Any] | None
    ) -> CallToolResult | InputRequiredResult:
        """What follows after the client has answered."""
        running = self._waiting.get(state)
        if running is None or running.caller != caller or running.open is None:
            return failed("this question is not open any more; call the tool again")
        self._waiting.pop(state)
        (_, answer), running.open = running.open, None
        running.progress = context.session.report_progress
        given = responses.get(KEY) if responses else None
        if not answer.done():
            answer.set_result(_refused("the client did not answer") if given is None else given)
        return await self._next(context, running)

    async def _next(self, context: Any, running: _Running) -> CallToolResult | InputRequiredResult:
        kept = False
        try:
            while (asked := await _question(running)) is not None:
                question, answer = asked
                if not self._alone:
                    answer.set_result(_refused("several processes serve this gateway, so nobody can be asked"))
                elif not _takes(context.session, question):
                    answer.set_result(_refused("the client takes no such questions"))
                elif context.session.can_send_request:
                    answer.set_result(await _sent(context, question))
                elif context.protocol_version not in MODERN_PROTOCOL_VERSIONS:
                    answer.set_result(_refused("the client cannot be asked in the middle of a call"))
                else:
                    kept, running.open = True, asked
                    return InputRequiredResult(input_requests={KEY: question}, request_state=self._keep(running))
            return await _finished(running)
        finally:
            if not kept:
                _end(running)

    def _keep(self, running: _Running) -> str:
        state = secrets.token_urlsafe(32)
        asyncio.get_running_loop().call_later(SECONDS, lambda: _give_up(self._waiting.pop(state)))
        _give_up(self._waiting.put(running.caller, state, running))
        return state


async def _as_coroutine(work: Awaitable[CallToolResult]) -> CallToolResult:
    return await work


async def _question(running: _Running) -> tuple[Any, asyncio.Future[Any]] | None:
    """The next question of a call, None when it has ended."""
    coming = asyncio.ensure_future(running.questions.get())
    signs = {coming, *([running.task] if running.task else [])}
    try:
        await asyncio.wait(signs, return_when=asyncio.FIRST_COMPLETED)
        return coming.result() if coming.done() else None
    finally:
        coming.cancel()


def _give_up(running: _Running | None) -> None:
    if running is not None:
        _end(running)


async def _finished(running: _Running) -> CallToolResult:
    return await running.task if running.task else failed("the call has ended")


def _end(running: _Running) -> None:
    if running.task is not None:
        running.task.cancel()
    if running.open is not None and not running.open[1].done():
        running.open[1].cancel()


def _takes(session: Any, question: Any) -> bool:
    """Whether the client said that it can be asked this."""
    known = session.client_capabilities
    part = "elicitation" if isinstance(question, ElicitRequest) else "sampling"
    return known is not None and getattr(known, part) is not None


async def _sent(context: Any, question: Any) -> Any:
    """The answer of a client of the older era."""
    if isinstance(question, ElicitRequest):
        shape: Any = ElicitResult
    else:
        shape = CreateMessageResultWithTools if question.params.tools else CreateMessageResult
    metadata = ServerMessageMetadata(related_request_id=context.request_id)
    try:
        return await context.session.send_request(question, shape, metadata=metadata)
    except MCPError as error:
        return _refused(str(error)[:300])


def _refused(reason: str) -> ErrorData:
    return ErrorData(code=INVALID_REQUEST, message=reason)
