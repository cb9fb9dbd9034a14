"""OpenAI Chat Completions, and every server that speaks it."""

from __future__ import annotations

import os
import re
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass, field, replace
from typing import Any, Final

from toolsearch.chat import CallComplete, ChatEvent, ChatOptions, ChatRequest, ChatResponse, Features, TextDelta
from toolsearch.conversation import (
    AssistantMessage,
    Media,
    Message,
    Part,
    SystemMessage,
    Text,
    ToolCall,
    Usage,
    UserMessage,
)
from toolsearch.llm.clients import Clients, here
from toolsearch.llm.failures import broken_off, sdk, translated
from toolsearch.llm.written import Calls, as_text, call_id, chances, finish, function, given, names_a_tool, plain
from toolsearch.streams import closing
from toolsearch.tool import Json

FEATURES: Final = Features(names="openai", media=("image",), max_tools=128)
REASONING: Final = re.compile(r"o\d|gpt-[5-9]")
"""Models that do not tell the chances of their tokens."""
FINISH: Final = {"stop": "stop", "tool_calls": "tool_calls", "length": "length", "content_filter": "refusal"}


@dataclass(frozen=True, slots=True)
class OpenAIChat:
    """A model behind `/chat/completions`; `client` is an `openai.AsyncOpenAI`, or `Clients` of it."""

    model: str
    client: Any = field(repr=False)
    features: Features = FEATURES

    @classmethod
    def open(cls, model: str, url: str = "") -> OpenAIChat:
        """A model by name; the key comes from OPENAI_API_KEY, and a server of your own needs none.

        Raises:
            MissingExtra: the SDK is not installed.
        """
        return cls(model, client(url), replace(FEATURES, logprobs=not REASONING.match(model)))

    async def ask(self, request: ChatRequest) -> ChatResponse:
        """One answer.

        Raises:
            ModelFailed: the server did not answer, or refused the request.
        """
        openai = sdk("openai", "openai")
        with translated("OpenAI", (openai.APIError,)):
            answer = await here(self.client).chat.completions.create(**render(request, self.model))
            return parse(answer.to_dict())

    async def stream(self, request: ChatRequest) -> AsyncIterator[ChatEvent]:
        """The answer in pieces; raises as `ask` does."""
        openai = sdk("openai", "openai")
        body = {**render(request, self.model), "stream": True, "stream_options": {"include_usage": True}}
        pieces = _Pieces()
        with translated("OpenAI", (openai.APIError,)):
            async with closing(await here(self.client).chat.completions.create(**body)) as chunks:
                async for chunk in chunks:
                    for event in pieces.take(chunk.to_dict()):
                        yield event
        for event in pieces.end():
            yield event


def client(url: str) -> Clients:
    """Clients of the SDK. Repetition and time limits are `Model`'s, so theirs are off."""
    openai = sdk("openai", "openai")
    more: Json = {"base_url": url, "api_key": os.environ.get("OPENAI_API_KEY") or "none"} if url else {}
    return Clients(lambda: openai.AsyncOpenAI(max_retries=0, timeout=None, **more), (openai.OpenAIError,))


def render(request: ChatRequest, model: str) -> Json:
    """The body of a request."""
    body: Json = {"model": model, "messages": [_message(one) for one in request.messages]}
    tools = (*request.tools, *request.deferred)
    if tools:
        keys = request.options.metadata_keys
        body["tools"] = [{"type": "function", "function": function(spec, keys)} for spec in tools]
    return {**body, **_options(request.options, has_tools=bool(tools))}


def _options(options: ChatOptions, *, has_tools: bool) -> Json:
    body: Json = {"max_completion_tokens": options.max_tokens, "temperature": options.temperature}
    if options.logprobs is not None:
        body |= {"logprobs": True, "top_logprobs": options.logprobs}
    if has_tools:
        body["tool_choice"] = choice(options.tool_choice)
        body["parallel_tool_calls"] = options.parallel_tool_calls
    return {**given(body), **options.more}


def choice(wanted: str | None) -> Any:
    """`tool_choice`: a word, or the one tool to call."""
    return {"type": "function", "function": {"name": wanted}} if names_a_tool(wanted) else wanted


