"""OpenAI Responses, with its client-side tool search: found tools come in through the history, not the tool list."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from toolsearch.chat import ChatEvent, ChatOptions, ChatRequest, ChatResponse, Features, TextDelta, TokenChance
from toolsearch.conversation import (
    AssistantMessage,
    Media,
    Message,
    Part,
    Reference,
    Text,
    ToolCall,
    ToolResult,
    UserMessage,
)
from toolsearch.errors import ModelFailed
from toolsearch.llm.clients import here
from toolsearch.llm.failures import sdk, translated
from toolsearch.llm.openai_chat import REASONING, client, url, usage
from toolsearch.llm.written import (
    Calls,
    as_object,
    as_text,
    call_id,
    chances,
    finish,
    function,
    given,
    names_a_tool,
    plain,
    system_text,
)
from toolsearch.streams import closing
from toolsearch.tool import Json, ToolSpec

PROVIDER: Final = "openai_responses"
"""Key of what a message keeps verbatim: reasoning items, and the namespaces of calls."""
FIRST_WITH_SEARCH: Final = (5, 4)
"""The first GPT version that knows tool_search."""


@dataclass(frozen=True, slots=True)
class OpenAIResponses:
    """A model behind `/responses`; `client` is an `openai.AsyncOpenAI`, or `Clients` of it."""

    model: str
    client: Any = field(repr=False)
    features: Features

    @classmethod
    def open(cls, model: str, url: str = "") -> OpenAIResponses:
        """A model by name; the key comes from OPENAI_API_KEY.

        Raises:
            MissingExtra: the SDK is not installed.
        """
        return cls(model, client(url), features_of(model))

    async def ask(self, request: ChatRequest) -> ChatResponse:
        """One answer.

        Raises:
            ModelFailed: the server did not answer, or refused the request.
        """
        openai = sdk("openai", "openai")
        with translated("OpenAI", (openai.APIError,)):
            answer = await here(self.client).responses.create(**render(request, self.model))
            return parse(answer.to_dict(), request.search)

    async def stream(self, request: ChatRequest) -> AsyncIterator[ChatEvent]:
        """The answer in pieces; raises as `ask` does."""
        openai = sdk("openai", "openai")
        pieces = _Pieces(request.search)
        with translated("OpenAI", (openai.APIError,)):
            stream = await here(self.client).responses.create(**render(request, self.model), stream=True)
            async with closing(stream) as chunks:
                async for chunk in chunks:
                    for event in pieces.take(chunk.to_dict()):
                        yield event


def features_of(model: str) -> Features:
    """What a model can take; tool_search from gpt-5.4 on, the nano models left out."""
    version = re.match(r"gpt-(\d+)(?:\.(\d+))?", model)
    searches = version is not None and (int(version[1]), int(version[2] or 0)) >= FIRST_WITH_SEARCH
    return Features(
        names="openai",
        media=("image",),
        result_media=("image",),
        native_search=searches and "nano" not in model,
        logprobs=not REASONING.match(model),
    )


def render(request: ChatRequest, model: str) -> Json:
    """The body of a request."""
    body: Json = {"model": model, "input": _input(request)}
    system = system_text(request.messages)
    if system:
        body["instructions"] = system
    if request.tools:
        body["tools"] = [_declared(spec, request) for spec in request.tools]
    options = request.options
    more: Json = {"max_output_tokens": options.max_tokens, "temperature": options.temperature}
    if request.tools:
        wanted = options.tool_choice
        more["tool_choice"] = {"type": "function", "name": wanted} if names_a_tool(wanted) else wanted
        more["parallel_tool_calls"] = options.parallel_tool_calls
    if options.logprobs is not None:
        more |= {"top_logprobs": options.logprobs, "include": ["message.output_text.logprobs"]}
    return {**body, **given(more), **options.more}


def _declared(spec: ToolSpec, request: ChatRequest) -> Json:
    if spec.name == request.search:
        return {
            "type": "tool_search",
            "execution": "client",
            "description": spec.description,
            "parameters": spec.parameters,
        }
    return _tool(spec, request.options)


def _tool(spec: ToolSpec, options: ChatOptions) -> Json:
    return {"type": "function", "strict": False, **function(spec, options.metadata_keys)}


def _input(request: ChatRequest) -> list[Json]:
    """The history as items. Tools that came in otherwise than by a search follow the results of their round."""
    found: list[Json] = []
    later: list[Json] = []
    deferred = {spec.name: {**_tool(spec, request.options), "defer_loading": True} for spec in request.deferred}
    for message in request.messages:
        if isinstance(message, ToolResult):
            items, after = _result(message, request.search, deferred)
            found += items
            later += after
            continue
        found += later
        later = []
        found += _items(message, request.search)
    return found + later


def _items(message: Message, search: str) -> list[Json]:
    if isinstance(message, UserMessage):
        return [{"role": "user", "content": [_part(part, "input") for part in message.content]}]
    if not isinstance(message, AssistantMessage):
        return []
    kept: Json = message.verbatim.get(PROVIDER) or {}
    items: list[Json] = list(kept.get("reasoning", []))
    if message.text or not message.calls:
        items.append({"role": "assistant", "content": message.text})
    return items + [_called(one, search, kept.get("namespaces", {})) for one in message.calls]


def _called(call: ToolCall, search: str, namespaces: Mapping[str, str]) -> Json:
    if search and call.name == search:
        return {
            "type": "tool_search_call",
            "call_id": call.id,
            "execution": "client",
            "status": "completed",
            "arguments": as_object(call.arguments),
        }
    item: Json = {"type": "function_call", "call_id": call.id, "name": call.name, "arguments": call.arguments}
    return {**item, "namespace": namespaces[call.id]} if call.id in namespaces else item


def _result(message: ToolResult, search: str, deferred: Mapping[str, Json]) -> tuple[list[Json], list[Json]]:
    """A result as an item, and what has to follow the results of its round."""
    names = [part.name for part in message.content if isinstance(part, Reference)]
    tools = [deferred[name] for name in names if name in deferred]
    if search and message.name == search:
        output: Json = {"type": "tool_search_output", "call_id": message.call_id, "execution": "client"}
        said: list[Json] = [] if tools else [{"role": "developer", "content": plain(message.content)}]
        return [{**output, "status": "completed", "tools": tools}], said
    shown = [part for part in message.content if not isinstance(part, Reference)]
    only_text = all(isinstance(part, Text) for part in shown)
    content: Any = plain(shown) if only_text else [_part(part, "input") for part in shown]
    item: Json = {"type": "function_call_output", "call_id": message.call_id, "output": content}
    loaded = [{key: value for key, value in tool.items() if key != "defer_loading"} for tool in tools]
    return [item], [{"type": "additional_tools", "role": "developer", "tools": loaded}] if loaded else []


def _part(part: Part, prefix: str) -> Json:
    if isinstance(part, Media):
        return {"type": f"{prefix}_image", "image_url": url(part), "detail": "auto"}
    return {"type": f"{prefix}_text", "text": plain([part])}


def parse(body: Json, search: str) -> ChatResponse:
    """The answer in a response's JSON; a client-side search becomes a call of the search tool.

    Raises:
        ModelFailed: the response says that it failed.
    """
    if body.get("status") == "failed":
        error: Json = body.get("error") or {}
        raise ModelFailed(f"OpenAI: {error.get('message') or error}"[:500], retry=error.get("code") == "server_error")
    texts: list[str] = []
    calls: list[ToolCall] = []
    kept: Json = {"reasoning": [], "namespaces": {}}
    for item in body.get("output") or ():
        _take(item, search, (texts, calls), kept)
    verbatim = {PROVIDER: {key: value for key, value in kept.items() if value}} if any(kept.values()) else {}
    message = AssistantMessage("".join(texts), tuple(calls), verbatim)
    return ChatResponse(
        message=message,
        usage=usage(body.get("usage"), "input", "output"),
        finish=finish("length" if body.get("status") == "incomplete" else "stop", calls),
        model=body.get("model", ""),
        chances=_chances(body),
    )


def _chances(body: Json) -> tuple[TokenChance, ...]:
    messages: list[Json] = [item for item in body.get("output") or () if item.get("type") == "message"]
    return chances(row for one in messages for part in one.get("content") or () for row in part.get("logprobs") or ())


def _take(item: Json, search: str, found: tuple[list[str], list[ToolCall]], kept: Json) -> None:
    texts, calls = found
    match item.get("type"):
        case "message":
            texts += [part.get("text") or part.get("refusal") or "" for part in item.get("content") or ()]
        case "function_call":
            call = ToolCall(call_id(item.get("call_id")), item.get("name", ""), item.get("arguments") or "{}")
            calls.append(call)
            if item.get("namespace"):
                kept["namespaces"][call.id] = item["namespace"]
        case "tool_search_call" if item.get("execution") == "client":
            calls.append(ToolCall(call_id(item.get("call_id")), search, as_text(item.get("arguments") or {})))
        case "reasoning":
            kept["reasoning"].append(item)
        case _:
            return


class _Pieces:
    """A streamed answer: pieces as they come, the whole from the last event."""

    def __init__(self, search: str) -> None:
        self._search = search
        self._calls = Calls()

    def take(self, event: Json) -> Iterable[ChatEvent]:
        item: Json = event.get("item") or {}
        index: int = event.get("output_index") or 0
        match event.get("type"):
            case "response.output_text.delta":
                yield TextDelta(event.get("delta", ""))
            case "response.output_item.added" if item.get("type") == "function_call":
                self._calls.start(index, item.get("name", ""), item.get("call_id"))
            case "response.function_call_arguments.delta":
                yield self._calls.add(index, event.get("delta", ""))
            case "response.output_item.done" if item.get("type") == "function_call" and self._calls.known(index):
                yield self._calls.done(index)
            case "response.completed" | "response.incomplete" | "response.failed":
                yield parse(event.get("response") or {}, self._search)
            case "error":
                raise ModelFailed(f"OpenAI: {event.get('message')}"[:500])
            case _:
                return
