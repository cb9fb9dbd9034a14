"""Tokens by a stated model, for providers that do not count them.

A token is four characters of the request's JSON (tools first, then messages, as providers cache them); cached is
what the request has in common with the one before it in the same run, from the start, in whole blocks.
"""

from __future__ import annotations

import json
from typing import Final

from toolsearch.chat import ChatRequest, ChatResponse
from toolsearch.conversation import Usage
from toolsearch.tool import ToolSpec
from toolsearch.transcript import message_json

CHARACTERS: Final = 4
BLOCK: Final = 64
"""Tokens that are cached together."""


def serialised(request: ChatRequest) -> str:
    """A request as one text, in the order in which providers read it; deferred tools come last."""
    lines = [_tool(spec) for spec in request.tools]
    lines += [json.dumps(message_json(message), ensure_ascii=False) for message in request.messages]
    lines += [_tool(spec) for spec in request.deferred]
    return "\n".join(lines)


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
