"""Anthropic Messages, with references to found tools, so that the cached list of tools never changes."""

from __future__ import annotations

import os
import re
from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from toolsearch.chat import ChatEvent, ChatOptions, ChatRequest, ChatResponse, Features, TextDelta
from toolsearch.conversation import (
    AssistantMessage,
    Media,
    Message,
    Part,
    Reference,
    SystemMessage,
    ToolCall,
    ToolResult,
    Usage,
    UserMessage,
)
from toolsearch.errors import ModelFailed
from toolsearch.llm.clients import Clients, here
from toolsearch.llm.failures import sdk, translated
from toolsearch.llm.written import Calls, as_object, as_text, call_id, extras, finish, system_text
from toolsearch.streams import closing
from toolsearch.tool import Json, ToolSpec

PROVIDER: Final = "anthropic"
"""Key of what a message keeps verbatim: all its blocks, for thoughts are signed."""
MAX_TOKENS: Final = 8_192
"""The API needs a bound; this one holds where none is given."""
EARLIER: Final = "(Earlier messages are not shown.)"
"""Stands in for a question that has left the conversation, for the first message must be a user's."""
NOTHING: Final = "(nothing)"
FINISH: Final = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_use": "tool_calls",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "refusal",
}
NEVER_FORCED: Final = re.compile(r"claude-(?:(?:opus|sonnet)-5[-.]5|(?:fable|mythos)-5[-.][1-9])")
"""Models that refuse a forced tool choice."""


@dataclass(frozen=True, slots=True)
class Anthropic:
    """A model behind `/v1/messages`; `client` is an `anthropic.AsyncAnthropic`, or `Clients` of it."""

    model: str
    client: Any = field(repr=False)
    features: Features

    @classmethod
    def open(cls, model: str, url: str = "") -> Anthropic:
        """A model by name; the key comes from ANTHROPIC_API_KEY.

        Raises:
            MissingExtra: the SDK is not installed.
        """
        anthropic = sdk("anthropic", "anthropic")
        return cls(model, Clients(lambda: _client(anthropic, url), (anthropic.AnthropicError,)), features_of(model))

    async def ask(self, request: ChatRequest) -> ChatResponse:
        """One answer.

        Raises:
            ModelFailed: the server did not answer, or refused the request.
        """
        anthropic = sdk("anthropic", "anthropic")
        with translated("Anthropic", (anthropic.APIError,)):
            answer = await here(self.client).messages.create(**render(request, self.model))
            return parse(answer.to_dict())

    async def stream(self, request: ChatRequest) -> AsyncIterator[ChatEvent]:
        """The answer in pieces; raises as `ask` does."""
        anthropic = sdk("anthropic", "anthropic")
        pieces = _Pieces()
        with translated("Anthropic", (anthropic.APIError,)):
            stream = await here(self.client).messages.create(**render(request, self.model), stream=True)
            async with closing(stream) as chunks:
                async for chunk in chunks:
                    for event in pieces.take(chunk.to_dict()):
                        yield event


def _client(anthropic: Any, url: str) -> Any:
    """A client of the SDK; one without a key would raise a TypeError only when it asks. Other servers may need none."""
    more: Json = {"base_url": url, "api_key": os.environ.get("ANTHROPIC_API_KEY") or "none"} if url else {}
    made = anthropic.AsyncAnthropic(max_retries=0, timeout=None, **more)
    if not (made.api_key or made.auth_token or getattr(made, "credentials", None)):
        raise anthropic.AnthropicError("set ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN")
    return made


def features_of(model: str) -> Features:
    """What a model can take."""
    media = ("image", "application")
    forced = () if NEVER_FORCED.match(model) else ("required", "tool")
    return Features(
        names="anthropic", media=media, result_media=media, native_search=True, max_tools=10_000, forced=forced
    )


def render(request: ChatRequest, model: str) -> Json:
    """The body of a request. The list that never changes is cached, and what was said so far."""
    options = request.options
    body: Json = {
        "model": model,
        "max_tokens": options.max_tokens or MAX_TOKENS,
        "messages": _messages(request.messages),
    }
    system = system_text(request.messages)
    if system:
        body["system"] = system
    tools = [_tool(spec, options) for spec in request.tools]
    if tools:
        tools[-1]["cache_control"] = {"type": "ephemeral"}
        body["cache_control"] = {"type": "ephemeral"}
        body["tools"] = tools + [{**_tool(spec, options), "defer_loading": True} for spec in request.deferred]
        chosen = _choice(options)
        if chosen:
            body["tool_choice"] = chosen
    if options.temperature is not None:
        body["temperature"] = options.temperature
    return {**body, **options.more}


def _choice(options: ChatOptions) -> Json | None:
    words = {"auto": "auto", "none": "none", "required": "any"}
    choice = options.tool_choice or ("auto" if options.parallel_tool_calls is False else None)
    if choice is None:
        return None
    body: Json = {"type": words[choice]} if choice in words else {"type": "tool", "name": choice}
    if options.parallel_tool_calls is False and choice != "none":
        body["disable_parallel_tool_use"] = True
    return body


def _tool(spec: ToolSpec, options: ChatOptions) -> Json:
    body: Json = {"name": spec.name, "description": spec.description, "input_schema": spec.parameters}
    return {**body, **extras(spec, options.metadata_keys)}


