"""Agents as tools of other agents: each with its own memory, bounded by the run that calls it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from toolsearch.agent.context import InvocationContext
from toolsearch.agent.driver import Emit, tell
from toolsearch.agent.preparing import Request, new_context, prepared
from toolsearch.agent.results import ToolReturn
from toolsearch.conversation import UserMessage
from toolsearch.errors import ToolErrorForModel
from toolsearch.tool import Json, SearchBehavior, Tool, ToolSpec

if TYPE_CHECKING:
    from toolsearch.agent.host import Agent

REQUEST = "request"


def agent_tool(agent: Agent, description: str, *, name: str = "", verbatim: bool = False) -> Tool:
    """An agent that another one may ask. With `verbatim` it gets the user's own message instead of a request.

    It keeps its own memory, one conversation for each of the caller's, `ID/NAME` where that has the id ID, so that
    both may keep theirs in one place; the caller's groups, parameters and deadline
    hold for it too, and it is cancelled together with the run that asked. Its tokens are
    added to that run's.
    """
    properties: Json = {REQUEST: {"type": "string", "description": "What it should do, with everything it needs"}}
    parameters: Json = {"type": "object", "properties": properties, "required": [REQUEST]}
    spec = ToolSpec(
        name=name or agent.name,
        description=description,
        parameters={"type": "object", "properties": {}} if verbatim else parameters,
        search=SearchBehavior.SEARCHABLE,
    )
    return Tool(spec, _Asked(agent, verbatim, spec.name))


@dataclass(frozen=True, slots=True)
class _Asked:
    agent: Agent
    verbatim: bool
    name: str

    async def __call__(self, arguments: Json, context: Any = None) -> ToolReturn:
        outer = context if isinstance(context, InvocationContext) else None
        message = outer.message if outer and self.verbatim else UserMessage(str(arguments.get(REQUEST, "")))
        memory_id = f"{outer.memory_id}/{self.name}" if outer and outer.memory_id else None
        own = new_context(self.agent, message, memory_id, None, None)
        if outer:
            own = self._within(own, outer)
        driver, steps = await prepared(self.agent, Request(context=own), _hooked(self.agent))
        result = await driver.drive(steps)
        if result.finish == "approval":
            raise ToolErrorForModel("The other agent needs the approval of a person, which cannot be given from here.")
        return ToolReturn(result.content or _last(result.tool_executions), usage=result.usage)

    def _within(self, own: InvocationContext, outer: InvocationContext) -> InvocationContext:
        if outer.depth + 1 >= self.agent.limits.depth:
            raise ToolErrorForModel(f"Agents may ask each other {self.agent.limits.depth} deep; answer yourself.")
        return replace(
            own,
            caller=outer.caller,
            parameters=outer.parameters,
            deadline=outer.deadline,
            depth=outer.depth + 1,
        )


def _hooked(agent: Agent) -> Emit:
    async def emit(event: Any) -> None:
        await tell(agent.hooks, event)

    return emit


def _last(executions: Any) -> str:
    return executions[-1].result.text if executions else ""
