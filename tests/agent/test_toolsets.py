"""Where tools come from: skills, MCP servers, OpenAPI operations, an index; alone and mixed."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.agent.conftest import SERVER
from tests.agent.tools import SEARCH, Conversing, agent, getTime, made, search, texts
from toolsearch.agent.edge import finished
from toolsearch.agent.http_tools import HTTPTools
from toolsearch.agent.mcp_tools import MCPToolset
from toolsearch.agent.memory import ChatMemory
from toolsearch.agent.skills import SkillToolset, read_skill
from toolsearch.conversation import Media
from toolsearch.errors import InvalidInput, InvalidSource
from toolsearch.index.tool_index import ToolIndex
from toolsearch.strategies.corpus import pinned as pinned_rows
from toolsearch.testing.models import ScriptedModel, call
from toolsearch.tool import SearchBehavior, Tool, ToolSpec


def skill_folder(folder: Path) -> Path:
    for name, text in (("billing", "Send invoices"), ("travel", "Book trips")):
        (folder / name).mkdir()
        (folder / name / "SKILL.md").write_text(
            f"---\nname: {name}\ndescription: {text}\n---\nHow to {text}.\n", "utf-8"
        )
    return folder


@pytest.fixture
def skills(tmp_path: Path) -> list[Any]:
    tools = {"billing": [made("invoice", "Make an invoice")], "travel": [made("book", "Book a flight")]}
    return SkillToolset.of(skill_folder(tmp_path), tools).parts()


@pytest.mark.parametrize("streaming", [False, True], ids=["whole", "streaming"])
def test_13_14_skills_are_offered_and_their_tools_hidden(skills: list[Any], streaming: bool) -> None:
    """activate_skill is there from the start; a skill's tools can neither be seen nor found before."""
    model = ScriptedModel(search("invoice", "book"), "ok")
    done = Conversing(streaming, agent(model, [*skills, getTime])).say("?")
    assert model.names(0) == ["activate_skill", SEARCH]
    assert texts(done) == ["No matching tools found"]
    assert "- billing: Send invoices" in model.requests[0].tools[0].description


@pytest.mark.parametrize("streaming", [False, True], ids=["whole", "streaming"])
def test_15_17_an_activated_skill_shows_its_tools_only(skills: list[Any], streaming: bool) -> None:
    """At once and without a search, and in the next run too; the other skill stays closed."""
    model = ScriptedModel(call("activate_skill", name="billing"), call("invoice"), "ok", "again")
    host = Conversing(streaming, agent(model, [*skills, getTime]))
    done = host.say("?")
    assert texts(done) == ["How to Send invoices.", "done"]
    assert model.names(1) == ["activate_skill", SEARCH, "invoice"]
    host.say("?")
    assert model.names(3) == ["activate_skill", SEARCH, "invoice"]


@pytest.mark.parametrize("streaming", [False, True], ids=["whole", "streaming"])
def test_16_regular_tools_are_still_searched(skills: list[Any], streaming: bool) -> None:
    """After activating, the regular tool is hidden until it is found; then both are there, also in the next run."""
    model = ScriptedModel(call("activate_skill", name="travel"), search("time"), "ok", "again")
    host = Conversing(streaming, agent(model, [*skills, getTime]))
    host.say("?")
    assert "getTime" not in model.names(1)
    assert model.names(2) == ["activate_skill", SEARCH, "book", "getTime"]
    host.say("?")
    assert set(model.names(3)) == {"activate_skill", SEARCH, "book", "getTime"}


def test_a_skill_leaves_with_its_message(skills: list[Any]) -> None:
    """What was activated is derived from the window."""
    model = ScriptedModel(call("activate_skill", name="travel"), "ok", "b", "c")
    host = agent(model, [*skills, getTime], memory=ChatMemory(max_messages=2))
    for _ in range(3):
        host.run_sync("?")
    assert model.names(3) == ["activate_skill", SEARCH]


@pytest.mark.parametrize(
    "text",
    [
        "no front matter",
        "---\nname: other\ndescription: x\n---\n",
        "---\nname: s\n---\n",
        "---\n[\n---\n",
        "---\n- a\n---\n",
    ],
)
def test_a_broken_skill_is_named(tmp_path: Path, text: str) -> None:
    """A SKILL.md that breaks a rule is an error that names its folder."""
    (tmp_path / "s").mkdir()
    path = tmp_path / "s" / "SKILL.md"
    path.write_text(text, "utf-8")
    with pytest.raises(InvalidSource, match="s"):
        read_skill(path)


