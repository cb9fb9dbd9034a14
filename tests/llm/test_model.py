"""A model as it is used: repetition, time limits, defaults, and checks before anything is sent."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from toolsearch.chat import ChatEvent, ChatOptions, ChatRequest, ChatResponse, Features, TextDelta
from toolsearch.conversation import AssistantMessage, Media, ToolResult, UserMessage
from toolsearch.errors import (
    DuplicateTool,
    InvalidInput,
    InvalidTool,
    ModelFailed,
    ToolsUnsupported,
    UnsupportedContent,
)
from toolsearch.llm.model import Model, merged
from toolsearch.llm.opening import open_model
from toolsearch.testing.models import ScriptedModel, call
from toolsearch.tool import ToolSpec

BUSY = ModelFailed("busy", status=429, retry=True, wait=0.0)
ASKED = ChatRequest(messages=(UserMessage("hi"),))


def asked(model: Model, **more: Any) -> ChatResponse:
    return asyncio.run(model.chat([UserMessage("hi")], **more))


async def streamed(model: Model) -> list[ChatEvent]:
    return [event async for event in model.stream(ASKED)]


def test_two_repetitions() -> None:
    """Busy twice is no matter, three times is; a refusal is not repeated."""
    assert asked(Model(adapter=ScriptedModel(BUSY, BUSY, "ok"))).text == "ok"
    for line, requests in ((BUSY, 3), (ModelFailed("no", status=400), 1)):
        adapter = ScriptedModel(line, line, line)
        with pytest.raises(ModelFailed):
            asked(Model(adapter=adapter))
        assert len(adapter.requests) == requests


def test_a_stream_is_repeated_only_before_it_begins() -> None:
    """Once a piece came out the error does too."""
    events = asyncio.run(streamed(Model(adapter=ScriptedModel(BUSY, "hello there"))))
    assert isinstance(events[-1], ChatResponse)
    broken = Breaking()
    with pytest.raises(ModelFailed):
        asyncio.run(streamed(Model(adapter=broken)))
    assert broken.tries == 1


class Breaking:
    """Breaks off after its first piece, and never answers when asked whole."""

    features = Features()
    tries = 0

    async def ask(self, request: ChatRequest) -> ChatResponse:
        self.tries += 1
        await asyncio.sleep(30)
        raise ModelFailed("unreachable")

    async def stream(self, request: ChatRequest) -> AsyncIterator[ChatEvent]:
        self.tries += 1
        yield TextDelta("he")
        raise BUSY


def test_a_request_has_its_time() -> None:
    """A model that does not answer is tried again and then given up."""
    adapter = Breaking()
    with pytest.raises(ModelFailed, match=r"did not answer within 0.01 seconds"):
        asked(Model(adapter=adapter, timeout=0.01, backoff=0))
    assert adapter.tries == 3


def test_defaults_and_requests_are_merged() -> None:
    """A request goes before the model's defaults, also with values such as 0 and False."""
    defaults = ChatOptions(temperature=1.0, parallel_tool_calls=True, tool_choice="none", more={"a": 1, "b": 1})
    own = ChatOptions(temperature=0.0, parallel_tool_calls=False, more={"b": 2})
    done = merged(defaults, own)
    assert (done.temperature, done.parallel_tool_calls, done.tool_choice) == (0.0, False, "none")
    assert done.more == {"a": 1, "b": 2}


SPEC, IMAGE = ToolSpec(name="t"), UserMessage([Media(media_type="image/png", data="AA==")])


@pytest.mark.parametrize(
    ("features", "more", "error"),
    [
        (Features(tools=False), {"tools": [SPEC]}, ToolsUnsupported),
        (Features(max_tools=1), {"tools": [SPEC, ToolSpec(name="u")]}, ToolsUnsupported),
        (Features(), {"tools": [SPEC, SPEC.with_(namespace="n")]}, DuplicateTool),
        (Features(), {"tools": [ToolSpec(name="a b")]}, InvalidTool),
        (Features(), {"tools": [ToolSpec(name="x" * 65)]}, InvalidTool),
        (Features(names="ollama"), {"tools": [ToolSpec(name="3d")]}, InvalidTool),
        (Features(forced=()), {"tools": [SPEC], "options": ChatOptions(tool_choice="required")}, ToolsUnsupported),
        (Features(), {"tools": [SPEC], "options": ChatOptions(tool_choice="u")}, ToolsUnsupported),
        (Features(), {"options": ChatOptions(tool_choice="required")}, ToolsUnsupported),
        (Features(), {"messages": [IMAGE]}, UnsupportedContent),
    ],
)
def test_what_a_model_cannot_take_is_refused_before_sending(features: Features, more: Any, error: Any) -> None:
    """Nothing reaches the provider."""
    adapter = ScriptedModel("ok", features=features)
    messages = more.pop("messages", [UserMessage("hi")]) if "messages" in more else [UserMessage("hi")]
    with pytest.raises(error):
        asyncio.run(Model(adapter=adapter).chat(messages, **more))
    assert not adapter.requests


def test_a_loop_of_your_own() -> None:
    """Chat, calls and results are enough to write one."""

    async def run() -> str:
        model = Model(adapter=ScriptedModel([call("double", n=21)], "it is 42"))
        messages: list[Any] = [UserMessage("double 21")]
        tool = ToolSpec(name="double", parameters={"type": "object", "properties": {"n": {"type": "integer"}}})
        while True:
            response = await model.chat(messages, tools=[tool])
            messages.append(response.message)
            if not response.tool_calls:
                return response.text
            messages += [ToolResult.for_call(one, "42") for one in response.tool_calls]

    assert asyncio.run(run()) == "it is 42"


@pytest.mark.parametrize("name", ["gpt-5.4", "acme:model", "openai:", "openai:http://127.0.0.1:1/v1"])
def test_names_of_models_are_checked(name: str) -> None:
    """A name of another form is refused with the form."""
    with pytest.raises(InvalidInput, match="PROVIDER"):
        open_model(name)


def test_an_answer_with_thoughts_is_plain_data() -> None:
    """What a provider wants back verbatim is kept with the message."""
    said = AssistantMessage("x", (), {"anthropic": [{"type": "thinking"}]})
    assert asked(Model(adapter=ScriptedModel(said))).message == said
