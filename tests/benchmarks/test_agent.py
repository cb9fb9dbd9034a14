"""The agent's bill: tokens by the stated model, and conversations that need what they are said to need."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.agent.bill import WAYS, Case, bills, held
from benchmarks.agent.conversations import Plan, catalog, conversations, pool
from benchmarks.agent.table import bill_table
from benchmarks.agent.tokens import FLOOR, STEP, Tokens, common, counted, serialised
from benchmarks.tasks import Task, development_parts
from tests.benchmarks.conftest import TOOLS
from toolsearch import ToolIndex
from toolsearch.chat import ChatRequest
from toolsearch.conversation import AssistantMessage, Reference, ToolCall, ToolResult, UserMessage
from toolsearch.evaluation.judged import JudgedQuery
from toolsearch.tool import ToolSpec

EASY = (
    JudgedQuery(id="a", query="give the customer the money back", relevant={"refund_payment": 1}),
    JudgedQuery(id="b", query="print the address label of a parcel", relevant={"print_label": 1}),
    JudgedQuery(id="c", query="write an email to somebody", relevant={"send_email": 1}),
    JudgedQuery(id="a2", query="give the customer the money back again", relevant={"refund_payment": 1}),
)


@pytest.fixture(scope="module")
def index():
    tools = [ToolSpec(name=name, description=text) for name, text in TOOLS.items()]
    with ToolIndex.from_tools(tools, encoder=None) as made:
        yield made


def test_the_first_request_is_not_cached() -> None:
    """Nothing comes before it."""
    assert counted(b"", b"x" * 40_000) == Tokens(10_000, 0)


def test_cached_is_what_begins_alike_in_whole_steps_above_a_floor() -> None:
    """Below the floor nothing is cached; above it, whole steps."""
    now = b"x" * 4 * (FLOOR + STEP + 5) + b"y" * 400
    assert counted(now[: 4 * (FLOOR + STEP + 5)], now).cached == FLOOR + STEP
    assert counted(now[: 4 * FLOOR - 4], now).cached == 0


@pytest.mark.parametrize(
    ("first", "second", "shared"),
    [(b"", b"ab", 0), (b"abc", b"abd", 2), (b"ab", b"abc", 2), (b"ab", b"ab", 2), (b"x", b"y", 0)],
)
def test_common_start(first: bytes, second: bytes, shared: int) -> None:
    """How far two texts agree."""
    assert common(first, second) == common(second, first) == shared


def test_a_reference_stands_for_the_definition() -> None:
    """A deferred tool is read where it is referred to, so that what came before stays cached."""
    tool, found = ToolSpec(name="search"), ToolSpec(name="refund", description="Give money back")
    call = ToolCall("1", "search", "{}")
    start = (UserMessage("hi"), AssistantMessage("", (call,)))
    before = serialised(ChatRequest(messages=start, tools=(tool,)))
    result = ToolResult("1", "search", (Reference("refund"),))
    after = serialised(ChatRequest(messages=(*start, result), tools=(tool,), deferred=(found,)))
    assert after.startswith(before)
    assert after[len(before) :].count(b"Give money back") == 1


@pytest.mark.parametrize("way", WAYS)
def test_every_way_lets_the_model_do_what_is_asked(way: str, index: ToolIndex) -> None:
    """Each needed tool is called, whichever way tools are shown; the last was seen before and needs no search."""
    asker, requests = held(index, EASY, Case(size=5, way=way, evicting=False, strategy="lexical"))
    assert [turn.ready for turn in asker.turns] == [1, 1, 1, 1]
    assert asker.turns[-1].at_once == 1
    assert asker.turns[-1].searches == 0
    results = [one.text for one in requests[-1].messages if isinstance(one, ToolResult)]
    assert sum('"status": "ok"' in text for text in results) == 4


def test_what_is_fixed_never_changes(index: ToolIndex) -> None:
    """The whole list and the proxy's tools are the same in every request, and native leaves its list alone, too."""
    for way in ("whole", "proxy", "native"):
        _, requests = held(index, EASY, Case(size=5, way=way, evicting=False, strategy="lexical"))
        assert all(request.tools == requests[0].tools for request in requests)


def test_the_table_has_a_row_for_every_case(index: ToolIndex) -> None:
    """Rows are told by size, way and memory; a case that cannot be shows so."""
    cases = [Case(size=5, way="proxy", evicting=evicting, strategy="lexical") for evicting in (False, True)]
    rows = list(bills(index, [EASY, EASY[:2]], cases))
    assert [(row.evicting, row.conversation, row.turns) for row in rows] == [
        (False, 0, 4),
        (False, 1, 2),
        (True, 0, 4),
        (True, 1, 2),
    ]
    text = bill_table(rows, [5], ["proxy", "whole"])
    assert text.count(" 100 (100 to 100) |") == 2
    assert text.count("not possible") == 2


def test_conversations_fit_small_catalogs(data: Path) -> None:
    """Requests are taken while few tools are needed, and the catalog keeps those."""
    first, second = development_parts(data)
    task = Task("both", "small", first.source, (*first.queries, *second.queries))
    assert len({tool for query in pool(task.queries, 2, 0) for tool in query.relevant}) <= 2
    talks = conversations(task, Plan(conversations=3, turns=5, tools=2))
    assert [len(talk) for talk in talks] == [5, 5, 5]
    needed = {tool for talk in talks for query in talk for tool in query.relevant}
    assert needed <= {tool.id for tool in catalog(task, talks, 3).tools()}
    assert len(catalog(task, talks, 3).tools()) == 3
