"""What an index finds is run by its source, as the index's definition says; nothing else is started or called."""

from __future__ import annotations

import asyncio
import json
import logging
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.agent.conftest import SERVER
from tests.agent.tools import Conversing, agent, search, texts
from toolsearch.agent.exposing import exposed
from toolsearch.agent.preselection import PreselectingToolProvider
from toolsearch.catalog.running import servers_in
from toolsearch.errors import InvalidSource, InvalidTool
from toolsearch.index.definition import Definition
from toolsearch.index.tool_index import ToolIndex
from toolsearch.testing.models import ScriptedModel, call
from toolsearch.tool import Tool, ToolSpec

SHOP = """
openapi: 3.1.0
info: {title: Shop, version: "1"}
paths:
  /orders/{id}/refund:
    post:
      operationId: refund
      summary: Refund an order
      parameters: [{name: id, in: path, required: true, schema: {type: string}}]
"""
PLACES = """sources = ["servers.json", "shop.yaml", "run.py"]
encoder = ""
python = ["run.py"]

[http.shop]
base = "%s"
headers = { X-Key = "${SHOP_KEY}" }
seconds = 5
"""
PYTHON = """
from toolsearch import tool

@tool
def greet(name: str) -> str:
    "Greet somebody"
    return "hello " + name
"""


@pytest.fixture
def folder(tmp_path: Path, service: tuple[str, list[Any]]) -> Path:
    """An index of a server's, a service's and Python tools."""
    (tmp_path / "server.py").write_text(SERVER, "utf-8")
    depot = {"command": sys.executable, "args": [str(tmp_path / "server.py")]}
    (tmp_path / "servers.json").write_text(json.dumps({"mcpServers": {"depot": depot}}), "utf-8")
    (tmp_path / "shop.yaml").write_text(SHOP, "utf-8")
    (tmp_path / "run.py").write_text(PYTHON, "utf-8")
    (tmp_path / "index.toml").write_text(PLACES % service[0], "utf-8")
    ToolIndex.build(tmp_path).close()
    return tmp_path


CALLS = [
    call(exposed("depot/weigh"), parcel="p1"),
    call(exposed("shop/refund"), id="42"),
    call("greet", name="Ann"),
]


@pytest.mark.parametrize("streaming", [False, True], ids=["whole", "streaming"])
def test_every_source_runs(
    folder: Path, service: tuple[str, list[Any]], monkeypatch: pytest.MonkeyPatch, streaming: bool
) -> None:
    """Found and called with no more than the definition: a server's tool, an operation, a function."""
    monkeypatch.setenv("SHOP_KEY", "s3cret")
    model = ScriptedModel(search("weigh", "refund", "greet"), *[[one] for one in CALLS], "done")
    with ToolIndex.open(folder, read_only=True) as index, agent(model, [index], memory=None) as host:
        done = host.run_sync("?") if not streaming else asyncio.run(closed(host))
    assert texts(done)[1:] == ["p1 weighs 3 kg", '{"ok": true}', "hello Ann"]
    assert service[1] == [("POST", "/v1/orders/42/refund", "", "s3cret")]


async def closed(host: Any) -> Any:
    async with host:
        return await Conversing(True, host)._streamed("?", {})


def test_a_server_that_died_is_started_again(folder: Path) -> None:
    """A call that ends the server is an error result; the next one has a new session."""
    dies, weighs = call(exposed("depot/die")), call(exposed("depot/weigh"), parcel="p2")
    model = ScriptedModel([dies], [weighs], "done")
    with ToolIndex.open(folder, read_only=True) as index:
        with agent(model, [index], memory=None, hidden_calls="execute") as host:
            done = host.run_sync("?")
        assert [one.failed for one in done.tool_executions] == [True, False]
        assert host.sourced._sessions[next(iter(host.sourced._sessions))]._task is None


