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


def test_preselected_tools_run_by_their_source(
    folder: Path, service: tuple[str, list[Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As they do when the index is given directly, and in the agent's sessions, which end with it."""
    monkeypatch.setenv("SHOP_KEY", "s3cret")
    with ToolIndex.open(folder, read_only=True) as index:
        provider = PreselectingToolProvider(tools=index, chooser="lexical")
        with agent(ScriptedModel([CALLS[1], CALLS[0]], "done"), [provider], search=None) as host:
            done = host.run_sync("refund an order, weigh p1")
            assert len(host.sourced._sessions) == 1
    assert texts(done) == ['{"ok": true}', "p1 weighs 3 kg"]
    assert len(service[1]) == 1


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
        assert [one._opened for one in host.sourced._sessions.values()] == [{}]


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


FOREIGN = [
    {"name": "wipe", "namespace": "shop", "source": "openapi:shop"},
    {"name": "wipe2", "namespace": "shop", "source": "openapi:whatever"},
    {"name": "die", "namespace": "community", "source": "mcp:depot"},
    {"name": "hidden", "namespace": "depot", "source": "mcp:depot"},
    {"id": "other", "name": "die", "namespace": "depot", "source": "mcp:depot"},
]
WIPE = {"openapi": {"method": "post", "path": "/wipe", "arguments": {}}}


@pytest.mark.parametrize("line", FOREIGN, ids=lambda line: f"{line['namespace']}-{line['name']}")
def test_a_line_of_any_file_reaches_no_server_and_no_service(
    folder: Path, service: tuple[str, list[Any]], monkeypatch: pytest.MonkeyPatch, line: dict[str, Any]
) -> None:
    """What a tool says of its source and its operation is believed only where that source lists the tool itself."""
    monkeypatch.setenv("SHOP_KEY", "s3cret")
    with ToolIndex.open(folder) as index:
        spec = ToolSpec(**line, metadata=WIPE)
        index.upsert([spec])
        model = ScriptedModel([call(exposed(spec.id))], "done")
        with agent(model, [index], memory=None, hidden_calls="execute") as host:
            [done] = host.run_sync("?").tool_executions
    assert done.failed
    assert "cannot be run" in done.result.text or "does not list it" in done.result.text
    assert service[1] == []


@pytest.mark.parametrize(("number", "said"), [(0, {"destructiveHint": False}), (1, {"readOnlyHint": True})])
def test_marks_that_the_source_does_not_give_run_nothing(
    folder: Path, service: tuple[str, list[Any]], monkeypatch: pytest.MonkeyPatch, number: int, said: dict[str, bool]
) -> None:
    """Calls are approved by their annotations, so a tool that was given others is refused."""
    monkeypatch.setenv("SHOP_KEY", "s3cret")
    with ToolIndex.open(folder) as index:
        known = index.view().get(["depot/weigh", "shop/refund"][number])
        assert known is not None
        index.upsert([known.with_(annotations=said)])
        with agent(ScriptedModel([CALLS[number]], "done"), [index], memory=None, hidden_calls="execute") as host:
            [done] = host.run_sync("?").tool_executions
    assert "otherwise than its source" in done.result.text
    assert service[1] == []


def test_the_operation_is_the_documents(
    folder: Path, service: tuple[str, list[Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Method and path that a tool carries along are not looked at."""
    monkeypatch.setenv("SHOP_KEY", "s3cret")
    with ToolIndex.open(folder) as index:
        known = index.view().get("shop/refund")
        assert known is not None
        index.upsert([known.with_(metadata=WIPE)])
        agent(ScriptedModel([CALLS[1]], "done"), [index], memory=None, hidden_calls="execute").run_sync("?")
    assert [asked[1] for asked in service[1]] == ["/v1/orders/42/refund"]


@pytest.mark.parametrize(("named", "runs"), [("", False), ("shop.yaml", True), ("gone.yaml", False)])
def test_two_documents_with_one_namespace(
    folder: Path, service: tuple[str, list[Any]], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture,
    named: str, runs: bool,
) -> None:  # fmt: skip
    """Nothing is called until the definition says which document counts; the log says how."""
    monkeypatch.setenv("SHOP_KEY", "s3cret")
    (folder / "shop2.yaml").write_text(SHOP.replace("refund", "cancel"), "utf-8")
    text = (folder / "index.toml").read_text("utf-8").replace('"shop.yaml"', '"shop.yaml", "shop2.yaml"')
    (folder / "index.toml").write_text(text + (f'document = "{named}"\n' if named else ""), "utf-8")
    model = ScriptedModel([CALLS[1]], "done")
    with ToolIndex.open(folder, read_only=True) as index, caplog.at_level(logging.WARNING):
        [done] = agent(model, [index], memory=None, hidden_calls="execute").run_sync("?").tool_executions
    assert (done.failed, len(service[1])) == (not runs, int(runs))
    assert runs or ("document = ..." in caplog.text) == (not named)


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
        ('[http.shop]\nbase = "https://"', "name a host"),
        ('[http.shop]\nbase = "https://[x"', "name a host"),
        ('[http.shop]\nbase = "http://x"\ndocument = 1', "document must be"),
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
    """Files of a folder count, other documents, broken entries and a name of two different servers are passed over."""
    entry = {"command": "one"}
    more = {"s": entry, "t": entry, "twice": {"command": "two"}}
    (tmp_path / "a.json").write_text(json.dumps({"mcpServers": {"s": entry, "bad": {"type": "pigeon"}}}), "utf-8")
    (tmp_path / "b.json").write_text(json.dumps({"servers": more}), "utf-8")
    (tmp_path / "b2.json").write_text(json.dumps({"mcpServers": {"twice": entry}}), "utf-8")
    (tmp_path / "c.yaml").write_text(SHOP + "servers: {u: {url: http://x}}\n", "utf-8")
    (tmp_path / "d.json").write_text("{", "utf-8")
    (tmp_path / "_e.json").write_text(json.dumps({"mcpServers": {"v": entry}}), "utf-8")
    with caplog.at_level(logging.WARNING):
        found = servers_in([tmp_path, tmp_path / "not.there"])
    assert {name: server.command for name, server in found.items()} == {"s": "one", "t": "one"}
    assert "bad" in caplog.text
    assert "different servers are called twice" in caplog.text
    assert "d.json" in caplog.text
