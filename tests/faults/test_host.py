"""Faults that users of hosts reported, run through one adapter: a real index, a real agent, a scripted model."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from toolsearch import Agent, ChatMemory, Limits, RetrieverStrategy, ToolIndex, ToolSearchResult, ToolSpec
from toolsearch.agent.entries import Conversation, Entry
from toolsearch.agent.records import RunResult
from toolsearch.chat import ChatRequest
from toolsearch.conversation import ToolCall, UserMessage
from toolsearch.strategies.retrievers import open_retriever
from toolsearch.testing.models import ScriptedModel, call

CASES = yaml.safe_load((Path(__file__).parent / "host.yaml").read_text("utf-8"))
SEARCH = "tool_search_tool"
LOAD = "load:"


class Finder:
    """Searches with words; a query of names after "load:" finds exactly these, whether they exist or not."""

    def __init__(self, k: int) -> None:
        self._inner = RetrieverStrategy(retriever=open_retriever("lexical"), max_results=k)

    def search_tools(self, context: Any = None) -> list[ToolSpec]:
        spec = self._inner.search_tools(context)[0]
        return [spec.with_(name="search_tools") if getattr(context, "agent", "") == "proxy" else spec]

    async def search(self, request: Any) -> ToolSearchResult:
        query = json.loads(request.arguments)["query"]
        if not query.startswith(LOAD):
            return await self._inner.search(request)
        return ToolSearchResult(found=tuple(query.removeprefix(LOAD).split()), text="Loaded.")


def lines(steps: Sequence[Mapping[str, Any]], case: Mapping[str, Any]) -> list[Any]:
    """A script of a fixture, as the model's."""
    search = "search_tools" if case.get("show") == "proxy" else SEARCH
    made: dict[str, Callable[[Any], Any]] = {
        "say": str,
        "search": lambda query: call(search, query=query),
        "both": lambda queries: [call(search, query=one) for one in queries],
        "load": lambda names: call(search, query=LOAD + " ".join(names)),
        "load_first": lambda count: call(search, query=LOAD + " ".join(rule(case, one) for one in range(count))),
        "bridge": lambda name: call("call_tool", name=name, arguments={}),
        "look": lambda name: call("get_tool", name=name),
    }
    return [
        call(one["call"], **one.get("args", {})) if "call" in one else made[(verb := next(iter(one)))](one[verb])
        for one in steps
    ]


def rule(case: Mapping[str, Any], number: int) -> str:
    return str(case["generate"]["name"]).format(i=number)


@dataclass
class Host:
    """One catalog, one memory, and what was run."""

    case: Mapping[str, Any]
    ran: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        made = self.case.get("generate", {"count": 0})
        tools = [ToolSpec(**one) for one in self.case.get("tools", [])]
        tools += [
            ToolSpec(name=rule(self.case, one), description=made["description"].format(i=one))
            for one in range(made["count"])
        ]
        self.index = ToolIndex.from_tools(tools, encoder=None)
        self.index.bind({one.id: lambda arguments, context: self.ran.append("x") or "done" for one in tools})
        self.memory = ChatMemory(max_messages=self.case.get("window", 500))

    def agent(self, model: ScriptedModel, step: Mapping[str, Any]) -> Agent:
        searched = self.case.get("search") != "none"
        show = self.case.get("show", "inline")
        return Agent(
            model,
            tools=[self.index],
            memory=self.memory,
            search=Finder(self.case.get("k", 5)) if searched else None,
            show=show,
            name=show,
            always_visible=self.case.get("pinned", ()),
            concurrent=step.get("concurrent", False),
            limits=Limits(max_visible_tools=self.case.get("max_visible", 128)),
        )

    def step(self, step: Mapping[str, Any]) -> None:
        who = step.get("who", "s1")
        if "remove" in step:
            self.index.remove(step["remove"])
        elif "expire" in step:
            self.memory.clear(who)
        elif "compact" in step:
            summary = Entry("c", 1, UserMessage("They talked.", summary=True))
            self.memory.store.update(who, lambda old: replace(old, entries=(summary,)))
        else:
            script = lines(step["say"], self.case)
            model = ScriptedModel(*script[:-1] * step.get("times", 1), script[-1])
            self.ran.clear()
            done = self.agent(model, step).run_sync("question?", memory_id=who, caller=step.get("caller"))
            assert model.left == 0
            Seen(done, model.requests, self.ran).check(step.get("expect", {}))


