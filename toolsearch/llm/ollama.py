"""Ollama's own chat API: arguments are objects, calls have no ids."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass, field
from typing import Any, Final

from toolsearch.chat import CallComplete, ChatEvent, ChatRequest, ChatResponse, Features, TextDelta
from toolsearch.conversation import (
    AssistantMessage,
    Media,
    Message,
    Part,
    SystemMessage,
    ToolCall,
    Usage,
    UserMessage,
)
from toolsearch.llm.clients import Clients, here
from toolsearch.llm.failures import broken_off, sdk, translated
from toolsearch.llm.written import as_object, as_text, call_id, chances, finish, function, given, plain
from toolsearch.streams import closing
from toolsearch.tool import Json

FEATURES: Final = Features(names="ollama", media=("image",), max_tools=128, forced=(), logprobs=True)
FINISH: Final = {"stop": "stop", "length": "length"}


@dataclass(frozen=True, slots=True)
class Ollama:
    """A model of an Ollama server; `client` is an `ollama.AsyncClient`, or `Clients` of it."""

    model: str
    client: Any = field(repr=False)
    features: Features = FEATURES

    @classmethod
    def open(cls, model: str, url: str = "") -> Ollama:
        """A model by name, on the server of OLLAMA_HOST unless one is given.

        Raises:
            MissingExtra: the SDK is not installed.
        """
        ollama = sdk("ollama", "ollama")
        return cls(model, Clients(lambda: ollama.AsyncClient(host=url or None)))

    async def ask(self, request: ChatRequest) -> ChatResponse:
        """One answer.

        Raises:
            ModelFailed: the server did not answer, or refused the request.
        """
        with translated("Ollama", self._errors()):
            answer = await here(self.client).chat(**render(request, self.model))
            return parse(answer.model_dump())

    async def stream(self, request: ChatRequest) -> AsyncIterator[ChatEvent]:
        """The answer in pieces; raises as `ask` does."""
        texts: list[str] = []
        calls: list[ToolCall] = []
        last: Json = {}
        with translated("Ollama", self._errors()):
            async with closing(await here(self.client).chat(**render(request, self.model), stream=True)) as chunks:
                async for chunk in chunks:
                    last = chunk.model_dump()
                    piece = parse(last)
                    if piece.text:
                        texts.append(piece.text)
                        yield TextDelta(piece.text)
                    for call in piece.tool_calls:
                        calls.append(call)
                        yield CallComplete(call)
        if not last.get("done"):
            raise broken_off("Ollama")
        yield _response(last, AssistantMessage("".join(texts), tuple(calls)))

    @staticmethod
    def _errors() -> tuple[type[Exception], ...]:
        import httpx

        return (sdk("ollama", "ollama").ResponseError, ConnectionError, httpx.HTTPError)


def render(request: ChatRequest, model: str) -> Json:
    """The arguments of the SDK's `chat`."""
    options = request.options
    body: Json = {"model": model, "messages": [_message(one) for one in request.messages]}
    tools = [] if options.tool_choice == "none" else [*request.tools, *request.deferred]
    if tools:
        keys = options.metadata_keys
        body["tools"] = [{"type": "function", "function": function(one, keys)} for one in tools]
    numbers = given({"num_predict": options.max_tokens, "temperature": options.temperature})
    if options.logprobs is not None:
        body |= {"logprobs": True, "top_logprobs": options.logprobs}
    return {**body, **({"options": numbers} if numbers else {}), **options.more}


def _message(message: Message) -> Json:
    if isinstance(message, SystemMessage):
        return {"role": "system", "content": message.text}
    if isinstance(message, UserMessage):
        return {"role": "user", "content": message.text, **_images(message.content)}
    if isinstance(message, AssistantMessage):
        calls = [{"function": {"name": one.name, "arguments": as_object(one.arguments)}} for one in message.calls]
        return {"role": "assistant", "content": message.text, **({"tool_calls": calls} if calls else {})}
    return {"role": "tool", "tool_name": message.name, "content": plain(message.content)}


def _images(content: Iterable[Part]) -> Json:
    images = [part.data for part in content if isinstance(part, Media) and part.data]
    return {"images": images} if images else {}


def parse(body: Json) -> ChatResponse:
    """The answer in a response's JSON; calls get ids."""
    message: Json = body.get("message") or {}
    calls = tuple(_call(one.get("function") or {}) for one in message.get("tool_calls") or ())
    return _response(body, AssistantMessage(message.get("content") or "", calls))


def _call(function: Json) -> ToolCall:
    return ToolCall(call_id(None), function.get("name") or "", as_text(function.get("arguments") or {}))


def _response(body: Json, message: AssistantMessage) -> ChatResponse:
    counted = Usage(input_tokens=body.get("prompt_eval_count") or 0, output_tokens=body.get("eval_count") or 0)
    return ChatResponse(
        message=message,
        usage=counted,
        finish=finish(FINISH.get(body.get("done_reason") or "", "other"), message.calls),
        model=body.get("model") or "",
        chances=chances(body.get("logprobs")),
    )
