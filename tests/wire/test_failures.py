"""What happens when a vendor does not answer, or refuses."""

from __future__ import annotations

import asyncio

import pytest

from tests.wire.server import serving
from toolsearch.chat import ChatRequest
from toolsearch.conversation import UserMessage
from toolsearch.errors import ModelFailed
from toolsearch.llm.opening import open_model

NAMES = {
    "openai-chat": ("/v1", "gpt-4.1"),
    "openai": ("/v1", "gpt-5.4"),
    "anthropic": ("", "claude-x"),
    "ollama": ("", "qwen3"),
}


def named(provider: str, url: str) -> str:
    path, model = NAMES[provider]
    return f"{provider}:{url}{path}#{model}"


@pytest.mark.parametrize("provider", list(NAMES))
def test_busy_servers_are_asked_again(provider: str) -> None:
    """After 503 and 429 the third try answers."""
    with serving(503, 429, "ok") as vendor:
        model = open_model(named(provider, vendor.url))
        object.__setattr__(model, "backoff", 0.0)
        assert asyncio.run(model.chat([UserMessage("hi")])).text == "ok"
    assert len(vendor.bodies) == 3


@pytest.mark.parametrize("provider", list(NAMES))
@pytest.mark.parametrize("streaming", [False, True])
def test_a_refusal_is_one_error(provider: str, streaming: bool) -> None:
    """A 401 is not repeated, and says its status."""

    async def ask(name: str) -> None:
        model = open_model(name)
        request = ChatRequest(messages=(UserMessage("hi"),))
        if streaming:
            _ = [event async for event in model.stream(request)]
        else:
            await model.ask(request)

    with serving(401) as vendor, pytest.raises(ModelFailed) as failed:
        asyncio.run(ask(named(provider, vendor.url)))
    assert failed.value.status == 401
    assert len(vendor.bodies) == 1


@pytest.mark.parametrize("provider", list(NAMES))
def test_a_server_that_is_not_there(provider: str) -> None:
    """A refused connection is a ModelFailed that may heal."""
    model = open_model(named(provider, "http://127.0.0.1:9"), retries=0)
    with pytest.raises(ModelFailed) as failed:
        asyncio.run(model.chat([UserMessage("hi")]))
    assert failed.value.retry