def _messages(messages: Sequence[Message]) -> list[Json]:
    """User and assistant in turns; the results of a round open the one user message that follows it."""
    found: list[Json] = []
    for message in messages:
        if isinstance(message, SystemMessage):
            continue
        role = "assistant" if isinstance(message, AssistantMessage) else "user"
        if not found and role == "assistant":
            found.append({"role": "user", "content": [{"type": "text", "text": EARLIER}]})
        blocks = _blocks(message)
        if found and found[-1]["role"] == role:
            found[-1]["content"] += blocks
        else:
            found.append({"role": role, "content": blocks})
    return found


def _blocks(message: Message) -> list[Json]:
    if isinstance(message, UserMessage):
        return [_block(part) for part in message.content] or [{"type": "text", "text": NOTHING}]
    if isinstance(message, ToolResult):
        content = [_block(part) for part in message.content]
        result: Json = {"type": "tool_result", "tool_use_id": message.call_id}
        result["content"] = content or [{"type": "text", "text": NOTHING}]
        return [{**result, "is_error": True} if message.is_error else result]
    if not isinstance(message, AssistantMessage):
        return []
    kept: list[Json] = message.verbatim.get(PROVIDER) or []
    if kept:
        return list(kept)
    blocks: list[Json] = [{"type": "text", "text": message.text}] if message.text.strip() else []
    blocks += [
        {"type": "tool_use", "id": one.id, "name": one.name, "input": as_object(one.arguments)} for one in message.calls
    ]
    return blocks or [{"type": "text", "text": NOTHING}]


def _block(part: Part) -> Json:
    if isinstance(part, Reference):
        return {"type": "tool_reference", "tool_name": part.name}
    if not isinstance(part, Media):
        return {"type": "text", "text": part.text if part.text.strip() else NOTHING}
    source: Json = {"type": "base64", "media_type": part.media_type, "data": part.data}
    if part.uri:
        source = {"type": "url", "url": part.uri}
    return {"type": "image" if part.kind == "image" else "document", "source": source}


def parse(body: Json) -> ChatResponse:
    """The answer in a response's JSON."""
    blocks: list[Json] = body.get("content") or []
    calls = tuple(
        ToolCall(call_id(one.get("id")), one.get("name", ""), as_text(one.get("input") or {}))
        for one in blocks
        if one.get("type") == "tool_use"
    )
    text = "".join(one.get("text", "") for one in blocks if one.get("type") == "text")
    plain_kinds = all(one.get("type") in ("text", "tool_use") for one in blocks)
    verbatim: Json = {} if plain_kinds else {PROVIDER: blocks}
    return ChatResponse(
        message=AssistantMessage(text, calls, verbatim),
        usage=usage(body.get("usage")),
        finish=finish(FINISH.get(body.get("stop_reason", ""), "other"), calls),
        model=body.get("model", ""),
    )


def usage(body: Json | None) -> Usage:
    """Tokens of a response; the API counts cached ones apart from the others."""
    known = body or {}
    cached, written = (known.get(f"cache_{kind}_input_tokens") or 0 for kind in ("read", "creation"))
    return Usage(
        input_tokens=(known.get("input_tokens") or 0) + cached + written,
        output_tokens=known.get("output_tokens") or 0,
        cached_tokens=cached,
        written_tokens=written,
    )


class _Pieces:
    """A streamed answer, put together block by block."""

    def __init__(self) -> None:
        self._message: Json = {}
        self._blocks: dict[int, Json] = {}
        self._calls = Calls()

    def take(self, event: Json) -> Iterable[ChatEvent]:
        index: int = event.get("index") or 0
        match event.get("type"):
            case "message_start":
                self._message = dict(event["message"])
            case "content_block_start":
                self._start(index, event["content_block"])
            case "content_block_delta":
                yield from self._delta(index, event["delta"])
            case "content_block_stop" if self._calls.known(index):
                done = self._calls.done(index)
                self._blocks[index]["input"] = as_object(done.call.arguments)
                yield done
            case "message_delta":
                self._message |= {key: value for key, value in event["delta"].items() if value is not None}
                self._message["usage"] = {**(self._message.get("usage") or {}), **(event.get("usage") or {})}
            case "message_stop":
                yield parse({**self._message, "content": [self._blocks[place] for place in sorted(self._blocks)]})
            case "error":
                raise ModelFailed(f"Anthropic: {event.get('error')}"[:500])
            case _:
                return

    def _start(self, index: int, block: Json) -> None:
        self._blocks[index] = dict(block)
        if block.get("type") == "tool_use":
            self._blocks[index]["id"] = call_id(block.get("id"))
            self._calls.start(index, block.get("name", ""), self._blocks[index]["id"])

    def _delta(self, index: int, delta: Json) -> Iterable[ChatEvent]:
        block = self._blocks[index]
        match delta.get("type"):
            case "text_delta":
                block["text"] = block.get("text", "") + delta["text"]
                yield TextDelta(delta["text"])
            case "input_json_delta":
                if delta["partial_json"]:
                    yield self._calls.add(index, delta["partial_json"])
            case "thinking_delta":
                block["thinking"] = block.get("thinking", "") + delta["thinking"]
            case "signature_delta":
                block["signature"] = delta["signature"]
            case _:
                return
