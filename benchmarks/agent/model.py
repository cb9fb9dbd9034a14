"""A scripted model that does what judged requests say: search in their words, call the tools that are right."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from toolsearch.agent.exposing import exposed
from toolsearch.agent.showing import CALL_TOOL, GET_TOOL
from toolsearch.chat import ChatRequest, Features
from toolsearch.conversation import AssistantMessage, Message, ToolCall, ToolResult, UserMessage, found_in
from toolsearch.evaluation.judged import JudgedQuery
from toolsearch.testing.models import Said, ScriptedModel, call
from toolsearch.tool import Json

DONE = "That is done. Here is what came of it, in the few sentences that such an answer has. What shall I do next?"
LINES = 10_000
"""More answers than any conversation needs."""


@dataclass(slots=True)
class Needs:
    """What one turn needed: tools, and those of them that the model could call after it had searched, or at once."""

    needed: int = 0
    ready: int = 0
    at_once: int = 0
    searches: int = 0


@dataclass(slots=True)
class Asker:
    """The model's mind: `search` is the name of its search tool, None when it has none; `proxied` calls go round.

    `arguments` are what it writes for each tool, by the name that it knows the tool by.
    """

    search: str | None
    arguments: Mapping[str, Json]
    proxied: bool = False
    query: JudgedQuery | None = None
    turns: list[Needs] = field(default_factory=list[Needs])

    def begin(self, query: JudgedQuery) -> str:
        """The user's next message."""
        self.query = query
        self.turns.append(Needs(needed=len(query.relevant)))
        return query.query

    def model(self, features: Features) -> ScriptedModel:
        """The chat model that answers from this mind."""
        return ScriptedModel(*[self.answer] * LINES, features=features)

    def answer(self, request: ChatRequest) -> Said:
        """Search once when something is missing, then call what can be called, then say that it is done."""
        if self.query is None:
            return DONE
        turn, now = self.turns[-1], _this_turn(request.messages)
        callable_ = self._callable(request)
        needed = [exposed(tool) for tool in self.query.relevant]
        ready = [name for name in needed if name in callable_]
        searched, called = _searches(now, self.search), _called(now)
        if not searched and not called:
            turn.at_once = len(ready)
        turn.ready, turn.searches = max(turn.ready, len(ready)), searched
        if len(ready) < len(needed) and self.search and not searched:
            return call(self.search, query=self.query.query)
        left = [name for name in ready if name not in called]
        return self._calls(left, request) if left else DONE

    def _callable(self, request: ChatRequest) -> set[str]:
        if self.proxied:
            return {exposed(tool) for message in request.messages for tool in found_in(message)}
        return {spec.name for spec in (*request.tools, *request.deferred)}

    def _calls(self, names: Sequence[str], request: ChatRequest) -> Said:
        """Calls of all at once; behind a proxy, tools that were never looked at are looked at first."""
        if not self.proxied:
            return [call(name, json.dumps(self.arguments[name])) for name in names]
        seen = _looked_at(request.messages)
        unknown = [name for name in names if name not in seen]
        if unknown:
            return [call(GET_TOOL.name, name=name) for name in unknown]
        return [call(CALL_TOOL.name, name=name, arguments=self.arguments[name]) for name in names]


def _this_turn(messages: Sequence[Message]) -> list[Message]:
    """Messages after the last question."""
    last = max((n for n, message in enumerate(messages) if isinstance(message, UserMessage)), default=-1)
    return list(messages[last + 1 :])


def _made(messages: Sequence[Message]) -> list[ToolCall]:
    return [one for message in messages if isinstance(message, AssistantMessage) for one in message.calls]


def _searches(messages: Sequence[Message], search: str | None) -> int:
    return sum(one.name == search for one in _made(messages))


def _called(messages: Sequence[Message]) -> set[str]:
    """Names of the tools that were called, directly or through the proxy."""
    named = {one.name for one in _made(messages) if one.name not in (GET_TOOL.name, CALL_TOOL.name)}
    return named | {_named(one) for one in _made(messages) if one.name == CALL_TOOL.name}


def _looked_at(messages: Sequence[Message]) -> set[str]:
    """Names of the tools whose parameters the model can still see."""
    answered = {message.call_id for message in messages if isinstance(message, ToolResult)}
    return {_named(one) for one in _made(messages) if one.name == GET_TOOL.name and one.id in answered}


def _named(one: ToolCall) -> str:
    return str(json.loads(one.arguments).get("name"))
