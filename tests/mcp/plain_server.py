"""An MCP server of the older era on stdio, by hand: its tools are those of a JSON file, read at each listing.

Run with the path of the file; what it is told of cancellations goes into a file beside it that ends in `.log`.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

FILE = Path(sys.argv[1])


def send(**body: Any) -> None:
    print(json.dumps({"jsonrpc": "2.0", **body}), flush=True)


def called(number: Any, params: dict[str, Any]) -> None:
    name, arguments = params["name"], params.get("arguments") or {}
    token = (params.get("_meta") or {}).get("progressToken")
    if name == "die":
        os._exit(3)
    if name == "wait":
        FILE.with_suffix(".log").write_text("waiting\n")
        return
    if name == "ask":
        schema = {"type": "object", "properties": {"size": {"type": "string"}}}
        asked = {"message": "Which size?", "requestedSchema": schema}
        send(id=f"ask {number}", method="elicitation/create", params=asked)
        return
    if name == "steps" and token is not None:
        for done in (1, 2):
            send(
                method="notifications/progress",
                params={"progressToken": token, "progress": done, "total": 2, "message": f"step {done}"},
            )
    said = {"said": arguments, "key": os.environ.get("KEY", ""), "tool": name}
    known = {tool["name"] for tool in json.loads(FILE.read_text())}
    if name not in known:
        send(id=number, result={"content": [{"type": "text", "text": f"Unknown tool: {name}"}], "isError": True})
        return
    send(id=number, result={"content": [{"type": "text", "text": json.dumps(said)}], "structuredContent": said})
    if name == "notify":
        send(method="notifications/tools/list_changed")


def main() -> None:
    for line in sys.stdin:
        body = json.loads(line)
        method, params, number = body.get("method", ""), body.get("params") or {}, body.get("id")
        if method == "initialize":
            info = {"name": "plain", "version": "1"}
            capabilities = {"tools": {"listChanged": True}}
            send(id=number, result={"protocolVersion": "2025-06-18", "capabilities": capabilities, "serverInfo": info})
        elif method == "tools/list":
            send(id=number, result={"tools": json.loads(FILE.read_text())})
        elif method == "tools/call":
            called(number, params)
        elif str(number).startswith("ask "):
            told = json.dumps(body.get("result", body.get("error")))
            send(id=int(str(number)[4:]), result={"content": [{"type": "text", "text": told}]})
        elif method == "notifications/cancelled":
            with FILE.with_suffix(".log").open("a") as log:
                log.write("cancelled\n")
        elif number is not None:
            send(id=number, error={"code": -32601, "message": "no such method"})


if __name__ == "__main__":
    main()
