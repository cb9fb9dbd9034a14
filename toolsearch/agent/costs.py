"""Tokens by a stated model, for providers that do not count them.

A token is four characters of the request's JSON (tools first, then messages, as providers cache them); cached is
what the request has in common with the one before it in the same run, from the start, in whole blocks. With native
search a found tool's definition is read where the first result refers to it, so that it is cached with its message.
"""

from __future__ import annotations

import json
from typing import Final

from toolsearch.chat import ChatRequest, ChatResponse
from toolsearch.conversation import Message, Reference, ToolResult, Usage
from toolsearch.tool import ToolSpec
from toolsearch.transcript import message_json

CHARACTERS: Final = 4
BLOCK: Final = 64
"""Tokens that are cached together."""


def serialised(request: ChatRequest) -> str:
    """A request as one text, in the order in which providers read it; tools that no result refers to come last."""
    left = {spec.name: spec for spec in request.deferred}
    lines = [_tool(spec) for spec in request.tools]
    for message in request.messages:
        lines.append(json.dumps(message_json(message), ensure_ascii=False))
        lines += [_tool(left.pop(name)) for name in _referred(message) if name in left]
    return "\n".join([*lines, *map(_tool, left.values())])


def _referred(message: Message) -> list[str]:
    content = message.content if isinstance(message, ToolResult) else ()
    return [part.name for part in content if isinstance(part, Reference)]


def _tool(spec: ToolSpec) -> str:
    return json.dumps([spec.name, spec.description, spec.parameters], ensure_ascii=False)


def estimated(before: str, now: str, response: ChatResponse) -> Usage:
    """The usage of one request by the model of this module."""
    cached = _common(before, now) // CHARACTERS // BLOCK * BLOCK
    written = json.dumps(message_json(response.message), ensure_ascii=False)
    return Usage(
        input_tokens=len(now) // CHARACTERS,
        output_tokens=len(written) // CHARACTERS,
        cached_tokens=cached,
        estimated=True,
    )


def _common(first: str, second: str) -> int:
    """How many characters two texts share from the start."""
    low, high = 0, min(len(first), len(second))
    while low < high:
        middle = (low + high + 1) // 2
        if first[:middle] == second[:middle]:
            low = middle
        else:
            high = middle - 1
    return low
