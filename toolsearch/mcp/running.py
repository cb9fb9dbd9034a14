"""Runs the tools that are no server's: functions, operations over HTTP, simulators, tools of another index."""

from __future__ import annotations

import asyncio
import inspect
import logging
from dataclasses import dataclass
from typing import Any, Final

from mcp_types import CallToolResult

from toolsearch.agent.execution import is_async
from toolsearch.agent.handlers import GENERIC
from toolsearch.agent.threads import Workers
from toolsearch.errors import (
    InvalidSource,
    ToolArgumentsError,
    ToolErrorForModel,
    ToolExecutionError,
    ToolTimeout,
)
from toolsearch.index.tool_index import ToolIndex
from toolsearch.mcp.calling import Call
from toolsearch.mcp.results import result_of
from toolsearch.tool import Executor

THREADS: Final = 32
"""Plain functions that run at the same time."""
_log = logging.getLogger("toolsearch.mcp")


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """Stands for what runs a tool of another index, which is asked when the tool is called."""

    index: ToolIndex
    tool_id: str

    def __call__(self, arguments: Any, context: Any = None) -> Any:
        """What the tool returns.

        Raises:
            ToolErrorForModel: nothing runs it.
        """
        return found(self.index, self.tool_id)(arguments, context)


class Running:
    """Runs calls with what the index knows of, in `seconds` at most."""

    def __init__(self, index: ToolIndex, seconds: float) -> None:
        self._index, self._seconds, self._workers = index, seconds, Workers(THREADS)

    async def run(self, call: Call) -> CallToolResult:
        """The answer of the tool.

        Raises:
            ToolExecutionError: it failed; the text is for the model, what else it raised is logged.
        """
        executor = found(self._index, call.spec.id)
        try:
            async with asyncio.timeout(self._seconds):
                value = await self._value(executor, call)
        except TimeoutError as error:
            raise ToolTimeout(f"the tool did not answer within {self._seconds:g} seconds") from error
        except (ToolErrorForModel, ToolArgumentsError, ToolTimeout):
            raise
        except Exception as error:
            _log.warning("tool %s failed: %s: %s", call.spec.id[:120], type(error).__name__, str(error)[:500])
            raise ToolExecutionError(GENERIC) from error
        return result_of(value, call.spec)

    async def _value(self, executor: Executor, call: Call) -> Any:
        value: Any
        if is_async(executor):
            value = executor(call.arguments, None)
        else:
            value = await self._workers.run(lambda: executor(call.arguments, None))
        return await value if inspect.isawaitable(value) else value


def found(index: ToolIndex, tool_id: str) -> Executor:
    """What runs a tool of an index.

    Raises:
        ToolErrorForModel: nothing does.
    """
    try:
        executor = index.executor(tool_id)
    except InvalidSource as error:
        _log.warning("%s", error)
        executor = None
    if executor is None:
        raise ToolErrorForModel(f"the tool {tool_id[:120]} cannot be run here")
    return executor
