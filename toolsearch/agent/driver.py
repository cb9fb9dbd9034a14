"""Drives one run: does what the loop asks for, and tells everybody who watches."""

from __future__ import annotations

import asyncio
import inspect
import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

from toolsearch.agent.costs import estimated, serialised
from toolsearch.agent.entries import Conversation, merged
from toolsearch.agent.events import (
    Event,
    Hook,
    ModelAnswered,
    ModelAsked,
    RunFailed,
    RunFinished,
    ToolFinished,
    ToolStarted,
)
from toolsearch.agent.execution import Executing, answer_all
from toolsearch.agent.handlers import Handlers
from toolsearch.agent.loop import AskModel, Ran, Refresh, RunCalls, Save, Step, Steps, Summarise, Undo
from toolsearch.agent.planning import Planned
from toolsearch.agent.records import RunResult, ToolExecution
from toolsearch.agent.run import Run
from toolsearch.agent.searching import Searching
from toolsearch.agent.supply import Supply
from toolsearch.agent.threads import Workers
from toolsearch.chat import ChatModel, ChatRequest, ChatResponse
from toolsearch.conversation import Message, Usage
from toolsearch.errors import ModelFailed, RunStopped
from toolsearch.protocols import ToolSearchStrategy
from toolsearch.streams import closing, read_out
from toolsearch.tool import Json

Emit = Callable[[Event], Awaitable[None]]
_log = logging.getLogger("toolsearch.agent")


@dataclass(slots=True, kw_only=True)
class Driver:
    """What one run is done with. `facts` are kept with the conversation."""

    run: Run
    supply: Supply
    model: ChatModel
    handlers: Handlers
    workers: Workers
    emit: Emit
    strategy: ToolSearchStrategy | None = None
    streaming: bool = False
    concurrent: bool = False
    mark_unsupported: bool = False
    facts: Json = field(default_factory=dict[str, Any])
    before: str = ""

    async def drive(self, steps: Steps) -> RunResult:
        """The run's result; errors of the model, of handlers and limits come out as they are."""
        answer: Any = None
        try:
            while True:
                answer = await self._do(steps.send(answer))
        except StopIteration as stop:
            result: RunResult = stop.value
        except BaseException as error:
            await self.emit(RunFailed(error=error, context=self.run.settings.context))
            raise
        finally:
            steps.close()
        await self.emit(RunFinished(result=result, context=self.run.settings.context))
        return result

    async def _do(self, step: Step) -> Any:
        match step:
            case Refresh():
                return await self.supply.refreshed([entry.message for entry in self.run.window])
            case AskModel(request):
                return await self._ask(request)
            case RunCalls(planned):
                return await self._calls(planned)
            case Undo(executions):
                return await self._undo(executions)
            case Summarise(messages):
                return await self._summarise(messages)
            case Save():
                return await self._save()

    async def _ask(self, request: ChatRequest) -> ChatResponse:
        context = self.run.settings.context
        left = context.seconds_left
        if left is not None and left <= 0:
            raise self._late()
        name, provider = getattr(self.model, "name", ""), self.model.features.names
        await self.emit(ModelAsked(request=request, context=context, model=name, provider=provider))
        started = time.monotonic()
        bound = asyncio.timeout(left)
        try:
            async with bound:
                response = await (self._streamed(request) if self.streaming else self.model.ask(request))
        except TimeoutError:
            if not bound.expired():
                raise
            raise self._late() from None
        if response.usage == Usage():
            now = serialised(request)
            response = replace(response, usage=estimated(self.before, now, response))
            self.before = now
        seconds = time.monotonic() - started
        await self.emit(ModelAnswered(response=response, seconds=seconds, context=context))
        return response

    def _late(self) -> RunStopped:
        return RunStopped("the run took longer than it may", self.run.result(None, "limit"))

    async def _streamed(self, request: ChatRequest) -> ChatResponse:
        async with closing(self.model.stream(request)) as events:
            async for event in events:
                if isinstance(event, ChatResponse):
                    await read_out(events)
                    return event
                await self.emit(event)
        raise ModelFailed("the stream ended without an answer")

    async def _calls(self, planned: Sequence[Planned]) -> Ran:
        run, settings = self.run, self.run.settings
        searching = None
        if self.strategy is not None:
            searching = Searching(
                strategy=self.strategy,
                toolbox=run.toolbox,
                visible=run.visible(),
                tokens=settings.limits.found_tokens,
                expose=settings.expose,
            )
        executing = Executing(
            context=settings.context,
            toolbox=run.toolbox,
            limits=settings.limits,
            handlers=self.handlers,
            workers=self.workers,
            features=settings.features,
            searching=searching,
            mark_unsupported=self.mark_unsupported,
        )

        async def watched(one: Planned) -> ToolExecution:
            await self.emit(ToolStarted(call=one.call, spec=one.spec, context=settings.context))
            done = await executing.answer(one)
            await self.emit(ToolFinished(execution=done, context=settings.context))
            return done

        executions, failure = await answer_all(planned, watched, concurrent=self.concurrent)
        return Ran(tuple(executions), failure)

    async def _undo(self, executions: Sequence[ToolExecution]) -> None:
        """One after another; a failing one is logged and does not stop the others."""
        compensators = self.run.settings.compensators
        for one in executions:
            call = compensators.call_for(one) if compensators else None
            if call is None:
                continue
            try:
                done = await self.workers.run(call)
                if inspect.isawaitable(done):
                    await done
            except Exception:  # noqa: BLE001 - a compensating function may raise anything
                _log.exception("undoing the tool %s failed", one.call.name[:80])

    async def _summarise(self, messages: Sequence[Message]) -> str | None:
        memory = self.run.settings.memory
        if memory is None or memory.summarise is None:
            return None
        try:
            text: Any = memory.summarise(messages)
            return cast("str", await text if inspect.isawaitable(text) else text)
        except Exception:  # noqa: BLE001 - without a summary the conversation goes on as it would without the hook
            _log.exception("summarising %d messages failed", len(messages))
            return None

    async def _save(self) -> None:
        memory, run = self.run.settings.memory, self.run
        if memory is None:
            return
        run_id, own, gone = run.settings.context.run_id, run.own(), set(run.gone)

        def change(stored: Conversation) -> Conversation:
            return replace(merged(stored, run_id, own, gone), facts={**stored.facts, **self.facts})

        await asyncio.to_thread(memory.store.update, run.memory_id, change)


async def tell(hooks: Sequence[Hook], event: Event) -> None:
    """Give an event to every hook; a failing hook is logged."""
    for hook in hooks:
        try:
            answer = hook(event)
            if inspect.isawaitable(answer):
                await answer
        except Exception:  # noqa: BLE001 - watching must never disturb a run
            _log.exception("a hook failed")