def _message(message: Message) -> Json:
    if isinstance(message, SystemMessage):
        return {"role": "system", "content": message.text}
    if isinstance(message, UserMessage):
        return {"role": "user", "content": _content(message.content)}
    if isinstance(message, AssistantMessage):
        calls = [
            {"id": one.id, "type": "function", "function": {"name": one.name, "arguments": one.arguments}}
            for one in message.calls
        ]
        if not calls:
            return {"role": "assistant", "content": message.text}
        return {"role": "assistant", "content": message.text or None, "tool_calls": calls}
    return {"role": "tool", "tool_call_id": message.call_id, "content": plain(message.content)}


def _content(content: Iterable[Part]) -> Any:
    """A text where all is text, else a list of parts."""
    found = list(content)
    if all(isinstance(part, Text) for part in found):
        return plain(found)
    return [
        {"type": "image_url", "image_url": {"url": url(part)}}
        if isinstance(part, Media)
        else {"type": "text", "text": plain([part])}
        for part in found
    ]


def url(media: Media) -> str:
    """Where media can be fetched: its address, or the data itself."""
    return media.uri or f"data:{media.media_type};base64,{media.data}"


def parse(body: Json) -> ChatResponse:
    """The answer in a response's JSON."""
    choices: list[Json] = body.get("choices") or [{}]
    message: Json = choices[0].get("message") or {}
    told: Json = choices[0].get("logprobs") or {}
    calls = tuple(_call(one) for one in message.get("tool_calls") or ())
    return ChatResponse(
        message=AssistantMessage(message.get("content") or message.get("refusal") or "", calls),
        usage=usage(body.get("usage")),
        finish=finish(FINISH.get(choices[0].get("finish_reason") or "", "other"), calls),
        model=body.get("model", ""),
        chances=chances(told.get("content")),
    )


def _call(body: Json) -> ToolCall:
    function: Json = body.get("function") or {}
    return ToolCall(call_id(body.get("id")), function.get("name") or "", as_text(function.get("arguments") or "{}"))


def usage(body: Json | None, asked: str = "prompt", answered: str = "completion") -> Usage:
    """Tokens of a response; OpenAI's two APIs differ in what they call those asked and those answered."""
    if not body:
        return Usage()
    details: Json = body.get(f"{asked}_tokens_details") or {}
    return Usage(
        input_tokens=body.get(f"{asked}_tokens") or 0,
        output_tokens=body.get(f"{answered}_tokens") or 0,
        cached_tokens=details.get("cached_tokens") or 0,
        written_tokens=details.get("cache_write_tokens") or 0,
    )


class _Pieces:
    """A streamed answer, put together."""

    def __init__(self) -> None:
        self._text: list[str] = []
        self._calls = Calls()
        self._usage: Json | None = None
        self._finish: str | None = None
        self._model = ""

    def take(self, chunk: Json) -> Iterable[ChatEvent]:
        self._model = chunk.get("model") or self._model
        self._usage = chunk.get("usage") or self._usage
        for one in chunk.get("choices") or ():
            self._finish = one.get("finish_reason") or self._finish
            delta: Json = one.get("delta") or {}
            if delta.get("content"):
                self._text.append(delta["content"])
                yield TextDelta(delta["content"])
            for place, piece in enumerate(delta.get("tool_calls") or ()):
                yield from self._piece(piece.get("index", place), piece)

    def _piece(self, index: int, piece: Json) -> Iterable[ChatEvent]:
        function: Json = piece.get("function") or {}
        if not self._calls.known(index):
            self._calls.start(index, function.get("name") or "", piece.get("id"))
        if function.get("arguments"):
            yield self._calls.add(index, as_text(function["arguments"]))

    def end(self) -> Iterable[ChatEvent]:
        if self._finish is None:
            raise broken_off("OpenAI")
        calls = self._calls.all()
        yield from map(CallComplete, calls)
        yield ChatResponse(
            message=AssistantMessage("".join(self._text), calls),
            usage=usage(self._usage),
            finish=finish(FINISH.get(self._finish, "other"), calls),
            model=self._model,
        )
