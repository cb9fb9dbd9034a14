"""A model as you use it: default options, checks before sending, time limit and repetition around any adapter."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, Final

from toolsearch.chat import ChatEvent, ChatModel, ChatOptions, ChatRequest, ChatResponse, Features
from toolsearch.conversation import Message, UserMessage
from toolsearch.errors import DuplicateTool, InvalidTool, ModelFailed, ToolsUnsupported, UnsupportedContent
from toolsearch.llm.clients import Clients
from toolsearch.streams import closing
from toolsearch.tool import ToolSpec

LEGAL: Final = {
    "openai": re.compile(r"[A-Za-z0-9_-]{1,64}"),
    "anthropic": re.compile(r"[A-Za-z0-9_-]{1,128}"),
    "ollama": re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}"),
}
"""What the names of tools must look like, by the rule that a model's features name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """Any adapter, with a time limit for each request and some repetitions.

        model = open_model("openai:gpt-5.4")
        response = await model.chat([UserMessage("Refund order 42")], tools=[spec])
        results = [ToolResult.for_call(call, "done") for call in response.tool_calls]

    A request is repeated after 429, 5xx and timeouts, with growing waits; never once a stream has begun.

    Attributes:
        options: hold where a request does not say otherwise.
        timeout: seconds for one request, and for each piece of a stream.
        retries: repetitions after the first try.
        backoff: seconds before the first repetition; doubled for each further one.
    """

    adapter: ChatModel
    options: ChatOptions = field(default_factory=ChatOptions)
    timeout: float = 60.0
    retries: int = 2
    backoff: float = 0.5

    @property
    def name(self) -> str:
        """What the provider calls the model; empty where the adapter does not say."""
        return str(getattr(self.adapter, "model", ""))

    @property
    def features(self) -> Features:
        """What the adapter's model can take."""
        return self.adapter.features

    async def chat(
        self, messages: Sequence[Message], *, tools: Iterable[ToolSpec] = (), options: ChatOptions | None = None
    ) -> ChatResponse:
        """One answer, for those who write their own loop. Raises as `ask` does."""
        return await self.ask(
            ChatRequest(messages=tuple(messages), tools=tuple(tools), options=options or ChatOptions())
        )

    async def ask(self, request: ChatRequest) -> ChatResponse:
        """One answer.

        Raises:
            ModelFailed: the provider did not answer, or refused the request.
            InvalidInput: the request has something that this model cannot take; nothing was sent.
        """
        ready = self._ready(request)
        for tried in range(self.retries + 1):
            try:
                return await self._in_time(self.adapter.ask(ready))
            except ModelFailed as error:
                await self._wait(error, tried)
        raise ModelFailed("no try was made; retries must not be negative")

    async def stream(self, request: ChatRequest) -> AsyncIterator[ChatEvent]:
        """The answer in pieces; raises as `ask` does."""
        ready = self._ready(request)
        for tried in range(self.retries + 1):
            begun = False
            try:
                async with closing(self.adapter.stream(ready)) as events:
                    while True:
                        try:
                            event = await self._in_time(anext(events))
                        except StopAsyncIteration:
                            return
                        begun = True
                        yield event
            except ModelFailed as error:
                if begun:
                    raise
                await self._wait(error, tried)

    async def close(self) -> None:
        """Close the connections that the running event loop opened; a client that was given stays open."""
        client: Any = getattr(self.adapter, "client", None)
        if isinstance(client, Clients):
            await client.close()

    async def _in_time(self, work: Any) -> Any:
        try:
            async with asyncio.timeout(self.timeout):
                return await work
        except TimeoutError:
            raise ModelFailed(f"the model did not answer within {self.timeout:g} seconds", retry=True) from None

    async def _wait(self, error: ModelFailed, tried: int) -> None:
        if not error.retry or tried >= self.retries:
            raise error
        await asyncio.sleep(error.wait if error.wait is not None else self.backoff * 2**tried)

    def _ready(self, request: ChatRequest) -> ChatRequest:
        options = merged(self.options, request.options)
        check(request, options, self.features)
        return replace(request, options=options)


def merged(defaults: ChatOptions, own: ChatOptions) -> ChatOptions:
    """A request's options, with the defaults where it says nothing."""
    values = {one.name: getattr(own, one.name) or getattr(defaults, one.name) for one in fields(ChatOptions)}
    for name in ("parallel_tool_calls", "temperature"):
        values[name] = getattr(defaults, name) if getattr(own, name) is None else getattr(own, name)
    values["more"] = {**defaults.more, **own.more}
    return ChatOptions(**values)


def check(request: ChatRequest, options: ChatOptions, features: Features) -> None:
    """Refuse what the model cannot take, before anything is sent.

    Raises:
        ToolsUnsupported: tools, a forced choice, or more tools than it takes.
        InvalidTool: the name of a tool is not legal for the provider.
        DuplicateTool: two tools have one name.
        UnsupportedContent: a user's message holds content of a kind that it does not take.
    """
    tools = (*request.tools, *request.deferred)
    if tools and not features.tools:
        raise ToolsUnsupported("this model takes no tools")
    if len(request.tools) > features.max_tools:
        raise ToolsUnsupported(f"{len(request.tools)} tools in one request; this model takes {features.max_tools}")
    _check_names(tools, features.names)
    _check_choice(request, options.tool_choice, features)
    for message in request.messages:
        for part in message.content if isinstance(message, UserMessage) else ():
            kind = getattr(part, "kind", None)
            if kind is not None and kind not in features.media:
                raise UnsupportedContent(
                    f"this model does not take {kind}; it takes {', '.join(features.media) or 'text'}"
                )


def _check_names(tools: Iterable[ToolSpec], rule: str) -> None:
    names: set[str] = set()
    for spec in tools:
        if not LEGAL[rule].fullmatch(spec.name):
            raise InvalidTool(f"{spec.name[:100]!r} is no legal name of a tool for {rule}: {LEGAL[rule].pattern}")
        if spec.name in names:
            raise DuplicateTool(f"two tools are called {spec.name[:100]!r}; rename one")
        names.add(spec.name)


def _check_choice(request: ChatRequest, choice: str | None, features: Features) -> None:
    if choice in (None, "auto", "none"):
        return
    kind = "required" if choice == "required" else "tool"
    if kind not in features.forced or not request.tools:
        raise ToolsUnsupported(f"this request cannot force the choice {choice[:80]!r}")
    if kind == "tool" and choice not in {spec.name for spec in request.tools}:
        raise ToolsUnsupported(f"tool_choice names {choice[:80]!r}, which is not among the tools of the request")
