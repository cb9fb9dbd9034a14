"""Answers in the vendors' formats, whole or as streams."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any

Body = dict[str, Any]
Calls = list[tuple[str, Body]]


def events(items: Iterable[Body], *, named: bool, done: bool = False) -> tuple[str, bytes]:
    lines = [(f"event: {one['type']}\n" if named else "") + f"data: {json.dumps(one)}\n\n" for one in items]
    return "text/event-stream", ("".join(lines) + ("data: [DONE]\n\n" if done else "")).encode()


def whole(body: Body) -> tuple[str, bytes]:
    return "application/json", json.dumps(body).encode()


def split(said: Any) -> tuple[str, Calls]:
    return (said, []) if isinstance(said, str) else ("", said)


def halves(text: str) -> list[str]:
    middle = len(text) // 2
    return [text[:middle], text[middle:]]


def chat(said: Any, body: Body, number: int) -> tuple[str, bytes]:
    text, calls = split(said)
    made = [
        {"id": f"call_{number}_{place}", "type": "function", "function": {"name": name, "arguments": json.dumps(given)}}
        for place, (name, given) in enumerate(calls)
    ]
    usage = {
        "prompt_tokens": 20,
        "completion_tokens": 5,
        "total_tokens": 25,
        "prompt_tokens_details": {"cached_tokens": 8},
    }
    head = {"id": "c", "created": 1, "model": body["model"]}
    finish = "tool_calls" if made else "stop"
    if not body.get("stream"):
        message = {"role": "assistant", "content": text or None, **({"tool_calls": made} if made else {})}
        choice = {"index": 0, "message": message, "finish_reason": finish}
        return whole({**head, "object": "chat.completion", "choices": [choice], "usage": usage})
    deltas: list[Body] = [{"content": one} for one in halves(text)] if text else []
    for place, call in enumerate(made):
        first, second = halves(call["function"]["arguments"])
        start = {"index": place, "id": call["id"], "type": "function"}
        deltas.append({"tool_calls": [{**start, "function": {"name": call["function"]["name"], "arguments": first}}]})
        deltas.append({"tool_calls": [{"index": place, "function": {"arguments": second}}]})
    chunks: list[Body] = [{"choices": [{"index": 0, "delta": one, "finish_reason": None}]} for one in deltas]
    chunks += [{"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]}, {"choices": [], "usage": usage}]
    return events([{**head, "object": "chat.completion.chunk", **one} for one in chunks], named=False, done=True)


def responses(said: Any, body: Body, number: int) -> tuple[str, bytes]:
    text, calls = split(said)
    search = any(one["type"] == "tool_search" for one in body.get("tools", []))
    output: list[Body] = [{"type": "reasoning", "id": f"rs_{number}", "summary": []}]
    if text:
        part = {"type": "output_text", "text": text, "annotations": []}
        output.append({"type": "message", "id": "m", "role": "assistant", "status": "completed", "content": [part]})
    for place, (name, given) in enumerate(calls):
        own = {"id": f"i{place}", "call_id": f"call_{number}_{place}", "status": "completed"}
        if search and name.startswith("tool_search"):
            output.append({**own, "type": "tool_search_call", "execution": "client", "arguments": given})
        else:
            output.append({**own, "type": "function_call", "name": name, "arguments": json.dumps(given)})
    usage = {
        "input_tokens": 20,
        "output_tokens": 5,
        "total_tokens": 25,
        "input_tokens_details": {"cached_tokens": 8, "cache_write_tokens": 0},
        "output_tokens_details": {"reasoning_tokens": 0},
    }
    head = {"id": "r", "object": "response", "created_at": 1, "model": body["model"], "parallel_tool_calls": True}
    answer = {**head, "status": "completed", "output": output, "usage": usage, "tools": [], "tool_choice": "auto"}
    if not body.get("stream"):
        return whole(answer)
    return events(numbered(_response_events(output, text, answer)), named=True)


def _response_events(output: list[Body], text: str, answer: Body) -> Iterable[Body]:
    for place, item in enumerate(output):
        yield {"type": "response.output_item.added", "output_index": place, "item": item}
        if item["type"] == "message":
            for one in halves(text):
                where = {"item_id": "m", "output_index": place, "content_index": 0, "logprobs": []}
                yield {"type": "response.output_text.delta", "delta": one, **where}
        if item["type"] == "function_call":
            for one in halves(item["arguments"]):
                where = {"item_id": item["id"], "output_index": place}
                yield {"type": "response.function_call_arguments.delta", "delta": one, **where}
        yield {"type": "response.output_item.done", "output_index": place, "item": item}
    yield {"type": "response.completed", "response": answer}


def numbered(items: Iterable[Body]) -> list[Body]:
    return [{**one, "sequence_number": place} for place, one in enumerate(items)]


def anthropic(said: Any, body: Body, number: int) -> tuple[str, bytes]:
    text, calls = split(said)
    blocks: list[Body] = [{"type": "thinking", "thinking": "hm", "signature": "signed"}]
    blocks += [{"type": "text", "text": text}] if text else []
    blocks += [
        {"type": "tool_use", "id": f"toolu_{number}_{place}", "name": name, "input": given}
        for place, (name, given) in enumerate(calls)
    ]
    usage = {"input_tokens": 12, "output_tokens": 5, "cache_read_input_tokens": 8, "cache_creation_input_tokens": 0}
    head = {"id": "m", "type": "message", "role": "assistant", "model": body["model"], "stop_sequence": None}
    stop = "tool_use" if calls else "end_turn"
    if not body.get("stream"):
        return whole({**head, "content": blocks, "stop_reason": stop, "usage": usage})
    start = {"type": "message_start", "message": {**head, "content": [], "stop_reason": None, "usage": usage}}
    last = {
        "type": "message_delta",
        "delta": {"stop_reason": stop, "stop_sequence": None},
        "usage": {"output_tokens": 5},
    }
    inner = [one for place, block in enumerate(blocks) for one in _block_events(place, block)]
    return events([start, *inner, last, {"type": "message_stop"}], named=True)


def _block_events(place: int, block: Body) -> Iterable[Body]:
    kind = block["type"]
    empty = {"thinking": {"thinking": "", "signature": ""}, "text": {"text": ""}, "tool_use": {"input": {}}}[kind]
    yield {"type": "content_block_start", "index": place, "content_block": {**block, **empty}}
    if kind == "thinking":
        deltas = [{"type": "thinking_delta", "thinking": "hm"}, {"type": "signature_delta", "signature": "signed"}]
    elif kind == "text":
        deltas = [{"type": "text_delta", "text": one} for one in halves(block["text"])]
    else:
        deltas = [{"type": "input_json_delta", "partial_json": one} for one in halves(json.dumps(block["input"]))]
    for one in deltas:
        yield {"type": "content_block_delta", "index": place, "delta": one}
    yield {"type": "content_block_stop", "index": place}


def ollama(said: Any, body: Body, number: int) -> tuple[str, bytes]:
    text, calls = split(said)
    made = [{"function": {"name": name, "arguments": given}} for name, given in calls]
    head = {"model": body["model"], "created_at": "2026-01-01T00:00:00Z"}
    last = {"done": True, "done_reason": "stop", "prompt_eval_count": 20, "eval_count": 5}
    if not body.get("stream"):
        return whole({**head, **last, "message": {"role": "assistant", "content": text, "tool_calls": made or None}})
    parts: list[Body] = [{"role": "assistant", "content": one} for one in halves(text)] if text else []
    parts += [{"role": "assistant", "content": "", "tool_calls": made}] if made else []
    lines = [{**head, "done": False, "message": one} for one in parts]
    lines.append({**head, **last, "message": {"role": "assistant", "content": ""}})
    return "application/x-ndjson", b"".join(json.dumps(one).encode() + b"\n" for one in lines)


ANSWERS: dict[str, Callable[[Any, Body, int], tuple[str, bytes]]] = {
    "chat": chat,
    "responses": responses,
    "anthropic": anthropic,
    "ollama": ollama,
}
