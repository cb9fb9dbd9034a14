"""What the vendors refuse: unpaired calls, orphan results, undeclared references, too many tools, illegal names."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any

import pydantic
from anthropic.types import message_create_params as anthropic_params
from openai.types.chat import completion_create_params as chat_params
from openai.types.responses import response_create_params as responses_params

Body = dict[str, Any]


@lru_cache
def typed(kind: Any) -> pydantic.TypeAdapter[Any]:
    return pydantic.TypeAdapter(kind, config=None)


def shape(kind: Any, body: Body) -> list[str]:
    """What the SDK's own type says about a body."""
    try:
        typed(kind).validate_python(body)
    except pydantic.ValidationError as error:
        return [f"{'.'.join(map(str, one['loc']))[:120]}: {one['msg']}" for one in error.errors()[:3]]
    return []


def names(found: Iterable[str], longest: int) -> list[str]:
    listed = list(found)
    faults = [f"illegal name {one!r}" for one in listed if not re.fullmatch(rf"[A-Za-z0-9_-]{{1,{longest}}}", one)]
    return faults + ([] if len(set(listed)) == len(listed) else ["a name occurs twice"])


def paired(steps: Iterable[tuple[str, list[str]]]) -> list[str]:
    """Calls and results in turn: ("call", ids), ("result", ids), ("other", [])."""
    waiting: list[str] = []
    faults: list[str] = []
    for kind, ids in steps:
        if kind == "result":
            faults += [f"orphan result {one!r}" for one in ids if one not in waiting]
            waiting = [one for one in waiting if one not in ids]
            continue
        faults += [f"call {one!r} has no result" for one in waiting]
        waiting = list(ids) if kind == "call" else []
    return faults + [f"call {one!r} has no result" for one in waiting]


def chat(body: Body) -> list[str]:
    tools = body.get("tools", [])
    faults = names([one["function"]["name"] for one in tools], 64)
    if len(tools) > 128:
        faults.append("Invalid 'tools': array too long. Expected an array with maximum length 128")
    steps: list[tuple[str, list[str]]] = []
    for message in body["messages"]:
        if message["role"] == "tool":
            steps.append(("result", [message["tool_call_id"]]))
        elif message.get("tool_calls"):
            steps.append(("call", [one["id"] for one in message["tool_calls"]]))
        else:
            steps.append(("other", []))
            faults += [] if message.get("content") is not None else ["content is null without tool_calls"]
    kind = (
        chat_params.CompletionCreateParamsStreaming
        if body.get("stream")
        else chat_params.CompletionCreateParamsNonStreaming
    )
    return faults + paired(steps) + shape(kind, body)


def responses(body: Body) -> list[str]:
    tools = body.get("tools", [])
    faults = names([one["name"] for one in tools if one["type"] == "function"], 64)
    calls: dict[str, str] = {}
    for item in body["input"]:
        kind = item.get("type", "message")
        if kind in ("function_call", "tool_search_call"):
            calls[item["call_id"]] = kind
            if kind == "tool_search_call" and not isinstance(item["arguments"], dict):
                faults.append("arguments of a search must be an object")
        elif kind in ("function_call_output", "tool_search_output"):
            expected = "function_call" if kind == "function_call_output" else "tool_search_call"
            if calls.pop(item["call_id"], None) != expected:
                faults.append(f"orphan {kind} {item['call_id']!r}")
    faults += [f"call {one!r} has no output" for one in calls]
    kind = (
        responses_params.ResponseCreateParamsStreaming
        if body.get("stream")
        else responses_params.ResponseCreateParamsNonStreaming
    )
    return faults + shape(kind, body)


def anthropic(body: Body) -> list[str]:
    tools = body.get("tools", [])
    declared = {one["name"] for one in tools}
    faults = names([one["name"] for one in tools], 128)
    if tools and all(one.get("defer_loading") for one in tools):
        faults.append("All tools have defer_loading set")
    if any(one.get("defer_loading") and one.get("cache_control") for one in tools):
        faults.append("cache_control on a deferred tool")
    if body["messages"][0]["role"] != "user":
        faults.append("first message must use the user role")
    waiting: set[str] = set()
    for message in body["messages"]:
        blocks = message["content"] if isinstance(message["content"], list) else []
        faults += _turn(message["role"], blocks, waiting, declared)
        waiting = {one["id"] for one in blocks if one["type"] == "tool_use"}
    faults += [f"tool_use {one!r} has no tool_result" for one in waiting]
    kind = (
        anthropic_params.MessageCreateParamsStreaming
        if body.get("stream")
        else anthropic_params.MessageCreateParamsNonStreaming
    )
    return faults + shape(kind, body)


def _turn(role: str, blocks: list[Body], waiting: set[str], declared: set[str]) -> list[str]:
    results = [one for one in blocks if one["type"] == "tool_result"]
    faults = [] if blocks else ["content is empty"]
    if {one["tool_use_id"] for one in results} != waiting or len(results) != len(waiting):
        faults.append("tool_result blocks do not match the tool_use blocks before them")
    if results and blocks[: len(results)] != results:
        faults.append("tool_result blocks must come first")
    for one in results:
        content = one["content"] if isinstance(one["content"], list) else [one["content"]]
        faults += [] if content else ["content of a tool_result is empty"]
        for part in content:
            if isinstance(part, dict) and part["type"] == "tool_reference" and part["tool_name"] not in declared:
                faults.append(f"Tool reference '{part['tool_name']}' has no corresponding tool definition")
    faults += ["text content blocks must be non-empty" for one in blocks if one["type"] == "text" and not one["text"]]
    return faults + ([] if role in ("user", "assistant") else [f"unknown role {role!r}"])


def ollama(body: Body) -> list[str]:
    faults = names([one["function"]["name"] for one in body.get("tools") or []], 64)
    calls = 0
    for message in body["messages"]:
        if message["role"] == "tool":
            calls -= 1
            faults += [] if calls >= 0 and message.get("tool_name") else ["orphan result"]
        else:
            faults += ["call without result"] if calls > 0 else []
            calls = len(message.get("tool_calls") or [])
            for one in message.get("tool_calls") or []:
                faults += [] if isinstance(one["function"]["arguments"], dict) else ["arguments must be an object"]
    return faults


RULES: dict[str, Callable[[Body], list[str]]] = {
    "chat": chat,
    "responses": responses,
    "anthropic": anthropic,
    "ollama": ollama,
}
