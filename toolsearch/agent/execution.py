"""Answering one call: arguments checked, tool run in its time, its value made into a result."""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from toolsearch.agent.arguments import check, parsed, with_schema
from toolsearch.agent.context import InvocationContext
from toolsearch.agent.handlers import Handlers
from toolsearch.agent.limits import Limits
from toolsearch.agent.planning import ERROR, Planned
from toolsearch.agent.records import ToolExecution
from toolsearch.agent.results import ToolReturn, content_of, cut, fitting, returns_nothing
from toolsearch.agent.searching import Searching
from toolsearch.agent.threads import Workers
from toolsearch.agent.toolbox import Toolbox
from toolsearch.catalog.arguments import FunctionExecutor
from toolsearch.chat import Features
from toolsearch.conversation import ToolResult
from toolsearch.errors import ToolArgumentsError, ToolErrorForModel, ToolTimeout, UnsupportedContent
from toolsearch.tool import Executor, Json, ToolSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class Executing:
    """What the calls of one round are answered with."""

    context: InvocationContext
    toolbox: Toolbox
    limits: Limits
    handlers: Handlers
    workers: Workers
    features: Features
    searching: Searching | None = None
    mark_unsupported: bool = False

    async def answer(self, planned: Planned) -> ToolExecution:
        """The record of one call. Whatever a tool raises becomes an error result, unless a handler raises."""
        started = time.monotonic()
        if planned.answer is not None:
            return ToolExecution(call=planned.call, result=planned.answer, spec=planned.spec, started=started)
        context = replace(self.context, call=planned.call)
        try:
            done = await self._done(planned, context)
        except Exception as error:  # noqa: BLE001 - a tool may raise anything; the handlers decide what becomes of it
            return replace(self._failed(planned, error, context), started=started)
        return replace(done, started=started, ended=time.monotonic())

    def _failed(self, planned: Planned, error: Exception, context: InvocationContext) -> ToolExecution:
        text = self.handlers.text(error, planned.call, context)
        kind = "execution_failed"
        if isinstance(error, ToolArgumentsError):
            kind = "invalid_arguments"
            text = with_schema(text, planned.spec) if planned.kind == "run" and planned.spec else text
        elif isinstance(error, ToolTimeout):
            kind = "timeout"
        result = ToolResult.for_call(planned.call, text, is_error=True, attributes={ERROR: kind})
        return ToolExecution(
            call=planned.call, result=result, spec=planned.spec, error=error, executed=planned.kind == "run"
        )

    async def _done(self, planned: Planned, context: InvocationContext) -> ToolExecution:
        spec = cast("ToolSpec", planned.spec)
        if planned.kind == "search":
            searching = cast("Searching", self.searching)
            found, result = await self._in_time(searching.answer(planned, context), spec)
            return ToolExecution(call=planned.call, result=result, spec=spec, value=found, executed=True)
        executor = self.toolbox.executor(spec.id)
        if executor is None:
            raise ToolErrorForModel(f"the tool {planned.call.name} cannot be run here")
        arguments = parsed(planned.raw, self.limits.arguments)
        inner = inspect.unwrap(executor)
        if not isinstance(inner, FunctionExecutor):
            arguments = check(spec, arguments)
        value = await self._in_time(self._called(executor, arguments, context), spec)
        nothing = value is None and returns_nothing(inner)
        result = self._result(planned, value, nothing=nothing)
        return ToolExecution(
            call=planned.call, result=result, spec=spec, arguments=arguments, value=value, executed=True
        )

    async def _called(self, executor: Executor, arguments: Json, context: InvocationContext) -> Any:
        """What the tool returns; plain functions run in a thread."""
        if is_async(executor):
            value: Any = executor(arguments, context)
        else:
            value = await self.workers.run(lambda: executor(arguments, context))
        return await value if inspect.isawaitable(value) else value

    async def _in_time(self, work: Any, spec: ToolSpec) -> Any:
        bounds = [one for one in (self.limits.timeout_of(spec.id), self.context.seconds_left) if one is not None]
        if not bounds:
            return await work
        limit = max(0.0, min(bounds))
        bound = asyncio.timeout(limit)
        try:
            async with bound:
                return await work
        except TimeoutError as error:
            if not bound.expired():
                raise
            raise ToolTimeout(f"the tool {spec.name[:80]} did not answer within {limit:g} seconds") from error

    def _result(self, planned: Planned, value: Any, *, nothing: bool) -> ToolResult:
        given = value if isinstance(value, ToolReturn) else ToolReturn(value)
        content = content_of(given.content, nothing=nothing)
        try:
            content = fitting(content, self.features.result_media, mark=self.mark_unsupported, model="this model")
        except UnsupportedContent as error:
            raise ToolErrorForModel(f"UnsupportedContent: {error}") from error
        content = cut(content, self.limits.result)
        return ToolResult.for_call(planned.call, content, is_error=given.is_error, attributes=given.attributes)


def is_async(executor: Executor) -> bool:
    """Whether calling it gives an awaitable at once, so that it needs no thread."""
    function: Any = getattr(executor, "call", executor)
    method: Any = cast("Any", type(function)).__call__
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(method)


async def answer_all(
    planned: Sequence[Planned], answer: Callable[[Planned], Any], *, concurrent: bool
) -> tuple[list[ToolExecution], BaseException | None]:
    """Executions in the order of the calls, and the error that ends the run; one failure does not lose the others."""
    if concurrent and len(planned) > 1:
        tasks = [asyncio.ensure_future(answer(one)) for one in planned]
        try:
            await asyncio.gather(*tasks, return_exceptions=True)
        except asyncio.CancelledError as error:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            return _settled(planned, tasks), error
        failures = [error for task in tasks if (error := task.exception()) is not None]
        return _settled(planned, tasks), failures[0] if failures else None
    done: list[ToolExecution] = []
    for one in planned:
        try:
            done.append(await answer(one))
        except (Exception, asyncio.CancelledError) as error:  # noqa: BLE001 - remembered first, then raised by the loop
            return [*done, *(unanswered(rest, error) for rest in planned[len(done) :])], error
    return done, None


def _settled(planned: Sequence[Planned], tasks: Sequence[asyncio.Future[ToolExecution]]) -> list[ToolExecution]:
    found: list[ToolExecution] = []
    for one, task in zip(planned, tasks, strict=True):
        error = asyncio.CancelledError() if task.cancelled() else task.exception()
        found.append(unanswered(one, error) if error else task.result())
    return found


def unanswered(planned: Planned, error: BaseException) -> ToolExecution:
    """The record of a call that the end of the run left without an answer."""
    stopped = isinstance(error, asyncio.CancelledError)
    text = "The run was stopped before this call was answered." if stopped else "The run ended in this call."
    result = ToolResult.for_call(planned.call, text, is_error=True, attributes={ERROR: "run_ended"})
    return ToolExecution(call=planned.call, result=result, spec=planned.spec, error=error)
