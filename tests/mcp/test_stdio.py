"""`toolsearch mcp` as a desktop client starts it: a process on standard input and output."""

from __future__ import annotations

import asyncio
import json
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

from mcp import Client, StdioServerParameters

from tests.mcp.support import described, names, run, search, server, text
from toolsearch.index.tool_index import ToolIndex

COMMAND = ["-m", "toolsearch", "mcp"]
API = {
    "openapi": "3.1.0",
    "info": {"title": "Shop", "version": "1"},
    "servers": [{"url": "http://127.0.0.1:9"}],
    "paths": {"/orders": {"get": {"operationId": "listOrders", "summary": "List the orders of the shop"}}},
}


def configuration(folder: Path) -> Path:
    """Two servers, one of which is down, a document, a Python file and an index."""
    (folder / "shop.json").write_text(json.dumps(API))
    (folder / "more.py").write_text(
        "from toolsearch import tool\n\n@tool\ndef double(number: int) -> int:\n"
        '    """Double a number."""\n    print("noise")\n    return 2 * number\n'
    )
    ToolIndex.build(folder / "other", [], encoder="").upsert([])
    body = {
        "mcpServers": {
            "wood": server(folder / "a.json", described("plane", "Plane a board")),
            "dead": {"command": "no-such-command-x"},
        },
        "toolsearch": {
            "start": 60,
            "openapi": {"shop": {"file": "shop.json"}},
            "python": ["more.py"],
            "indexes": ["other"],
        },
    }
    path = folder / "mcp.json"
    path.write_text("// mine\n" + json.dumps(body))
    return path


def test_all_kinds_of_sources(tmp_path: Path) -> None:
    """Found and called through one process; what a tool prints does not reach the client."""
    place = tmp_path / "kept"
    ToolIndex.build(place, [], encoder="").close()
    arguments = [*COMMAND, "--config", str(configuration(tmp_path)), "--index", str(place)]

    async def inside() -> None:
        process: Any = StdioServerParameters(command=sys.executable, args=arguments)
        async with Client(process) as client:
            assert names(await search(client, "plane a board")) == ["wood__plane"]
            assert (await run(client, "wood__plane", x=1)).structured_content["said"] == {"x": 1}
            assert names(await search(client, "list the orders")) == ["shop__listOrders"]
            assert "cannot be reached" in text(await run(client, "shop__listOrders"))
            [double] = names(await search(client, "double a number"))
            assert text(await run(client, double, number=4)) == "8"
            assert "Behind it: dead; others" in ((await client.list_tools()).tools[0].description or "")

    asyncio.run(inside())
    with ToolIndex.open(place, read_only=True) as index:
        assert "wood/plane" in [spec.id for spec in index.view()]


def test_lines_that_make_no_sense(tmp_path: Path) -> None:
    """The process goes on, answers what it can, writes nothing but messages, and ends with its input."""
    place = tmp_path / "kept"
    ToolIndex.build(place, [], encoder="").close()
    chance = random.Random(7)
    valid = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "search_tools"}})
    lines = ["", "{", "[]", "null", "\x00", '{"jsonrpc":"2.0","id":1}', "[" * 5_000, valid]
    for _ in range(150):
        cut = list(valid)
        for _ in range(chance.randint(1, 4)):
            cut[chance.randrange(len(cut))] = chance.choice('{}[]",:x0é')
        lines.append("".join(cut))
    start = {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "t", "version": "1"},
    }
    greeting = [
        json.dumps({"jsonrpc": "2.0", "id": "hello", "method": "initialize", "params": start}),
        json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        *lines,
        json.dumps({"jsonrpc": "2.0", "id": "last", "method": "tools/list"}),
    ]
    process = subprocess.Popen(
        [sys.executable, *COMMAND, "--index", str(place)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    )
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write("\n".join(greeting) + "\n")
    process.stdin.flush()
    answers: list[Any] = []
    while not answers or answers[-1].get("id") != "last":
        answers.append(json.loads(process.stdout.readline()))
    process.stdin.close()
    assert [tool["name"] for tool in answers[-1]["result"]["tools"]] == ["search_tools", "get_tool", "call_tool"]
    assert process.wait(timeout=120) == 0
    process.stdout.close()
    assert process.stderr is not None
    process.stderr.close()


def test_changes_are_listed_and_approved(tmp_path: Path) -> None:
    """By commands beside the running gateway."""
    from typer.testing import CliRunner

    from toolsearch.cli.app import app
    from toolsearch.mcp.approvals import Book
    from toolsearch.tool import ToolSpec

    place = tmp_path / "kept"
    ToolIndex.build(place, [], encoder="").close()
    before = ToolSpec(name="pay", description="Pay", namespace="s", source="mcp:s")
    Book(place / "data" / "gateway.json", hold=True).accepted(
        {before.id: before}, [before.with_(description="Pay me\x1b[2J")]
    )
    runner = CliRunner()
    listed = runner.invoke(app, ["mcp", "--index", str(place), "changes"])
    assert listed.exit_code == 0
    assert "s/pay: changed" in listed.output
    assert "\x1b" not in listed.output
    assert runner.invoke(app, ["mcp", "--index", str(place), "approve", "s/pay"]).exit_code == 0
    assert runner.invoke(app, ["mcp", "--index", str(place), "changes"]).exit_code == 1