def test_what_the_definition_does_not_name_never_runs(
    folder: Path, service: tuple[str, list[Any]], caplog: pytest.LogCaptureFixture
) -> None:
    """Its tools are found, and calling them is an error that the log explains."""
    (folder / "index.toml").write_text('sources = ["shop.yaml"]\nencoder = ""\n', "utf-8")
    model = ScriptedModel([CALLS[0]], [CALLS[1]], "done")
    with ToolIndex.open(folder, read_only=True) as index, caplog.at_level(logging.WARNING):
        done = agent(model, [index], memory=None, hidden_calls="execute").run_sync("?")
    assert [one.failed for one in done.tool_executions] == [True, True]
    assert service[1] == []
    assert "depot" in caplog.text
    assert "[http.shop]" in caplog.text


def test_preselected_tools_run_too(folder: Path) -> None:
    """What a provider selects from an index is run by its source as well."""

    async def run() -> Any:
        with ToolIndex.open(folder, read_only=True) as index:
            chosen = PreselectingToolProvider(tools=index, chooser="lexical")
            try:
                return await agent(ScriptedModel([CALLS[0]], "done"), [chosen], memory=None).run("weigh p1")
            finally:
                await chosen.close()

    assert texts(asyncio.run(run())) == ["p1 weighs 3 kg"]


def test_what_is_bound_goes_first(folder: Path) -> None:
    """An executor of your own runs in place of the source."""
    with ToolIndex.open(folder) as index:
        index.bind({"depot/weigh": lambda arguments, context: "light"})
        model = ScriptedModel([CALLS[0]], "done")
        done = agent(model, [index], memory=None, hidden_calls="execute").run_sync("?")
    assert texts(done) == ["light"]


def test_an_always_visible_tool_of_an_index_must_run(folder: Path) -> None:
    """One that nothing runs is refused when the agent is built, and named."""
    with ToolIndex.open(folder) as index:
        index.upsert([ToolSpec(name="idle")])
        agent(ScriptedModel(), [index], always_visible=["depot/weigh"])
        with pytest.raises(InvalidTool, match="idle.*nothing that runs it"):
            agent(ScriptedModel(), [index], always_visible=["idle"])
        index.upsert([Tool(ToolSpec(name="idle"), lambda arguments, context: None)])
        agent(ScriptedModel(), [index], always_visible=["idle"])


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("http = 1", "http must be a table"),
        ("[http]\nshop = 1", "http.shop"),
        ("[http.shop]", "base must begin"),
        ('[http.shop]\nbase = "ftp://x"', "base must begin"),
        ('[http.shop]\nbase = "http://x"\nseconds = 0', "seconds must be"),
        ('[http.shop]\nbase = "http://x"\nheaders = { A = 1 }', "header 'A'"),
        ('[http.shop]\nbase = "http://x"\nkey = "k"', "unknown key 'key'"),
    ],
)
def test_broken_places_are_named(tmp_path: Path, text: str, told: str) -> None:
    """A place that cannot be used is refused when the definition is read."""
    (tmp_path / "index.toml").write_text(text, "utf-8")
    with pytest.raises(InvalidSource, match=told.replace("[", r"\\[")):
        Definition.read(tmp_path)


def test_which_files_list_servers(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Files of a folder count, the first of a name wins, other documents and broken entries are passed over."""
    entry = {"command": "one"}
    (tmp_path / "a.json").write_text(json.dumps({"mcpServers": {"s": entry, "bad": {"type": "pigeon"}}}), "utf-8")
    (tmp_path / "b.json").write_text(json.dumps({"servers": {"s": {"command": "two"}, "t": entry}}), "utf-8")
    (tmp_path / "c.yaml").write_text(SHOP + "servers: {u: {url: http://x}}\n", "utf-8")
    (tmp_path / "d.json").write_text("{", "utf-8")
    (tmp_path / "_e.json").write_text(json.dumps({"mcpServers": {"v": entry}}), "utf-8")
    with caplog.at_level(logging.WARNING):
        found = servers_in([tmp_path, tmp_path / "not.there"])
    assert {name: server.command for name, server in found.items()} == {"s": "one", "t": "one"}
    assert "bad" in caplog.text
    assert "d.json" in caplog.text
