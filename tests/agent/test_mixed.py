"""Tools of every kind in one agent: static, provided, dynamic, of a server, of an index, and another agent."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path
from typing import Any

import pytest

from tests.agent.tools import SEARCH, add, agent, getTime, made, search, texts
from toolsearch.agent.agents import agent_tool
from toolsearch.agent.exposing import exposed
from toolsearch.agent.handlers import Handlers, fail_run
from toolsearch.agent.mcp_tools import META, MCPToolset
from toolsearch.agent.providers import Provided
from toolsearch.conversation import problems
from toolsearch.index.tool_index import ToolIndex
from toolsearch.testing.models import ScriptedModel, call

SERVER = '''
from mcp.server.mcpserver import MCPServer
from mcp_types import CallToolResult, TextContent
server = MCPServer("s", version="1")

@server.tool()
def weigh(parcel: str) -> str:
    """Weigh a parcel"""
    return f"{parcel} weighs 3 kg"

@server.tool()
def marked() -> CallToolResult:
    """Weigh with marks"""
    return CallToolResult(content=[TextContent(type="text", text="3 kg")], _meta={"scale": 7})

@server.tool()
def plain() -> CallToolResult:
    """Weigh as numbers"""
    return CallToolResult(content=[], structured_content={"kg": 3})

server.run()
'''


@pytest.fixture
def depot(tmp_path: Path) -> dict[str, Any]:
    import sys

    (tmp_path / "server.py").write_text(SERVER, "utf-8")
    return {"mcpServers": {"depot": {"command": sys.executable, "args": [str(tmp_path / "server.py")]}}}


def test_all_kinds_are_one_catalog(depot: dict[str, Any]) -> None:
    """One search finds them all, but for dynamic ones, which are there; each call reaches what runs it."""
    index = ToolIndex.from_tools([made("in_index", "Weigh a truck")], encoder=None)
    tools = [
        made("static", "Weigh a letter"),
        Provided(function=lambda request: [made("provided", "Weigh a bag")]),
        Provided(function=lambda request: [made("dynamic", "Weigh a ship")], dynamic=True),
        index,
    ]
    weigh = exposed("depot/weigh")
    names = ["static", "provided", "dynamic", "in_index"]
    calls = [call(name) for name in names] + [call(weigh, parcel="p1")]
    model = ScriptedModel(search("weigh"), calls, "ok")

    async def run() -> Any:
        async with MCPToolset.of(depot) as servers:
            return await agent(model, [*tools, servers], hidden_calls="execute").run("?")

    done = asyncio.run(run())
    assert model.names(0) == [SEARCH, "dynamic"]
    assert {"static", "provided", "in_index", "dynamic"} <= set(model.names(1))
    assert texts(done)[1:] == ["done"] * 4 + ["p1 weighs 3 kg"]


@pytest.mark.parametrize("keep", [True, False])
def test_what_a_server_says_besides(depot: dict[str, Any], keep: bool) -> None:
    """`_meta` is an attribute on request, never text; structured content stands where there is no other."""
    model = ScriptedModel([call(exposed("depot/marked")), call(exposed("depot/plain"))], "ok")

    async def run() -> Any:
        async with MCPToolset.of(depot, keep_meta=keep) as servers:
            return await agent(model, [servers], hidden_calls="execute").run("?")

    done = asyncio.run(run())
    assert texts(done) == ["3 kg", '{"kg": 3}']
    assert (done.tool_executions[0].result.attributes.get(META, {}).get("scale") == 7) is keep


def test_cancelling_an_agent_cancels_the_one_it_asks() -> None:
    """The inner run ends with the outer one, and both conversations stay whole."""
    ended: list[str] = []

    async def run() -> None:
        started = asyncio.Event()

        async def waits() -> None:
            started.set()
            try:
                await asyncio.Event().wait()
            finally:
                ended.append("inner")

        inner = agent(ScriptedModel(call("waits")), [waits], search=None, name="inner")
        outer = agent(ScriptedModel(call("inner", request="x")), [agent_tool(inner, "d")], search=None)
        task = asyncio.create_task(outer.run("?"))
        await started.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        for one in (inner, outer):
            assert one.memory
            assert not problems(one.memory.messages())

    asyncio.run(run())
    assert ended == ["inner"]


def test_an_agent_that_is_asked_sees_what_the_caller_may_see() -> None:
    """The groups of the caller hold for its tools too."""
    secret = made("secret", "Read the ledger", groups=["south"])
    inner_model = ScriptedModel(search("ledger"), "nothing", search("ledger"), "found")
    inner = agent(inner_model, [secret, getTime], name="inner", memory=None)
    asks = call("inner", request="read")
    outer = agent(ScriptedModel([asks], "a", [asks], "b"), [agent_tool(inner, "d")], search=None, memory=None)
    outer.run_sync("?", caller=["north"])
    outer.run_sync("?", caller=["south"])
    assert "secret" not in inner_model.names(1)
    assert "secret" in inner_model.names(3)


@pytest.mark.parametrize("concurrent", [False, True])
def test_one_failure_does_not_lose_the_others(concurrent: bool, caplog: pytest.LogCaptureFixture) -> None:
    """A handler that ends the run: what ran has its result in memory, what did not says so."""

    def broken() -> None:
        raise RuntimeError("down")

    calls = [call("add", a=1, b=1), call("broken"), call("add", a=2, b=2)]
    host = agent(
        ScriptedModel(calls, "fine"),
        [add, broken],
        search=None,
        concurrent=concurrent,
        handlers=Handlers(execution=fail_run),
    )
    with caplog.at_level(logging.CRITICAL), pytest.raises(RuntimeError, match="down"):
        host.run_sync("?")
    assert host.memory
    told = [one.text for one in host.memory.messages() if hasattr(one, "call_id")]
    assert told[0] == "2"
    assert told[2] == ("4" if concurrent else "The run ended in this call.")
    assert not problems(host.memory.messages())
    assert host.run_sync("again").content == "fine"