@pytest.fixture
def config(tmp_path: Path) -> Path:
    (tmp_path / "server.py").write_text(SERVER, "utf-8")
    servers = {
        "depot": {"command": sys.executable, "args": [str(tmp_path / "server.py")]},
        "gone": {"command": "/no/such"},
    }
    path = tmp_path / "mcp.json"
    path.write_text(json.dumps({"mcpServers": servers}), "utf-8")
    return path


def test_tools_of_an_mcp_server(config: Path) -> None:
    """They are searched and run; images and errors come back; a server that dies gives an error and comes back."""

    async def run() -> None:
        async with MCPToolset.of(config) as servers:
            names: dict[str, str] = {}
            probe = ScriptedModel(search("parcel", "break", "die"), "ok")
            await agent(probe, [servers], memory=None).run("?")
            names = {one.split("__")[1].split("_")[0]: one for one in probe.names(1) if one != SEARCH}
            assert set(names) == {"weigh", "picture", "broken", "die"}
            order = ["weigh", "picture", "broken", "die", "weigh"]
            model = ScriptedModel(
                *[[call(names[one], **({"parcel": "p1"} if one == "weigh" else {}))] for one in order], "ok"
            )
            done = await agent(model, [servers], memory=None, hidden_calls="execute").run("?")
            weighed, shown, failed, dead, again = done.tool_executions
            assert weighed.result.text == "p1 weighs 3 kg"
            assert Media(media_type="image/png", data="ZG90") in shown.result.content
            assert failed.failed
            assert dead.failed
            assert "broke off" in dead.result.text
            assert again.result.text == "p1 weighs 3 kg"
            assert done.content == "ok"

    asyncio.run(run())


def test_sessions_outlive_runs(config: Path) -> None:
    """A second run_sync uses the session of the first; another event loop opens its own."""
    servers = MCPToolset.of(config, always_visible=["depot/weigh"])
    probe = ScriptedModel("ok", "ok", "ok")
    host = agent(probe, [servers], memory=None)
    try:
        host.run_sync("?")
        host.run_sync("?")
        assert [session.generation for session in servers._sessions] == [1, 2]
        assert len(probe.names()) == 2
        asyncio.run(host.run("?"))
        assert servers._sessions[0].generation == 2
    finally:
        finished(servers.close)


@pytest.mark.parametrize("body", [{}, {"mcpServers": []}, {"mcpServers": {"a": {}}}])
def test_a_server_list_that_is_none(body: Any) -> None:
    """It is refused with what is missing."""
    with pytest.raises(InvalidInput):
        MCPToolset.of(body)


def operation(name: str, method: str, path: str, **places: str) -> ToolSpec:
    arguments = {
        one: {"in": where, "name": one, **({"whole": True} if where == "whole" else {})}
        for one, where in places.items()
    }
    properties = {one: {} for one in places}
    return ToolSpec(
        name=name,
        namespace="shop",
        parameters={"type": "object", "properties": properties},
        metadata={"openapi": {"method": method, "path": path, "arguments": arguments}},
    )


def called(spec: ToolSpec, http: HTTPTools, **arguments: Any) -> Any:
    tool = Tool(spec.with_(name=spec.name, namespace="shop"), http.for_tool(spec))
    probe = ScriptedModel("ok")
    agent(probe, [tool], search=None).run_sync("?")
    done = agent(ScriptedModel([call(probe.names()[0], **arguments)], "ok"), [tool], search=None).run_sync("?")
    return done.tool_executions[0].result


def test_an_operation_over_http(service: tuple[str, list[Any]], monkeypatch: pytest.MonkeyPatch) -> None:
    """Arguments go to path, query and body; the key comes from the environment."""
    monkeypatch.setenv("SHOP_KEY", "s3cret")
    url, asked = service
    http = HTTPTools(base={"shop": url}, headers={"shop": {"X-Key": "${SHOP_KEY}"}})
    spec = operation("refund", "post", "/orders/{id}/refund", id="path", dry="query", reason="body", tags="query")
    done = called(spec, http, id="4/2 ?", dry=True, reason="late", tags=["a", "b"])
    assert done.text == '{"ok": true}'
    assert asked == [("POST", "/v1/orders/4%2F2%20%3F/refund?dry=true&tags=a&tags=b", '{"reason":"late"}', "s3cret")]


@pytest.mark.parametrize(
    ("base", "path", "arguments", "asked"),
    [
        ("", "/m?beta=true", {}, "/v1/m?beta=true"),
        ("?key=1", "/m?beta=true", {"limit": 2}, "/v1/m?key=1&beta=true&limit=2"),
        ("", "/m", {"limit": None}, "/v1/m"),
        ("", "/m", {}, "/v1/m"),
    ],
)
def test_what_addresses_ask_for_themselves(
    service: tuple[str, list[Any]], base: str, path: str, arguments: Any, asked: str
) -> None:
    """The query of a base and of a path stays; an argument that is null is left out, as models write it."""
    called(operation("m", "get", path, limit="query"), HTTPTools(base={"shop": service[0] + base}), **arguments)
    assert service[1][0][1] == asked


