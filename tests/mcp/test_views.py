"""No answer of the gateway depends on a tool that the caller may not see, nor on whether it exists."""

from __future__ import annotations

import asyncio
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.mcp.support import client, gateway, made
from toolsearch.agent.exposing import exposed
from toolsearch.mcp.calling import Caller
from toolsearch.tool import Tool

WORDS = ["refund", "invoice", "order", "ticket", "parcel", "customer"]
GROUPS = ["red", "blue"]

words = st.lists(st.sampled_from(WORDS), min_size=1, max_size=4)
tools = st.lists(
    st.tuples(words, words, st.sampled_from(["shop", "desk", ""]), st.sets(st.sampled_from(GROUPS))), max_size=8
)


def catalog(drawn: list[Any]) -> list[Tool]:
    found: dict[str, Tool] = {}
    for name, text, place, groups in drawn:
        one = made("_".join(name), " ".join(text), place, groups=tuple(sorted(groups)), aliases=("x" + name[0],))
        found.setdefault(one.spec.id, one)
    return list(found.values())


async def answers(shown: list[Tool], caller: Caller, asked: list[str], mode: str) -> list[Any]:
    """Everything that a caller can learn."""
    over = gateway(*shown, mode=mode, pinned=["shop/refund"], max_tools=5)
    async with client(over, caller) as connected:
        calls = [("search_tools", {"query": " ".join(asked)}), ("get_tool", {"names": asked})]
        calls += [("call_tool", {"name": name, "arguments": {}}) for name in asked]
        calls += [(name, {}) for name in asked]
        told = [(await connected.call_tool(name, given)).model_dump() for name, given in calls]
        return [*told, (await connected.list_tools()).model_dump()]


@settings(max_examples=8, deadline=None)
@given(tools, st.sets(st.sampled_from(GROUPS)), words, st.sampled_from(["proxy", "passthrough"]))
def test_hidden_tools_leave_no_trace(drawn: list[Any], groups: set[str], asked: list[str], mode: str) -> None:
    """Search, look-up, call, list, counts, near names and summary are those of a catalog without them."""
    whole = catalog(drawn)
    seen = [tool for tool in whole if not tool.spec.groups or groups & set(tool.spec.groups)]
    hidden = [tool for tool in whole if tool not in seen]
    names = [*asked, *(exposed(tool.spec.id) for tool in hidden), *(tool.spec.id for tool in hidden)]
    names += [name.upper() for name in names[:2]] + ["x" + asked[0]]
    caller = Caller(frozenset(groups))

    async def both() -> tuple[list[Any], list[Any]]:
        return await answers(whole, caller, names[:20], mode), await answers(seen, caller, names[:20], mode)

    with_hidden, without = asyncio.run(both())
    assert with_hidden == without
