"""Answers that break off or make no sense: an error of ours, and never half an answer that is taken for a whole one."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from toolsearch.chat import CallComplete, ChatResponse
from toolsearch.conversation import UserMessage
from toolsearch.errors import ModelFailed
from toolsearch.llm.model import Model
from toolsearch.llm.opening import open_model

NAMES = {
    "chat": "openai-chat:{}/v1#m",
    "responses": "openai:{}/v1#m",
    "anthropic": "anthropic:{}#m",
    "ollama": "ollama:{}#m",
}
JSON, EVENTS = "application/json", "text/event-stream"
STARTED = {"index": 0, "id": "1", "type": "function", "function": {"name": "wipe", "arguments": ""}}


class Server:
    """Answers every request with the same bytes."""

    def __init__(self) -> None:
        self.url, self.kind, self.body = "", JSON, b""

    def model(self, route: str) -> Model:
        return open_model(NAMES[route].format(self.url), retries=0)


@pytest.fixture
def server() -> Iterator[Server]:
    """On a free port of this machine."""
    given = Server()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(200)
            self.send_header("Content-Type", given.kind)
            self.send_header("Content-Length", str(len(given.body)))
            self.end_headers()
            self.wfile.write(given.body)

        def log_message(self, *_: object) -> None:
            return

    listening = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=listening.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    given.url = f"http://127.0.0.1:{listening.server_address[1]}"
    yield given
    listening.shutdown()
    thread.join()
    listening.server_close()


def whole(model: Model) -> ChatResponse:
    async def asked() -> ChatResponse:
        try:
            return await model.chat([UserMessage("?")])
        finally:
            await model.close()

    return asyncio.run(asked())


def streamed(model: Model) -> list[Any]:
    async def asked() -> list[Any]:
        from toolsearch.chat import ChatRequest

        try:
            return [event async for event in model.stream(ChatRequest(messages=(UserMessage("?"),)))]
        finally:
            await model.close()

    return asyncio.run(asked())


@pytest.mark.parametrize("body", [b"<html>Sign in</html>", b"[]", b"{nope"], ids=["page", "list", "broken"])
@pytest.mark.parametrize("route", NAMES)
def test_an_answer_that_makes_no_sense(server: Server, route: str, body: bytes) -> None:
    """The page of a proxy and the like are told as what they are."""
    server.kind, server.body = "text/html" if body.startswith(b"<") else JSON, body
    with pytest.raises(ModelFailed, match="cannot be read"):
        whole(server.model(route))


def events(*chunks: dict[str, Any]) -> bytes:
    return b"".join(f"data: {json.dumps(one)}\n\n".encode() for one in chunks)


def chunk(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}


@pytest.mark.parametrize("delta", [{"content": "Half"}, {"tool_calls": [STARTED]}], ids=["text", "call"])
def test_a_chat_stream_that_breaks_off(server: Server, delta: dict[str, Any]) -> None:
    """Neither half a text is an answer, nor the name of a tool a call without arguments."""
    server.kind, server.body = EVENTS, events(chunk(delta))
    with pytest.raises(ModelFailed, match="ended before"):
        streamed(server.model("chat"))


def test_an_ollama_stream_that_breaks_off(server: Server) -> None:
    """The same there."""
    line = {"model": "m", "created_at": "2026-01-01T00:00:00Z", "message": {"role": "assistant", "content": "Half"}}
    server.kind, server.body = "application/x-ndjson", json.dumps({**line, "done": False}).encode() + b"\n"
    with pytest.raises(ModelFailed, match="ended before"):
        streamed(server.model("ollama"))


CALLED = {"id": "1", "type": "function", "function": {"name": "wipe", "arguments": ""}}
CUT: dict[str, Any] = {
    "chat": {
        "choices": [{"index": 0, "finish_reason": "length", "message": {"role": "assistant", "tool_calls": [CALLED]}}]
    },
    "responses": {
        "status": "incomplete",
        "output": [{"type": "function_call", "call_id": "1", "name": "wipe", "arguments": ""}],
    },
    "anthropic": {
        "stop_reason": "max_tokens",
        "content": [{"type": "tool_use", "id": "1", "name": "wipe", "input": {}}],
    },
    "ollama": {
        "done_reason": "length",
        "message": {"role": "assistant", "tool_calls": [{"function": {"name": "wipe", "arguments": {}}}]},
    },
}


@pytest.mark.parametrize("route", NAMES)
def test_an_answer_that_reached_its_bound_says_so(server: Server, route: str) -> None:
    """Though it holds a call, which then may not be whole."""
    server.body = json.dumps(CUT[route]).encode()
    found = whole(server.model(route))
    assert (found.finish, [one.name for one in found.tool_calls]) == ("length", ["wipe"])


def test_half_characters_of_a_stream_are_joined(server: Server) -> None:
    """A character that came in two pieces is one again."""
    halves = (chunk({"content": "\ud83d"}), chunk({"content": "\ude80"}), chunk({}, "stop"))
    server.kind, server.body = EVENTS, events(*halves)
    found = streamed(server.model("chat"))
    assert found[-1].text == "🚀"
    assert not any(isinstance(one, CallComplete) for one in found)