@dataclass
class Seen:
    """What a run did, held against what a fixture expects."""

    done: RunResult
    requests: Sequence[ChatRequest]
    ran: Sequence[str]

    def names(self, request: int = -1) -> set[str]:
        return {spec.name for spec in self.requests[request].tools}

    @property
    def texts(self) -> str:
        return "\n".join(one.result.text for one in self.done.tool_executions)

    def check(self, expected: Mapping[str, Any]) -> None:
        for key, value in expected.items():
            getattr(self, f"has_{key}")(value)

    def has_content(self, text: str) -> None:
        assert self.done.content == text

    def has_shown(self, names: list[str]) -> None:
        assert set(names) <= self.names()

    def has_hidden(self, names: list[str]) -> None:
        assert not set(names) & set().union(*(self.names(one) for one in range(len(self.requests))))

    def has_hidden_now(self, names: list[str]) -> None:
        assert not set(names) & self.names()

    def has_first_hidden(self, names: list[str]) -> None:
        assert not set(names) & self.names(0)

    def has_errors(self, kinds: list[str]) -> None:
        assert [one.result.attributes.get("error") for one in self.done.tool_executions] == kinds

    def has_executed(self, flags: list[bool]) -> None:
        assert [one.executed for one in self.done.tool_executions] == flags

    def has_ran(self, times: int) -> None:
        assert len(self.ran) == times

    def has_told(self, texts: list[str]) -> None:
        assert all(text in self.texts for text in texts)

    def has_untold(self, texts: list[str]) -> None:
        assert not any(text in self.texts for text in texts)

    def has_bytes(self, most: int) -> None:
        assert len(self.texts.encode()) <= most

    def has_tools_max(self, most: int) -> None:
        assert all(len(one.tools) <= most for one in self.requests)

    def has_answered(self, _: bool) -> None:
        asked = [one.id for message in self.done.messages for one in getattr(message, "calls", ())]
        assert asked == [one.call.id for one in self.done.tool_executions]

    def has_repeated_after(self, count: int) -> None:
        kinds = [one.result.attributes.get("error") for one in self.done.tool_executions]
        assert kinds == [None] * count + ["repeated_search"] * (len(kinds) - count)


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_reported_fault(case: Mapping[str, Any]) -> None:
    """The fault does not occur; the scripted model refuses every request that a vendor would refuse."""
    host = Host(case)
    for step in case["steps"]:
        host.step(step)


@pytest.mark.parametrize("size", range(1, 6))
def test_a_window_never_parts_a_call_from_its_result(size: int) -> None:
    """Of five stored messages any window is sent as a valid history, with the newest question in it."""
    old = ToolCall("a", SEARCH, '{"query": "bay"}')
    from toolsearch.conversation import AssistantMessage, ToolResult

    stored = [UserMessage("q1"), AssistantMessage("", (old,)), ToolResult.for_call(old, "bay_free")]
    entries = tuple(Entry("old", place, one) for place, one in enumerate([*stored, AssistantMessage("done")]))
    memory = ChatMemory(max_messages=size)
    memory.store.update("default", lambda _: Conversation(entries, {"search": "search"}))
    model = ScriptedModel("ok")
    Agent(model, tools=[ToolSpec(name="bay_free")], memory=memory, search=Finder(5)).run_sync("q2")
    assert model.requests[0].messages[-1] == UserMessage("q2")


def test_each_list_of_tools_continues_the_one_before() -> None:
    """Loading changes nothing of what was sent; a tool that is found again is not moved."""
    tools = [
        ToolSpec(name="aa_sort", description="Sort the letter queue"),
        ToolSpec(name="mm_weigh", description="Weigh a letter"),
        ToolSpec(name="zz_seal", description="Seal a letter"),
    ]
    index = ToolIndex.from_tools(tools, encoder=None)
    queries = ["seal a letter", "sort letter queue", "seal"]
    model = ScriptedModel(*[call(SEARCH, query=one) for one in queries], "ok")
    Agent(model, tools=[index], search=Finder(1), memory=ChatMemory(max_messages=50)).run_sync("?")
    sent = [[json.dumps([one.name, one.description, one.parameters]) for one in seen.tools] for seen in model.requests]
    assert all(later[: len(first)] == first for first, later in itertools.pairwise(sent))
    assert sent[2] == sent[3]
