"""The file of a gateway: whatever key is wrong is named, with those that are known."""

from __future__ import annotations

from typing import Any

import pytest

from toolsearch.errors import InvalidSource
from toolsearch.mcp.config import Config

SHOP: dict[str, Any] = {"file": "shop.yaml"}


@pytest.mark.parametrize(
    ("document", "said"),
    [
        ({"mcpServer": {}}, "the key 'mcpServer' is unknown; use mcpServers, servers, toolsearch"),
        ({}, "it is empty; use mcpServers"),
        ({"toolsearch": {"mod": "proxy"}}, "toolsearch: unknown key 'mod'; use mode, pinned, max_tools"),
        ({"toolsearch": {"openapi": {"shop": {**SHOP, "bases": 1}}}}, "'openapi.shop.bases'; use file, base, headers"),
        ({"toolsearch": {"issuer": {"url": "x", "audience": "y", "group": "z"}}}, "'issuer.group'; use url, audience"),
        (
            {"mcpServers": {"git": {"command": "x", "toolsearch": {"second": 3}}}},
            "server 'git': unknown key 'second'; use groups, seconds, keys",
        ),
        ({"toolsearch": {"mode": "prox"}}, "mode: Input should be 'proxy' or 'passthrough', not 'prox'"),
    ],
)
def test_wrong_keys(document: dict[str, Any], said: str) -> None:
    """In the file, in our part of it, deep inside and in a server's entry."""
    with pytest.raises(InvalidSource) as caught:
        Config.of(document, "mcp.json")
    assert said in str(caught.value)


def test_an_entry_that_reaches_nothing() -> None:
    """A misspelt command is told with the keys that the entry has; the other servers are served."""
    found = Config.of({"mcpServers": {"git": {"comand": "x"}, "web": {"url": "http://127.0.0.1:9/mcp"}}})
    assert [one.server.name for one in found.servers] == ["web"]
    assert "needs command" in str(found.problems[0])
    assert "'comand'" in str(found.problems[0])


def test_variables_that_are_not_set(monkeypatch: pytest.MonkeyPatch) -> None:
    """The variable is named; its server is left out."""
    monkeypatch.delenv("GIT_KEY", raising=False)
    entry = {"url": "http://127.0.0.1:9/mcp", "headers": {"Authorization": "Bearer ${GIT_KEY}"}}
    found = Config.of({"mcpServers": {"git": entry}})
    assert "'GIT_KEY' is not set" in str(found.problems[0])
