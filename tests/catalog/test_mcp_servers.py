"""Files of MCP servers as clients write them are understood; broken entries lose only themselves."""

from __future__ import annotations

from typing import Any

import pytest

from toolsearch.catalog.mcp_servers import Server, servers_of
from toolsearch.errors import InvalidInput


def one(entry: Any) -> Server:
    """The only server of a file with this entry."""
    good, bad = servers_of({"mcpServers": {"s": entry}})
    assert bad == []
    return good[0]


def reason(entry: Any) -> str:
    """Why an entry is refused."""
    good, bad = servers_of({"servers": {"s": entry}})
    assert good == []
    return bad[0][1]


def test_processes_and_addresses() -> None:
    """The way to reach a server is what `type` or `transport` says, or seen from its keys."""
    assert one({"command": "uvx", "args": ["x"], "env": {"N": 1}, "cwd": "/x"}) == Server(
        name="s", transport="stdio", command="uvx", args=("x",), env={"N": "1"}, cwd="/x"
    )
    url = "https://host.example/mcp"
    assert one({"url": url}).transport == "http"
    assert one({"type": "streamable-http", "url": url, "headers": {"A": "b"}}).headers == {"A": "b"}
    assert one({"transport": "sse", "url": url}).transport == "sse"


def test_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    """`${NAME}`, `${env:NAME}` and a value for when it is not set."""
    monkeypatch.setenv("YARD_KEY", "k")
    monkeypatch.delenv("YARD_NONE", raising=False)
    entry = {"command": "x", "args": ["${YARD_KEY}", "-${env:YARD_KEY}-", "${YARD_NONE:-other}", "$5"]}
    assert one(entry).args == ("k", "-k-", "other", "$5")
    assert "'YARD_NONE' is not set" in reason({"command": "${YARD_NONE}"})
    assert "editor" in reason({"command": "x", "args": ["${input:key}"]})


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ({}, "url"), ({"command": ""}, "command"), ({"command": 3}, "command"), ({"command": "x", "args": "y"}, "args"),
        ({"command": "x", "args": [1]}, "argument"), ({"command": "x", "env": []}, "env"), ("x", "JSON object"),
        ({"url": "file:///etc/passwd"}, "http"), ({"type": "fax", "url": "x"}, "type"),
        ({"command": "a\0b"}, "command"),
        ({"command": "x" * 20_000}, "10000"),
    ],
)  # fmt: skip
def test_broken_entries(entry: Any, said: str) -> None:
    """The reason names the key."""
    assert said in reason(entry)


def test_secrets_are_not_shown() -> None:
    """Addresses, headers and the environment stay out of the text of a server."""
    shown = repr(
        Server(name="s", transport="http", url="http://u:secret@h", headers={"A": "secret"}, env={"B": "secret"})
    )
    assert "secret" not in shown


def test_other_documents() -> None:
    """What lists no servers, or too many, is refused."""
    with pytest.raises(InvalidInput, match="map names"):
        servers_of({"mcpServers": []})
    with pytest.raises(InvalidInput, match="bound"):
        servers_of({"mcpServers": {str(i): {} for i in range(1001)}})
