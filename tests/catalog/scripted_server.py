"""An MCP server of the older era on stdio, written by hand, so that it can misbehave. Run with the name of a manner."""

from __future__ import annotations

import json
import sys
import time
from typing import Any

MANNER = sys.argv[1] if len(sys.argv) > 1 else "pages"
VALID = {"type": "object", "properties": {}}
BAD: list[Any] = [
    {"name": "no_schema"},
    {"name": "null_schema", "inputSchema": None},
    {"name": "list_schema", "inputSchema": []},
    {"name": "root_string", "inputSchema": {"type": "string"}},
    {"inputSchema": VALID},
    {"name": "", "inputSchema": VALID},
    {"name": 42, "inputSchema": VALID},
    "just text",
]
ODD: list[Any] = [
    {"name": "typeless", "inputSchema": {"properties": {"a": True}}},
    {"name": "bad_extras", "inputSchema": VALID, "annotations": "none", "description": None},
    {"name": "any", "inputSchema": True},
]


def send(body: dict[str, Any]) -> None:
    print(json.dumps({"jsonrpc": "2.0", **body}), flush=True)


def page(names: list[str], cursor: str | None) -> dict[str, Any]:
    tools = [{"name": name, "description": f"Does {name}", "inputSchema": VALID} for name in names]
    return {"tools": tools, **({"nextCursor": cursor} if cursor else {})}


def listing(cursor: str | None, asked: int) -> dict[str, Any]:
    start = int(cursor or 0)
    if MANNER == "pages":
        last = min(start + 50, 101)
        return page([f"slot_{i:03d}" for i in range(start, last)], str(last) if last < 101 else None)
    if MANNER == "loop":
        return page([f"slot_{start}"], "1")
    if MANNER == "endless":
        return page([f"slot_{start}"], str(start + 1))
    if MANNER == "broken":
        return {"tools": [*page(["first"], None)["tools"], *BAD, *ODD, *page(["last"], None)["tools"]]}
    if MANNER == "half" and cursor:
        time.sleep(60)
    if MANNER == "half":
        return page(["one"], "1")
    return page(["old", "keep"] if asked == 1 else ["keep", "new"], None)


def answer(method: str, params: dict[str, Any], asked: int) -> dict[str, Any] | None:
    if method == "initialize":
        info = {"name": "scripted", "version": "1"}
        return {"protocolVersion": "2025-06-18", "capabilities": {"tools": {"listChanged": True}}, "serverInfo": info}
    if method == "tools/list" and MANNER != "mute":
        return listing(params.get("cursor"), asked)
    if method == "tools/call":
        failed = params["name"] == "ghost"
        text = "Unknown tool: ghost" if failed else json.dumps(params["arguments"])
        return {"content": [{"type": "text", "text": text}], "isError": failed}
    return None


def main() -> None:
    if MANNER == "dies":
        sys.exit("the configuration is missing")
    asked = 0
    for line in sys.stdin:
        body = json.loads(line)
        method = body.get("method", "")
        if MANNER == "hangs":
            time.sleep(60)
        if MANNER == "strict" and method == "server/discover":
            sys.exit("initialize first")
        asked += method == "tools/list"
        result = answer(method, body.get("params") or {}, asked)
        if "id" in body and result is None and MANNER != "mute":
            send({"id": body["id"], "error": {"code": -32601, "message": "no such method"}})
        elif "id" in body and (result is not None or method != "tools/list"):
            send(
                {"id": body["id"], "result": result}
                if result is not None
                else {"id": body["id"], "error": {"code": -32601, "message": "no"}}
            )
        if MANNER == "changes" and method == "tools/list" and asked == 1:
            send({"method": "notifications/tools/list_changed"})


if __name__ == "__main__":
    main()
