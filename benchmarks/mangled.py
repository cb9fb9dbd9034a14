"""MCP messages that are broken in one or several ways, by seed: shapes, values, headers, bytes."""

from __future__ import annotations

import json
from dataclasses import dataclass
from random import Random
from typing import Any, Final

MODERN: Final = "2026-07-28"
OLD: Final = "2025-11-25"
META: Final = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientCapabilities": {},
}
METHODS: Final = (
    "tools/call", "tools/call", "tools/call", "tools/list", "server/discover", "initialize", "ping", "resources/list",
    "resources/read", "prompts/list", "prompts/get", "completion/complete", "logging/setLevel",
    "notifications/initialized", "notifications/cancelled", "notifications/progress", "tools/search", "", "x" * 5_000,
)  # fmt: skip
NAMES: Final = ("search_tools", "get_tool", "call_tool", "payments__refund_payment", "payments/refund_payment", "none")
TEXTS: Final = (
    "refund a payment", "", " ", "\0", "\ud800", "\u202e\u200b", "(a+)+$", "'; DROP TABLE usage", "../../etc/passwd",
    "a" * 30_000, "🜁" * 3_000, "a " * 9_000, "line\r\nSet-Cookie: a=b", "{{7*7}}", "%00", "null", "-1", "1e999",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Message:
    """What is sent: bytes, and the headers that go with them over HTTP."""

    body: bytes
    headers: dict[str, str]


def value(random: Random, depth: int = 3) -> Any:
    """Any JSON value, and some that are none."""
    kind = random.randrange(12 if depth else 8)
    match kind:
        case 0:
            return None
        case 1:
            return random.choice([True, False])
        case 2:
            return random.choice([0, -1, 1, 2**31, 2**63, -(2**70), 10**400, 50, 1_000_000])
        case 3:
            return random.choice([0.5, -0.0, 1e308, float("nan"), float("inf")])
        case 4 | 5 | 6:
            return random.choice(TEXTS)
        case 7:
            return random.choice(NAMES)
        case 8 | 9:
            return [value(random, depth - 1) for _ in range(random.choice([0, 1, 3, 300 if depth == 3 else 2]))]
        case _:
            names = ["query", "limit", "names", "name", "arguments", "_meta", "uri", "$ref", "__proto__", "a" * 2_000]
            return {random.choice(names): value(random, depth - 1) for _ in range(random.choice([0, 1, 4]))}


def message(random: Random, era: str) -> Message:
    """A message of an era, near enough to a good one to be read far, and broken somewhere."""
    body = _body(random, era)
    for _ in range(random.choice([0, 1, 1, 2, 3])):
        _break(random, body)
    method, params = body.get("method"), body.get("params")
    name = params.get("name") if isinstance(params, dict) else None
    headers = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
    headers |= {"MCP-Protocol-Version": era, "Mcp-Method": _plain(method)} if era == MODERN else {}
    if era == MODERN and isinstance(name, str):
        headers["Mcp-Name"] = _plain(name)
    if random.random() < 0.15:
        headers[random.choice(list(headers))] = random.choice(["", "x", "text/plain", "*/*", MODERN, OLD, "1999-01-01"])
    return Message(_bytes(random, body), headers)


def _body(random: Random, era: str) -> dict[str, Any]:
    method = random.choice(METHODS)
    params: dict[str, Any] = {"_meta": dict(META)} if era == MODERN else {}
    if method == "tools/call":
        texts = {"query": random.choice(TEXTS), "limit": random.choice([1, 5, 50])}
        called = {"name": random.choice(NAMES), "arguments": {"payment_id": "pay_1"}}
        params |= {"name": random.choice(NAMES), "arguments": random.choice([texts, called, {"names": list(NAMES)}])}
    elif method == "initialize":
        params |= {"protocolVersion": OLD, "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}
    elif random.random() < 0.5:
        params |= {random.choice(["cursor", "uri", "name", "level", "requestId", "progressToken"]): value(random, 1)}
    body = {"jsonrpc": "2.0", "id": random.choice([1, 7, "a", 2**53]), "method": method, "params": params}
    if method.startswith("notifications/"):
        del body["id"]
    return body


def _break(random: Random, body: dict[str, Any]) -> None:
    """Change, drop or add one thing, at the top or in the parameters."""
    params = body.get("params")
    inner = params.get("arguments") if isinstance(params, dict) else None
    places = [place for place in (body, params, inner) if isinstance(place, dict)]
    place = random.choice(places)
    key = random.choice([*place, "extra", "id", "name", "arguments"]) if place else "extra"
    if random.random() < 0.25:
        place.pop(key, None)
    else:
        place[key] = value(random)


def _bytes(random: Random, body: dict[str, Any]) -> bytes:
    text = json.dumps(body).encode()
    match random.randrange(24):
        case 0:
            return text[: random.randrange(len(text) + 1)]
        case 1:
            place = random.randrange(len(text))
            return text[:place] + bytes([random.randrange(256)]) + text[place + 1 :]
        case 2:
            return b"[" + text + b"," + text + b"]"
        case 3:
            return random.choice([b"", b"null", b"[]", b"{", b"\xff\xfe", b"[" * 50_000, b'{"a":' * 20_000])
        case 4:
            return text[:-1] + b', "method": "tools/list"}'
        case _:
            return text


def _plain(text: Any) -> str:
    """As a header takes it."""
    return "".join(one for one in str(text)[:200] if " " <= one < "\x7f").strip()
