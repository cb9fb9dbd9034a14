"""What each provider's adapter writes and reads."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from toolsearch.chat import ChatOptions, ChatRequest
from toolsearch.conversation import (
    AssistantMessage,
    Media,
    Reference,
    SystemMessage,
    ToolCall,
    ToolResult,
    Usage,
    UserMessage,
)
from toolsearch.errors import MissingExtra, ModelFailed
from toolsearch.llm import anthropic, failures, ollama, openai_chat, openai_responses
from toolsearch.llm.opening import open_model
from toolsearch.tool import ToolSpec

CALL = ToolCall("c1", "weigh", '{"parcel": "p"}')
IMAGE = Media(media_type="image/png", data="AA==")
SPEC = ToolSpec(name="weigh", description="Weigh", metadata={"cost": 3, "secret": 1})
MODULES: list[Any] = [anthropic, ollama, openai_chat, openai_responses]


def asked(**more: Any) -> ChatRequest:
    messages = (UserMessage("?"), AssistantMessage("", (CALL,)), ToolResult.for_call(CALL, "3 kg"))
    return ChatRequest(messages=more.pop("messages", messages), **more)


@pytest.mark.parametrize("module", MODULES)
def test_metadata_is_sent_only_when_named(module: Any) -> None:
    """No key of a tool's metadata leaves without being asked for."""
    assert "cost" not in json.dumps(module.render(asked(tools=(SPEC,)), "m"))
    named = json.dumps(module.render(asked(tools=(SPEC,), options=ChatOptions(metadata_keys=("cost",))), "m"))
    assert '"cost": 3' in named
    assert "secret" not in named


@pytest.mark.parametrize("module", MODULES)
def test_the_same_request_gives_the_same_bytes(module: Any) -> None:
    """Rendering is deterministic."""
    request = asked(tools=(SPEC,))
    assert json.dumps(module.render(request, "m")) == json.dumps(module.render(request, "m"))


@pytest.mark.parametrize(
    ("module", "choice", "written"),
    [
        (openai_chat, "required", "required"),
        (openai_chat, "weigh", {"type": "function", "function": {"name": "weigh"}}),
        (openai_responses, "weigh", {"type": "function", "name": "weigh"}),
        (openai_responses, "none", "none"),
        (anthropic, "required", {"type": "any", "disable_parallel_tool_use": True}),
        (anthropic, "weigh", {"type": "tool", "name": "weigh", "disable_parallel_tool_use": True}),
        (anthropic, "none", {"type": "none"}),
        (anthropic, None, {"type": "auto", "disable_parallel_tool_use": True}),
    ],
)
def test_tool_choice(module: Any, choice: str | None, written: Any) -> None:
    """Each provider's own form of a choice, with parallel calls off."""
    options = ChatOptions(tool_choice=choice, parallel_tool_calls=False)
    assert module.render(asked(tools=(SPEC,), options=options), "m")["tool_choice"] == written


def test_missing_call_ids_are_made() -> None:
    """Two calls without ids get two."""
    body = {"function": {"name": "weigh", "arguments": {"a": 1}}}
    chat = openai_chat.parse({"choices": [{"message": {"tool_calls": [{**body, "id": ""}, body]}}]})
    own = ollama.parse({"message": {"tool_calls": [body, body]}})
    for response in (chat, own):
        first, second = response.tool_calls
        assert first.id != second.id
        assert first.id
        assert json.loads(first.arguments) == {"a": 1}


@pytest.mark.parametrize("arguments", ["not json", "[1]", "", '{"a": 1}'])
def test_broken_arguments_stay_valid_requests(arguments: str) -> None:
    """Where a provider wants an object, broken arguments of the history become one."""
    broken = ToolCall("c", "weigh", arguments)
    messages = (UserMessage("?"), AssistantMessage("", (broken,)), ToolResult.for_call(broken, "no", is_error=True))
    rendered = anthropic.render(asked(messages=messages), "m")["messages"][1]["content"][0]["input"]
    assert isinstance(rendered, dict)
    assert isinstance(
        ollama.render(asked(messages=messages), "m")["messages"][1]["tool_calls"][0]["function"]["arguments"], dict
    )
    assert (
        openai_chat.render(asked(messages=messages), "m")["messages"][1]["tool_calls"][0]["function"]["arguments"]
        == arguments
    )


def test_media_in_each_form() -> None:
    """Images go where each provider wants them; a provider without them gets none."""
    messages = (UserMessage([IMAGE]), AssistantMessage("", (CALL,)), ToolResult.for_call(CALL, [IMAGE]))
    request = asked(messages=messages)
    source = {"type": "base64", "media_type": "image/png", "data": "AA=="}
    blocks = anthropic.render(request, "m")["messages"]
    assert blocks[0]["content"][0] == {"type": "image", "source": source}
    assert blocks[2]["content"][0]["content"][0] == {"type": "image", "source": source}
    url = "data:image/png;base64,AA=="
    assert openai_chat.render(request, "m")["messages"][0]["content"][0]["image_url"] == {"url": url}
    items = openai_responses.render(request, "m")["input"]
    assert items[0]["content"][0]["image_url"] == url
    assert items[2]["output"][0]["image_url"] == url
    assert ollama.render(request, "m")["messages"][0]["images"] == ["AA=="]