@pytest.mark.parametrize(
    ("path", "arguments", "told"),
    [
        ("/missing", {}, "status 404"),
        ("/away", {}, "status 302"),
        ("/big", {}, "longer than 1000000 bytes"),
        ("/a/{id}", {"id": ".."}, "may not be '..'"),
        ("/a/{id}", {}, "open parameter"),
        ("/a/{id}", {"id": ""}, "may not be ''"),
        ("/a/{id}{id}", {"id": "."}, "may not be '.'"),
        ("/../../admin", {}, "between slashes"),
        ("/a/%2e%2E/b?c=/x", {}, "between slashes"),
        ("/a\\..\\b", {}, "between slashes"),
        ("/a/.{id}", {"id": "./x"}, "between slashes"),
    ],
)
def test_what_an_operation_refuses(service: tuple[str, list[Any]], path: str, arguments: Any, told: str) -> None:
    """Bad statuses, redirects, huge answers and paths that leave their place are error results."""
    http = HTTPTools(base={"shop": service[0]}, bytes=1_000_000)
    done = called(operation("o", "get", path, id="path"), http, **arguments)
    assert done.is_error
    assert told in done.text


def test_only_allowed_hosts() -> None:
    """An address outside of the list, or of another scheme, is refused at once."""
    with pytest.raises(InvalidInput, match="not among the allowed"):
        HTTPTools(base={"shop": "http://10.0.0.1/"}, hosts=["shop.test"])
    with pytest.raises(InvalidInput, match="http"):
        HTTPTools(base={"shop": "file:///etc/passwd"})


@pytest.fixture
def index() -> ToolIndex:
    tools = [made(f"gauge_{number}", f"Read gauge number {number}", namespace="plant") for number in range(40)]
    return ToolIndex.from_tools([*tools, made("stamp", "Stamp a parcel", groups=["post"])], encoder=None)


def test_an_index_as_tools(index: ToolIndex) -> None:
    """Its tools are searched with its own retriever, shown and run; groups hold."""
    model = ScriptedModel([call(SEARCH, query="stamp a parcel")], call("stamp"), "ok")
    done = agent(model, [index], search="hybrid").run_sync("?", caller=["post"])
    assert texts(done)[1] == "done"
    assert "stamp: Stamp a parcel" in texts(done)[0]
    other = ScriptedModel([call(SEARCH, query="stamp a parcel"), call("stamp")], "ok")
    denied = agent(other, [index], search="hybrid").run_sync("?", caller=["plant"])
    assert denied.tool_executions[1].result.attributes["error"] == "unknown_tool"
    assert "stamp: " not in texts(denied)[0]


def test_an_index_and_loose_tools_are_searched_as_one(index: ToolIndex) -> None:
    """One search finds tools of both, by one ranking; what is visible is not found again."""
    loose = made("frank_letter", "Put a stamp on a letter")
    model = ScriptedModel([call(SEARCH, query="stamp")], [call(SEARCH, query="stamp letter")], "ok")
    done = agent(model, [index, loose], search="lexical", encoder=None).run_sync("?")
    assert set(model.names(1)) == {SEARCH, "stamp", "frank_letter"}
    assert "Already available: " in texts(done)[1]


def test_always_visible_tools_of_an_index(index: ToolIndex) -> None:
    """Marked ones, also such as come later, and named ones; only for callers who may see them."""
    pinned = made("clock", "Tell the time", search=SearchBehavior.ALWAYS_VISIBLE)
    index.upsert([pinned])
    model = ScriptedModel("ok", "ok")
    host = agent(model, [index], search="lexical", always_visible=["stamp", "no_such_tool"])
    host.run_sync("?", caller=["post"])
    host.run_sync("?", caller=["plant"])
    assert [model.names(0), model.names(1)] == [["clock", "stamp", SEARCH], ["clock", SEARCH]]
    index.remove(["clock"])
    assert pinned_rows(index.view().corpus) == []


def test_a_tool_removed_from_the_index_is_gone_at_once(index: ToolIndex) -> None:
    """In mid-run it is neither shown nor run any more."""
    model = ScriptedModel([call(SEARCH, query="stamp")], lambda request: gone(index), "ok")
    done = agent(model, [index], search="lexical").run_sync("?")
    assert "stamp" in model.names(1)
    assert "stamp" not in model.names(2)
    assert done.tool_executions[1].result.attributes["error"] == "unknown_tool"


def gone(index: ToolIndex) -> Any:
    index.remove(["stamp"])
    return call("tool_search_tool_x")
