"""Runs conversations through the host, once for each way of showing tools, and counts what every request holds."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.agent.conversations import Conversation, Plan, catalog, conversations
from benchmarks.agent.model import Asker
from benchmarks.agent.tokens import counted, serialised
from benchmarks.runner import build
from benchmarks.tasks import Task
from toolsearch import Agent, ChatMemory, ToolIndex
from toolsearch.agent.choosing import PROXY_TOOL, TOOL
from toolsearch.agent.exposing import name_of
from toolsearch.agent.limits import Limits
from toolsearch.agent.preselection import PreselectingToolProvider
from toolsearch.agent.showing import Show
from toolsearch.chat import ChatRequest
from toolsearch.errors import ToolsUnsupported
from toolsearch.llm.anthropic import features_of
from toolsearch.protocols import ToolView
from toolsearch.testing.samples import sample_arguments
from toolsearch.tool import Executor, Json

SEARCHING: dict[str, Show] = {"inline": "inline", "native": "native", "proxy": "proxy"}
WAYS = ("whole", *SEARCHING, "preselection")
WINDOW = 30
"""Messages that are remembered where messages are evicted; it goes down to three quarters of that."""
FOR_EVER = 1_000_000
SYSTEM = (
    "You are the assistant of a company. You help its people with whatever they ask, by calling tools. Use the tools "
    "rather than your memory, do exactly what is asked, and say plainly when something cannot be done. Answer in the "
    "language of the question, briefly, with the figures that the tools gave. Never make up an identifier."
)
RESULT = json.dumps({"status": "ok", "id": "res_7k2m9q4x", "created": "2026-03-02T09:00:00Z", "items": [1, 2, 3] * 20})


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """How tools are shown, over how many, with a memory that evicts or keeps all; `strategy` finds them."""

    size: int
    way: str
    evicting: bool
    strategy: str = "hybrid"


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One conversation: tokens of all its requests, and the needs of all its turns."""

    size: int
    way: str
    evicting: bool
    conversation: int
    turns: int
    requests: int
    searches: int
    input: int
    cached: int
    needed: int
    ready: int
    at_once: int


class Shop:
    """An index whose tools can all be called, with the same answer."""

    def __init__(self, index: ToolIndex) -> None:
        self._index = index

    def view(self, *, caller: Iterable[str] | None = None) -> ToolView:
        """What the index holds."""
        return self._index.view(caller=caller)

    def executor(self, tool_id: str) -> Executor | None:
        """What answers a call."""
        return _answered if self._index.view().get(tool_id) else None


def _answered(arguments: object, context: object = None) -> str:
    return RESULT


def bills_of(task: Task, size: int, ways: Sequence[str], strategy: str, plan: Plan | None = None) -> list[Row]:
    """The rows of one catalog size, for every way of showing tools, with and without eviction."""
    talks = conversations(task, plan or Plan())
    place = build(catalog(task, talks, size), "" if strategy == "lexical" else "builtin").folder
    cases = [Case(size=size, way=way, evicting=e, strategy=strategy) for way in ways for e in (False, True)]
    with ToolIndex.open(place, read_only=True) as index:
        return list(bills(index, talks, cases))


def bills(index: ToolIndex, talks: Sequence[Conversation], cases: Iterable[Case]) -> Iterator[Row]:
    """One row for each case and conversation; none where a case cannot show the catalog at all."""
    for case in cases:
        for number, talk in enumerate(talks):
            try:
                asker, requests = held(index, talk, case)
            except ToolsUnsupported:
                break
            yield _row(asker, requests, case, number)


def held(index: ToolIndex, talk: Conversation, case: Case) -> tuple[Asker, list[ChatRequest]]:
    """Hold one conversation; gives the model's mind and every request that was sent.

    Raises:
        ToolsUnsupported: there are more tools than a request may hold.
    """
    searching, proxied = case.way in SEARCHING, case.way == "proxy"
    search = (PROXY_TOOL if proxied else TOOL).name if searching else None
    asker = Asker(search, _arguments(index, talk), proxied)
    model, shop = asker.model(features_of("claude")), Shop(index)
    chosen = PreselectingToolProvider(tools=shop, chooser=case.strategy) if case.way == "preselection" else shop
    agent = Agent(
        model,
        tools=[chosen],
        memory=ChatMemory(max_messages=WINDOW if case.evicting else FOR_EVER),
        system=SYSTEM,
        search=case.strategy if searching else None,
        show=SEARCHING.get(case.way, "inline"),
        limits=Limits(max_visible_tools=model.features.max_tools) if case.way == "whole" else Limits(),
        approval="never",
    )
    for query in talk:
        agent.run_sync(asker.begin(query))
    return asker, model.requests


def _arguments(index: ToolIndex, talk: Conversation) -> dict[str, Json]:
    view = index.view()
    specs = (view.get(tool) for query in talk for tool in query.relevant)
    return {name_of(spec): sample_arguments(spec) for spec in specs if spec}


def _row(asker: Asker, requests: Sequence[ChatRequest], case: Case, number: int) -> Row:
    sent = [serialised(request) for request in requests]
    tokens = [counted(before, now) for before, now in zip([b"", *sent], sent, strict=False)]
    turns = asker.turns
    return Row(
        size=case.size,
        way=case.way,
        evicting=case.evicting,
        conversation=number,
        turns=len(turns),
        requests=len(sent),
        searches=sum(one.searches for one in turns),
        input=sum(one.input for one in tokens),
        cached=sum(one.cached for one in tokens),
        needed=sum(one.needed for one in turns),
        ready=sum(one.ready for one in turns),
        at_once=sum(one.at_once for one in turns),
    )


def write(rows: Iterable[Row], file: Path) -> None:
    """Write rows, one a line."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(json.dumps(asdict(row)) + "\n" for row in rows), "utf-8")
