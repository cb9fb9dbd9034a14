"""A chat model that answers from a script, for tests of agents and of your own loops.

    model = ScriptedModel(call("tool_search_tool", query="refund"), call("refund", order=42), "Done.")
    agent = Agent(model, tools=[...])

It is as strict about a request as the providers are, and keeps every request in `requests`.
"""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any, Final

from toolsearch.chat import (
    CallComplete,
    CallDelta,
    ChatEvent,
    ChatRequest,
    ChatResponse,
    Features,
    TextDelta,
)
from toolsearch.conversation import AssistantMessage, Reference, ToolCall, ToolResult, problems
from toolsearch.errors import ModelFailed

Said = str | ToolCall | Sequence[ToolCall] | AssistantMessage | ChatResponse | BaseException
Line = Said | Callable[[ChatRequest], Said]
"""One answer of a script, or a function that makes it from the request."""

LEGAL_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")


def call(name: str, arguments: str | None = None, /, **values: Any) -> ToolCall:
    """A call for a script; its arguments are the keywords, or a raw text. The model gives it an id."""
    return ToolCall("", name, json.dumps(values, ensure_ascii=False) if arguments is None else arguments)


class ScriptedModel:
    """Gives the lines of a script one after another; more requests than lines are an error.

    Raises:
        ModelFailed: the script is at its end, or a provider would refuse the request (status 400).
    """

    def __init__(self, *script: Line, features: Features | None = None) -> None:
        self.features = features or Features(media=("image",), result_media=("image",))
        self.requests: list[ChatRequest] = []
        self._script = list(script)
        self._calls = 0

    async def ask(self, request: ChatRequest) -> ChatResponse:
        """The next line as a whole."""
        return self._next(request)

    async def stream(self, request: ChatRequest) -> AsyncIterator[ChatEvent]:
        """The next line in pieces of a few characters."""
        response = self._next(request)
        for piece in _pieces(response.text):
            yield TextDelta(piece)
        for index, one in enumerate(response.tool_calls):
            for piece in _pieces(one.arguments):
                yield CallDelta(index, one.name, piece)
            yield CallComplete(one)
        yield response

    @property
    def left(self) -> int:
        """How many lines have not been given."""
        return len(self._script)

    def names(self, request: int = -1) -> list[str]:
        """Names of the tools in a request, the last one by default."""
        return [spec.name for spec in self.requests[request].tools]

    def _next(self, request: ChatRequest) -> ChatResponse:
        self.requests.append(request)
        check_request(request, self.features)
        if not self._script:
            raise ModelFailed("the script is at its end", status=None)
        line = self._script.pop(0)
        if isinstance(line, BaseException):
            raise line
        said = line(request) if callable(line) else line
        if isinstance(said, BaseException):
            raise said
        return self._response(said)

    def _response(self, said: Said) -> ChatResponse:
        if isinstance(said, ChatResponse):
            return said
        if isinstance(said, AssistantMessage):
            message = said
        elif isinstance(said, str):
            message = AssistantMessage(said)
        else:
            calls: Any = [said] if isinstance(said, ToolCall) else said
            message = AssistantMessage("", tuple(self._with_id(one) for one in calls))
        return ChatResponse(message=message, finish="tool_calls" if message.calls else "stop")

    def _with_id(self, one: ToolCall) -> ToolCall:
        self._calls += 1
        return ToolCall(one.id or f"call_{self._calls}", one.name, one.arguments)


def check_request(request: ChatRequest, features: Features) -> None:
    """Refuse what a strict provider refuses.

    Raises:
        ModelFailed: with status 400 and the reason.
    """
    faults = problems(request.messages)
    names = [spec.name for spec in (*request.tools, *request.deferred)]
    faults += [f"the name {name!r:.80} is not legal" for name in names if not LEGAL_NAME.fullmatch(name)]
    if len(set(names)) < len(names):
        faults.append("two tools have one name")
    if len(request.tools) > features.max_tools:
        faults.append(f"{len(request.tools)} tools; the bound is {features.max_tools}")
    for message in request.messages:
        for part in message.content if isinstance(message, ToolResult) else ():
            if isinstance(part, Reference) and (part.name not in names or not features.native_search):
                faults.append(f"tool reference {part.name!r:.80} has no corresponding tool definition")
    if faults:
        raise ModelFailed("; ".join(faults[:5]), status=400)


def _pieces(text: str, size: int = 7) -> list[str]:
    return [text[start : start + size] for start in range(0, len(text), size)]
