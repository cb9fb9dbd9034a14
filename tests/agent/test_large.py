"""A catalog of 17,000 tools in the loop: found, shown, called and limited as a small one is."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator

import pytest

from tests.agent.tools import SEARCH, Conversing, texts
from toolsearch.agent.exposing import exposed
from toolsearch.agent.host import Agent
from toolsearch.agent.limits import Limits
from toolsearch.agent.memory import ChatMemory
from toolsearch.chat import Features
from toolsearch.conversation import problems
from toolsearch.index.tool_index import ToolIndex
from toolsearch.testing.models import ScriptedModel, call
from toolsearch.tool import ToolSpec

SIZE = 17_000
PLACES = ("harbour", "station", "market", "museum", "quarry")


@pytest.fixture(scope="module")
def index() -> Iterator[ToolIndex]:
    """Tools with five kinds of words, one in seven for the group `north` only; all of them run."""
    specs = [
        ToolSpec(
            name=f"read_gauge_{number}",
            namespace=PLACES[number % 5],
            description=f"Reads gauge {number}",
            groups=("north",) if number % 7 == 0 else (),
        )
        for number in range(SIZE)
    ]
    with ToolIndex.from_tools(specs, encoder=None) as made:
        made.bind({spec.id: lambda arguments, context: "3 bar" for spec in specs})
        yield made


def searching(index: ToolIndex, model: ScriptedModel, show: str = "auto") -> Agent:
    return Agent(model, tools=[index], show=show, memory=ChatMemory(max_messages=20))  # type: ignore[arg-type]


FIND = call(SEARCH, query="gauge 16001 at the station")
GAUGE = exposed("station/read_gauge_16001")


@pytest.mark.parametrize("streaming", [False, True], ids=["whole", "streaming"])
@pytest.mark.parametrize("show", ["inline", "native"])
def test_one_of_many_is_found_and_called(index: ToolIndex, streaming: bool, show: str) -> None:
    """The first request has the search tool alone; what is sent never grows with the catalog."""
    model = ScriptedModel([FIND], [call(GAUGE)], "3 bar", features=Features(native_search=True))
    done = Conversing(streaming, searching(index, model, show)).say("?")
    assert model.names(0) == [SEARCH]
    assert GAUGE in [spec.name for spec in (*model.requests[1].tools, *model.requests[1].deferred)]
    assert texts(done)[1] == "3 bar"
    assert len(texts(done)[0]) < 2_000
    assert not problems(model.requests[-1].messages)


def test_the_proxy_over_many(index: ToolIndex) -> None:
    """Found, looked at and called through three tools, whatever the size."""
    search = call("search_tools", query="gauge 16001 at the station")
    model = ScriptedModel([search], [call("get_tool", name=GAUGE)], [call("call_tool", name=GAUGE, arguments={})], "ok")
    done = searching(index, model, "proxy").run_sync("?")
    assert all(model.names(one) == ["search_tools", "get_tool", "call_tool"] for one in range(4))
    assert json.loads(texts(done)[1])["name"] == GAUGE
    assert texts(done)[2] == "3 bar"


def test_groups_over_many(index: ToolIndex) -> None:
    """What a caller may not see is neither found nor run nor named, however near it is."""
    hidden = 16_002 // 7 * 7
    name = exposed(f"{PLACES[hidden % 5]}/read_gauge_{hidden}")
    model = ScriptedModel([call(SEARCH, query=f"gauge {hidden}")], [call(name)], "no")
    done = searching(index, model).run_sync("?", caller=["south"])
    assert not any(str(hidden) in one.replace(name, "") for one in texts(done))
    assert not done.tool_executions[1].executed
    seen = ScriptedModel([call(SEARCH, query=f"gauge {hidden}")], [call(name)], "yes")
    assert texts(searching(index, seen).run_sync("?", caller=["north"]))[1] == "3 bar"


def test_many_searches_stay_within_the_bound(index: ToolIndex) -> None:
    """Thirty searches bring in no more tools than a request may have; the list of each is legal."""
    model = ScriptedModel(*[[call(SEARCH, query=f"gauge {9_000 + one}")] for one in range(30)], "ok")
    host = Agent(model, tools=[index], limits=Limits(max_visible_tools=24))
    host.run_sync("?")
    assert max(len(one.tools) for one in model.requests) <= 24
    assert exposed(f"{PLACES[9_029 % 5]}/read_gauge_9029") in model.names()


def test_runs_at_once_over_many(index: ToolIndex) -> None:
    """Eight conversations at once find their own tools."""

    async def one(number: int) -> list[str]:
        model = ScriptedModel([call(SEARCH, query=f"gauge {number}")], "ok")
        await Agent(model, tools=[index]).run("?")
        return model.names(1)

    async def all_of_them() -> list[list[str]]:
        return await asyncio.gather(*(one(8_001 + step) for step in range(8)))

    for step, names in enumerate(asyncio.run(all_of_them())):
        assert any(name.rpartition("_")[0].endswith(str(8_001 + step)) or str(8_001 + step) in name for name in names)
