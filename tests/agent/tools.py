"""Tools, strategies and checks that several tests of the agent use."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from toolsearch.agent.events import Event, RunFinished
from toolsearch.agent.host import Agent
from toolsearch.agent.memory import ChatMemory
from toolsearch.agent.records import RunResult
from toolsearch.chat import ChatRequest
from toolsearch.conversation import ToolCall, ToolResult
from toolsearch.protocols import ToolSearchRequest, ToolSearchResult, ToolSearchStrategy
from toolsearch.strategies.simple import SimpleStrategy
from toolsearch.testing.models import ScriptedModel, call
from toolsearch.tool import Tool, ToolSpec

SEARCH = "tool_search_tool"


def getWeather(city: str = "here") -> str:
    return "sunny"


def getTime(city: str = "here") -> str:
    return "12:00"


def add(a: int, b: int) -> int:
    return a + b


def search(*terms: str) -> ToolCall:
    return call(SEARCH, terms=list(terms))


@dataclass
class Spy:
    """A strategy that keeps what it was asked."""

    inner: ToolSearchStrategy = field(default_factory=SimpleStrategy)
    asked: list[list[str]] = field(default_factory=list)
    listed: int = 0

    def search_tools(self, context: Any = None) -> list[ToolSpec]:
        self.listed += context is not None
        return list(self.inner.search_tools(context))

    async def search(self, request: ToolSearchRequest) -> ToolSearchResult:
        self.asked.append([spec.name for spec in request.searchable])
        return await self.inner.search(request)


class FindsAll(SimpleStrategy):
    """Finds every tool there is, whatever was asked."""

    async def search(self, request: ToolSearchRequest) -> ToolSearchResult:
        names = sorted(spec.id for spec in request.searchable)
        return ToolSearchResult(found=tuple(names), text="Tools found: " + ", ".join(names))


@dataclass
class Conversing:
    """One agent, driven whole or streaming, with what it did."""

    streaming: bool
    agent: Agent

    def say(self, message: str, **more: Any) -> RunResult:
        if not self.streaming:
            return self.agent.run_sync(message, **more)
        return asyncio.run(self._streamed(message, more))

    async def _streamed(self, message: str, more: dict[str, Any]) -> RunResult:
        events: list[Event] = [event async for event in self.agent.stream(message, **more)]
        assert isinstance(events[-1], RunFinished)
        return events[-1].result


def agent(model: ScriptedModel, tools: Iterable[object], **more: Any) -> Agent:
    """An agent with the reference strategy and a long memory, unless something else is given."""
    more.setdefault("search", SimpleStrategy())
    more.setdefault("memory", ChatMemory(max_messages=100))
    return Agent(model, tools=list(tools), **more)


def results(request: ChatRequest) -> list[ToolResult]:
    """The results in a request, in order."""
    return [one for one in request.messages if isinstance(one, ToolResult)]


def texts(result: RunResult) -> list[str]:
    """What the model was told by each call of a run."""
    return [one.result.text for one in result.tool_executions]


def spec(name: str, description: str = "", **more: Any) -> ToolSpec:
    return ToolSpec(name=name, description=description, **more)


def made(name: str, description: str = "", run: Callable[..., Any] | None = None, **more: Any) -> Tool:
    """A tool by its definition; it answers "done" unless it is given something to run."""
    return Tool(spec(name, description, **more), run or (lambda arguments, context: "done"))
