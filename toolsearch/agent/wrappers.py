"""What may be put around a tool when you ask for it: repetition, and a cache. The host does neither by itself."""

from __future__ import annotations

import asyncio
import inspect
import json
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import Any, Final

from toolsearch.agent.execution import is_async
from toolsearch.agent.results import ToolReturn
from toolsearch.agent.threads import Workers
from toolsearch.catalog.functions import as_tool
from toolsearch.errors import InvalidTool, ToolArgumentsError, ToolErrorForModel
from toolsearch.tool import Executor, Json, Tool

CACHED: Final = 1_000
"""Results that one cached tool keeps."""
_workers: Final = Workers(32)


def retrying(
    thing: object, *, times: int = 2, wait: float = 0.5, on: Iterable[type[Exception]] = (ConnectionError, TimeoutError)
) -> Tool:
    """A tool that is tried again after these errors, with doubled waits in seconds. For tools that may run twice.

    Raises:
        InvalidTool: it is no tool, or has nothing that runs it.
    """
    tool = as_tool(thing)
    return replace(tool, execute=_Retrying(_executor(tool), times, wait, tuple(on)))


def cached(
    thing: object,
    *,
    ttl: float,
    key: Callable[[Json, Any], object] | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> Tool:
    """A tool whose results are kept for `ttl` seconds. Errors are never kept.

    By default a result is given again to the same arguments in the same conversation and for the same groups
    only; `key` makes another choice from arguments and context.

    Raises:
        InvalidTool: the tool is not marked read-only, is no tool, or has nothing that runs it.
    """
    tool = as_tool(thing)
    if tool.spec.annotations.get("readOnlyHint") is not True:
        raise InvalidTool(f"tool {tool.spec.id[:200]!r} is not marked readOnlyHint, so its results are not cached")
    return replace(tool, execute=_Cached(_executor(tool), ttl, key or own_conversation, clock))


def own_conversation(arguments: Mapping[str, Any], context: Any) -> object:
    """The conversation, the caller's groups and the arguments; without a memory the run."""
    caller = getattr(context, "caller", None)
    conversation = getattr(context, "memory_id", None) or getattr(context, "run_id", None)
    groups = None if caller is None else sorted(caller)
    return json.dumps([conversation, groups, arguments], sort_keys=True, default=str)


def _executor(tool: Tool) -> Executor:
    if tool.execute is None:
        raise InvalidTool(f"tool {tool.spec.id[:200]!r} has nothing that runs it")
    return tool.execute


async def _called(executor: Executor, arguments: Json, context: Any) -> Any:
    if is_async(executor):
        return await executor(arguments, context)
    value = await _workers.run(lambda: executor(arguments, context))
    return await value if inspect.isawaitable(value) else value


@dataclass(frozen=True, slots=True)
class _Retrying:
    inner: Executor
    times: int
    wait: float
    on: tuple[type[Exception], ...]

    @property
    def __wrapped__(self) -> Executor:
        return self.inner

    async def __call__(self, arguments: Json, context: Any = None) -> Any:
        for tried in range(self.times):
            try:
                return await _called(self.inner, arguments, context)
            except (ToolArgumentsError, ToolErrorForModel):
                raise
            except self.on:
                await asyncio.sleep(self.wait * 2**tried)
        return await _called(self.inner, arguments, context)


@dataclass(frozen=True, slots=True)
class _Cached:
    inner: Executor
    ttl: float
    key: Callable[[Json, Any], object]
    clock: Callable[[], float]
    kept: OrderedDict[object, tuple[float, Any]] = field(default_factory=OrderedDict[object, tuple[float, Any]])
    lock: Lock = field(default_factory=Lock)

    @property
    def __wrapped__(self) -> Executor:
        return self.inner

    async def __call__(self, arguments: Json, context: Any = None) -> Any:
        key = self.key(arguments, context)
        with self.lock:
            found = self.kept.get(key)
        if found and self.clock() - found[0] < self.ttl:
            return found[1]
        value = await _called(self.inner, arguments, context)
        if isinstance(value, ToolReturn) and value.is_error:
            return value
        with self.lock:
            self.kept[key] = (self.clock(), value)
            while len(self.kept) > CACHED:
                self.kept.popitem(last=False)
        return value
