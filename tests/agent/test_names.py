"""The names of tools: those that models guess, those that tools share, those that no provider takes."""

from __future__ import annotations

from typing import Any

import pytest

from tests.agent.tools import SEARCH, agent, getTime, made, search, spec, texts
from toolsearch.catalog.names import exposed_name
from toolsearch.index.tool_index import ToolIndex
from toolsearch.testing.models import ScriptedModel, call
from toolsearch.tool import Tool, ToolSpec

SCHEMA: dict[str, Any] = {"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]}


@pytest.mark.parametrize("guessed", ["refund_payment", "refundPayment", "Refund a payment", "payments/refund_payment"])
def test_a_name_that_was_nearly_right(guessed: str) -> None:
    """One tool is called so but for its namespace or style: it is shown, not run, and can be called next."""
    tool = made("refund_payment", title="Refund a payment", namespace="payments", parameters=SCHEMA)
    model = ScriptedModel(call(guessed, id="7"), call("payments__refund_payment", id="7"), "ok")
    done = agent(model, [tool, getTime]).run_sync("?")
    first, second = done.tool_executions
    assert "payments__refund_payment is available now" in first.result.text
    assert '"required":["id"]' in first.result.text
    assert (first.executed, first.result.attributes["error"]) == (False, "unknown_tool")
    assert second.executed


@pytest.mark.parametrize("kind", ["loose", "index"])
@pytest.mark.parametrize("guessed", ["turn_off_lights", "turn_off_light_tool", "turningOffLights"])
def test_a_name_in_other_forms(kind: str, guessed: str) -> None:
    """The same words with other endings mean the tool, when it is the only one."""
    tools = [made(one, namespace="home") for one in ("turn_off_light", "turn_on_light", "list_lights")]
    given: list[Any] = tools if kind == "loose" else [ToolIndex.from_tools(tools, encoder=None)]
    model = ScriptedModel([call(guessed), call("turn_lights")], [call("home__turn_off_light")], "ok")
    done = agent(model, given).run_sync("?")
    shown, unclear, called = done.tool_executions
    assert "home__turn_off_light is available now" in shown.result.text
    assert "available now" not in unclear.result.text
    assert called.executed


def test_a_name_that_two_tools_share_is_no_choice() -> None:
    """Neither is taken; both are named."""
    two = [made("refund_payment", namespace=one) for one in ("payments", "shop")]
    told = texts(agent(ScriptedModel(call("refund_payment"), "ok"), two).run_sync("?"))[0]
    assert "available now" not in told
    assert "payments__refund_payment, shop__refund_payment" in told


def test_an_unknown_name_never_prints_the_catalog() -> None:
    """With 500 tools the answer stays below 2 kB and has a few near names."""
    tools = [made(f"gauge_reader_{one:03d}", "Reads a gauge") for one in range(500)]
    model = ScriptedModel([call("gauge_reader_0007"), call("frobnicate"), call("x" * 50_000)], "ok")
    done = agent(model, tools).run_sync("?")
    near, far, long = texts(done)
    assert "gauge_reader_007" in near
    assert all(len(one.encode()) <= 2048 for one in (near, far, long))
    assert far.count("gauge") <= 5


def test_same_names_on_two_servers() -> None:
    """Both keep their place under distinct names that do not depend on the order; each call reaches its own."""
    tools = [
        Tool(spec("send_note", f"Send by {how}", namespace=space), lambda arguments, context, how=how: how)
        for space, how in (("post_a", "pigeon"), ("post_b", "barge"))
    ]
    names: list[set[str]] = []
    for order in (tools, tools[::-1]):
        model = ScriptedModel(search("send"), "ok")
        agent(model, order).run_sync("?")
        names.append(set(model.names(1)) - {SEARCH})
    assert names[0] == names[1]
    assert len(names[0]) == 2
    barge = next(one for one in names[0] if one.startswith("post_b"))
    model = ScriptedModel(search("barge"), call(barge), "ok")
    done = agent(model, tools).run_sync("?")
    assert texts(done)[1] == "barge"
    assert f"send_note as {barge}" in texts(done)[0]


def test_names_that_no_provider_takes() -> None:
    """Dots, slashes, blanks, other scripts and long names become legal, distinct and callable."""
    given = [
        "admin.tools.list",
        "user-profile/update",
        "3d_print",
        "make tea",
        "ns:run",
        "налить_чай",
        "$ref",
        "x" * 90,
    ]
    tools = [made(one, run=lambda arguments, context, one=one: one) for one in given]
    probe = ScriptedModel("ok")
    agent(probe, tools, search=None).run_sync("?")
    names = probe.names()
    model = ScriptedModel([call(one) for one in names], "ok")
    assert texts(agent(model, tools, search=None).run_sync("?")) == given


@pytest.mark.parametrize("show", ["inline", "proxy"])
@pytest.mark.parametrize(
    "tool_id", ["天气/查询天气", "a" * 80, "ns/" + "very_long_name_" * 8, "Öffne_Tür", "1st", "x/🚀"], ids=ascii
)
def test_a_tool_of_an_index_whose_name_no_provider_takes(tool_id: str, show: Any) -> None:
    """Once it is found it can be called by the name that it was shown with."""
    namespace, _, name = tool_id.rpartition("/")
    index = ToolIndex.from_tools([ToolSpec(name=name, namespace=namespace, description="weather")], encoder=None)
    index.bind({tool_id: lambda arguments, context: "ran"})
    called = exposed_name(tool_id)
    by_name = call("call_tool", name=called, arguments={}) if show == "proxy" else call(called)
    model = ScriptedModel(call("search_tools" if show == "proxy" else SEARCH, query="weather"), by_name, "ok")
    done = agent(model, [index], search="lexical", show=show).run_sync("?")
    assert texts(done)[1] == "ran"


def test_a_long_name_of_an_index_outlives_its_search() -> None:
    """Called without a search, it is told apart from a name that no tool has."""
    index = ToolIndex.from_tools([ToolSpec(name="read_the_gauge_of_the_boiler_" * 4)], encoder=None)
    model = ScriptedModel(call(exposed_name("read_the_gauge_of_the_boiler_" * 4)), "ok")
    done = agent(model, [index], search="lexical").run_sync("?")
    assert done.tool_executions[0].result.attributes["error"] == "tool_not_loaded"