def test_references_and_the_order_of_results() -> None:
    """A round's results open one user message, in one piece with what the user says next."""
    other = ToolCall("c2", "find")
    messages = (
        SystemMessage("s"),
        AssistantMessage("", (CALL, other)),
        ToolResult.for_call(CALL, ""),
        ToolResult.for_call(other, [Reference("weigh")]),
        UserMessage("and?"),
    )
    body = anthropic.render(asked(messages=messages, tools=(SPEC,)), "m")
    assert [one["role"] for one in body["messages"]] == ["user", "assistant", "user"]
    kinds = [one["type"] for one in body["messages"][2]["content"]]
    assert kinds == ["tool_result", "tool_result", "text"]
    assert body["messages"][2]["content"][0]["content"] == [{"type": "text", "text": "(nothing)"}]


def test_the_namespace_of_a_call_goes_back() -> None:
    """Responses wants it verbatim, and reasoning before the call."""
    output = [
        {"type": "reasoning", "id": "r", "summary": []},
        {"type": "function_call", "call_id": "c", "name": "weigh", "arguments": "{}", "namespace": "weigh"},
    ]
    response = openai_responses.parse({"status": "completed", "output": output}, "")
    request = asked(messages=(UserMessage("?"), response.message, ToolResult.for_call(response.tool_calls[0], "x")))
    items = openai_responses.render(request, "m")["input"]
    assert items[1] == output[0]
    assert items[2]["namespace"] == "weigh"


@pytest.mark.parametrize(
    ("model", "native"),
    [("gpt-5.4", True), ("gpt-5.4-nano", False), ("gpt-5", False), ("gpt-6-luna", True), ("o3", False)],
)
def test_which_models_search_natively(model: str, native: bool) -> None:
    """From gpt-5.4 on, the nano models left out."""
    assert openai_responses.features_of(model).native_search is native


@pytest.mark.parametrize("model", ["claude-opus-5-5", "claude-sonnet-5.5", "claude-fable-5-1"])
def test_which_models_cannot_be_forced(model: str) -> None:
    """These refuse a forced choice."""
    assert anthropic.features_of(model).forced == ()


def test_tokens_of_the_cache() -> None:
    """Anthropic counts cached tokens apart, OpenAI among the others; both become one form."""
    ours = Usage(input_tokens=120, output_tokens=5, cached_tokens=80, written_tokens=20)
    theirs = {"input_tokens": 20, "output_tokens": 5, "cache_read_input_tokens": 80, "cache_creation_input_tokens": 20}
    assert anthropic.usage(theirs) == ours
    details = {"cached_tokens": 80, "cache_write_tokens": 20}
    assert openai_chat.usage({"prompt_tokens": 120, "completion_tokens": 5, "prompt_tokens_details": details}) == ours
    assert ours.uncached_tokens == 40


def test_failed_responses_are_errors() -> None:
    """A response that says it failed raises, and says whether asking again may help."""
    with pytest.raises(ModelFailed) as failed:
        openai_responses.parse({"status": "failed", "error": {"code": "server_error", "message": "down"}}, "")
    assert failed.value.retry


@pytest.mark.parametrize(
    ("status", "retry"), [(429, True), (500, True), (529, True), (400, False), (401, False), (None, True)]
)
def test_which_failures_may_heal(status: int | None, retry: bool) -> None:
    """Too many requests, server errors and broken connections; the wait that a server asks for is kept, bounded."""

    class Error(Exception):
        status_code = status

        class response:
            headers = {"retry-after": "900"}  # noqa: RUF012

    found = failures.failed("X", Error("broken"))
    assert (found.retry, found.status, found.wait) == (retry, status, 60.0)


def test_a_missing_sdk_names_its_extra() -> None:
    """The line that installs it is in the error."""
    with pytest.raises(MissingExtra, match=r"toolsearch\[openai\]"):
        failures.sdk("no_such_sdk", "openai")


@pytest.mark.parametrize(
    ("model", "key"), [("anthropic:claude-x", "ANTHROPIC_API_KEY"), ("openai:gpt-5.4", "OPENAI_API_KEY")]
)
def test_a_missing_key_is_named(model: str, key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a key nothing is sent, and the error says which variable to set."""
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "OPENAI_API_KEY", "HTTPS_PROXY"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(ModelFailed, match=key):
        asyncio.run(open_model(model, retries=0).ask(asked()))
