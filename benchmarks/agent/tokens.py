"""Input tokens of a request, cached and not, by a stated model of a provider's prefix cache.

A request is the text that a provider reads: tools, then standing instructions, then messages, in the form of
Anthropic's API; a reference to a found tool stands for its whole definition at that place. A token is four bytes.
Cached is what a request has byte for byte in common with the one before it in the same conversation, from the start:
nothing below FLOOR tokens, and whole steps of STEP tokens.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from toolsearch.chat import ChatRequest
from toolsearch.llm.anthropic import render

BYTES = 4
FLOOR = 1024
STEP = 128


@dataclass(frozen=True, slots=True)
class Tokens:
    """Input of one request: all of it, and the part that was read from the cache."""

    input: int
    cached: int


def serialised(request: ChatRequest) -> bytes:
    """A request as the bytes that the model reads, in order."""
    body = render(request, "model")
    tools: list[dict[str, Any]] = body.get("tools", [])
    deferred = {tool["name"]: _plain(tool) for tool in tools if tool.get("defer_loading")}
    lines = [_json(_plain(tool)) for tool in tools if not tool.get("defer_loading")]
    lines.append(body.get("system", ""))
    lines += [_json(_expanded(message, deferred)) for message in body["messages"]]
    return "\n".join(lines).encode("utf-8", "replace")


def counted(before: bytes, now: bytes) -> Tokens:
    """Tokens of a request that follows another one; the first follows nothing."""
    shared = common(before, now) // BYTES
    return Tokens(len(now) // BYTES, shared // STEP * STEP if shared >= FLOOR else 0)


def common(first: bytes, second: bytes) -> int:
    """How many bytes two texts share from the start."""
    low, high = 0, min(len(first), len(second))
    while low < high:
        middle = (low + high + 1) // 2
        if first[low:middle] == second[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _plain(tool: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in tool.items() if key not in ("cache_control", "defer_loading")}


def _expanded(message: Mapping[str, Any], deferred: Mapping[str, Any]) -> Any:
    """A message with definitions in place of references."""
    return json.loads(_json(message), object_hook=lambda one: deferred.get(one.get("tool_name", ""), one))


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
