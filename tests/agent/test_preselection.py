"""Preselection: what the reference's filtering provider does, by its numbers, and what ours adds."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from tests.agent.tools import agent, made
from toolsearch import ToolIndex
from toolsearch.agent.context import InvocationContext
from toolsearch.agent.exposing import exposed
from toolsearch.agent.memory import ChatMemory
from toolsearch.agent.preselection import PreselectingToolProvider
from toolsearch.agent.providers import Provided, ProviderRequest
from toolsearch.agent.stores import SQLiteStore
from toolsearch.conversation import (
    PRESELECTED,
    AssistantMessage,
    Media,
    Message,
    SystemMessage,
    Text,
    ToolCall,
    ToolResult,
    UserMessage,
)
from toolsearch.errors import DecisionFailed, InvalidInput
from toolsearch.protocols import SearchResult, ToolView
from toolsearch.questions import Decision, Question, State, YesNo, YesNoAnswer
from toolsearch.strategies.retrievers import open_retriever
from toolsearch.testing.models import ScriptedModel, call
from toolsearch.tool import SearchBehavior, Tool

NAMES = ["weather", "mail", "ping", "forecast"]


class Judge:
    """Takes the tools of these names for helpful; notes what it was asked."""

    def __init__(self, *helpful: str, fails: bool = False) -> None:
        self.helpful, self.fails = set(helpful), fails
        self.states: list[State] = []
        self.asked: list[list[str]] = []

    async def decide(self, state: State, questions: Mapping[str, Question]) -> Decision:
        names = [one.text.split("Tool: ")[1].split("\n")[0] for one in questions.values() if isinstance(one, YesNo)]
        self.states.append(state)
        self.asked.append(names)
        if self.fails:
            raise DecisionFailed("the judge is ill")
        pairs = zip(questions, names, strict=True)
        return Decision(answers={key: YesNoAnswer(0.9 if name in self.helpful else 0.1) for key, name in pairs})


def tools(names: Iterable[str] = NAMES, **more: Any) -> list[Tool]:
    return [made(name, f"about {name}", **more) for name in names]


def selecting(judge: Judge, given: Sequence[Tool] | None = None, **more: Any) -> PreselectingToolProvider:
    listed = tools() if given is None else given
    return PreselectingToolProvider(tools=Provided(function=lambda _: listed), chooser=judge, **more)


def asking(said: Any = "will it rain", history: Sequence[Message] = (), augmented: Any = None) -> ProviderRequest:
    message = said if isinstance(said, UserMessage) else UserMessage(said)
    more = UserMessage(augmented) if augmented else message
    context = InvocationContext(run_id="r", agent="a", memory_id=None, message=message, augmented=more)
    return ProviderRequest(context=context, messages=history)


def given(provider: PreselectingToolProvider, request: ProviderRequest | None = None) -> list[str]:
    found = asyncio.run(provider.provide(request or asking()))
    return [tool.spec.name for tool in found or ()]


def test_52_only_relevant_tools_in_the_providers_order() -> None:
    """Order is the provider's; the state holds the one message of the person."""
    judge = Judge("forecast", "weather")
    assert given(selecting(judge)) == ["weather", "forecast"]
    assert judge.states == [{"messages": [{"role": "user", "text": "will it rain"}]}]
    assert given(selecting(judge), asking(history=[AssistantMessage("Hello.")])) == ["weather", "forecast"]
    assert judge.states[1] == {
        "messages": [{"role": "assistant", "text": "Hello."}, {"role": "user", "text": "will it rain"}]
    }


def test_53_all_that_are_relevant_pass() -> None:
    """There is no bound unless one is set, and then the most likely stay."""
    many = [f"t{i}" for i in range(30)]
    assert given(selecting(Judge(*many), tools(many))) == many
    assert given(selecting(Judge(*many), tools(many), max_results=2)) == ["t0", "t1"]


def test_54_always_visible_tools_are_not_asked_about() -> None:
    """They pass."""
    judge = Judge()
    pinned = made("pinned", search=SearchBehavior.ALWAYS_VISIBLE)
    assert given(selecting(judge, [*tools(), pinned])) == ["pinned"]
    assert judge.asked == [NAMES]


def test_55_without_text_all_are_given() -> None:
    """Nobody is asked about a blank message."""
    judge = Judge()
    assert given(selecting(judge), asking("  ")) == NAMES
    assert judge.asked == []


@pytest.mark.parametrize("dynamic", [False, True])
def test_56_dynamic_as_the_provider(dynamic: bool) -> None:
    """It says of itself what the provider says."""
    inner = Provided(function=lambda _: tools(), dynamic=dynamic)
    assert PreselectingToolProvider(tools=inner, chooser=Judge()).dynamic is dynamic


def test_57_58_what_happens_when_the_judge_fails() -> None:
    """All tools, only those that are always given, or the error."""
    ill = Judge(fails=True)
    assert given(selecting(ill)) == NAMES
    assert given(selecting(ill, on_failure="none", always_include=["mail"])) == ["mail"]
    with pytest.raises(DecisionFailed, match="ill"):
        given(selecting(ill, on_failure="error"))


def test_59_always_included_names_keep_their_place() -> None:
    """One question fewer is asked; names that the provider lacks are ignored."""
    judge = Judge("forecast")
    assert given(selecting(judge, always_include=["mail", "absent"])) == ["mail", "forecast"]
    assert judge.asked == [["weather", "ping", "forecast"]]


HISTORY: list[Message] = [
    SystemMessage("be kind"),
    UserMessage("first"),
    AssistantMessage("", (ToolCall("c", "lookup"),)),
    ToolResult("c", "lookup", "found"),
    AssistantMessage("second"),
    UserMessage("third"),
    AssistantMessage("fourth"),
]


def test_60_68_the_last_texts_are_the_context() -> None:
    """Only texts of the person and the model count, the question last."""
    judge = Judge()
    given(selecting(judge, max_messages=3), asking("fifth", HISTORY))
    said = [("user", "third"), ("assistant", "fourth"), ("user", "fifth")]
    assert judge.states == [{"messages": [{"role": role, "text": text} for role, text in said]}]
    given(selecting(judge, max_messages=9), asking("fifth", HISTORY))
    state: Any = judge.states[1]
    assert [one["text"] for one in state["messages"]] == ["first", "second", "third", "fourth", "fifth"]


def test_61_62_the_question_stands_once_as_it_was_asked() -> None:
    """What was added to it is replaced; when the history lacks it, it is put at the end."""
    judge = Judge()
    for last in (UserMessage("rain? (context: a long document)"), UserMessage("rain?"), AssistantMessage("hm")):
        given(selecting(judge), asking("rain?", [AssistantMessage("hello"), last], "rain? (context: a long document)"))
    states: Any = judge.states
    said = [[one["text"] for one in state["messages"]] for state in states]
    assert said == [["hello", "rain?"], ["hello", "rain?"], ["hello", "hm", "rain?"]]


def test_63_tools_called_earlier_are_given_without_asking() -> None:
    """Whatever the question is about now."""
    judge = Judge("ping")
    history = [UserMessage("a"), AssistantMessage("", (ToolCall("c", "mail"),)), ToolResult("c", "mail", "sent")]
    assert given(selecting(judge), asking(history=history)) == ["mail", "ping"]
    assert judge.asked == [["weather", "ping", "forecast"]]


def test_64_nothing_to_ask() -> None:
    """When everything is always given, no request is made."""
    judge = Judge()
    assert given(selecting(judge, always_include=NAMES)) == NAMES
    assert judge.asked == []


def test_65_66_in_an_agent() -> None:
    """Both requests of the loop carry the same tools after one decision about the raw question."""
    judge = Judge("mail")
    model = ScriptedModel(call("mail"), "sent")
    host = agent(
        model, [selecting(judge, max_messages=1)], search=None, memory=None, augment=lambda m, _: f"{m.text} + doc"
    )
    assert host.run_sync("write to her").content == "sent"
    assert [model.names(0), model.names(1)] == [["mail"], ["mail"]]
    assert (judge.states, len(judge.asked)) == (["write to her"], 1)
    sent = model.requests[0].messages[-1]
    assert isinstance(sent, UserMessage)
    assert sent.text == "write to her + doc"


@pytest.mark.parametrize(
    "wrong", [{"tools": None}, {"max_messages": 0}, {"min_probability": 1.5}, {"max_results": 0}, {"on_failure": "cry"},
              {"template": "no name"}, {"batch": 0}, {"chooser": "magic"}],
)  # fmt: skip
def test_67_settings_are_checked(wrong: dict[str, Any]) -> None:
    """Each is refused when the provider is made."""
    with pytest.raises(InvalidInput):
        PreselectingToolProvider(**{"tools": Provided(function=lambda _: ()), "chooser": Judge(), **wrong})


def test_68_other_content_leaves_a_mark() -> None:
    """An image is told of, not sent."""
    judge = Judge()
    image = Media(media_type="image/png", data="AA==")
    given(selecting(judge, max_messages=1), asking(UserMessage([Text("what is this"), image])))
    assert judge.states == ["what is this\n[attached image]"]


def test_selected_tools_stay_for_the_conversation(tmp_path: Any) -> None:
    """Later messages add at the end and ask only about the rest; a restart gives the same list."""

    def host(judge: Judge, *script: Any) -> tuple[Any, ScriptedModel]:
        model = ScriptedModel(*script)
        memory = ChatMemory(max_messages=50, store=SQLiteStore(tmp_path / "c.sqlite"))
        return agent(model, [selecting(judge)], search=None, memory=memory), model

    first, model = host(Judge("ping"), "ok")
    first.run_sync("ping it")
    assert model.names() == ["ping"]
    stored = first.memory.store.load("default").messages[0]
    assert stored.attributes == {PRESELECTED: ["ping"]}
    judge = Judge("weather")
    again, model = host(judge, "ok", "ok")
    again.run_sync("rain?")
    assert model.names() == ["ping", "weather"]
    assert judge.asked == [["weather", "mail", "forecast"]]
    again.run_sync("thanks")
    assert model.names() == ["ping", "weather"]
    assert "ping" not in str(model.requests[-1].messages[1])


def test_selected_tools_are_visible_beside_a_search() -> None:
    """With a search as well, they are shown from the first request on."""
    model = ScriptedModel("ok")
    agent(model, [selecting(Judge("mail")), made("other")]).run_sync("write to her")
    assert model.names() == ["mail", "tool_search_tool"]


def test_groups_come_first() -> None:
    """A judge never reads a tool that the caller may not see."""
    judge = Judge("mail", "secret")
    provider = selecting(judge, [*tools(), made("secret", groups=("boss",))])
    model = ScriptedModel("ok")
    agent(model, [provider], search=None).run_sync("write", caller=["clerk"])
    assert model.names() == ["mail"]
    assert "secret" not in judge.asked[0]


def test_a_retriever_selects_as_well() -> None:
    """Hybrid by default; words alone without an encoder; the person's last texts are the needs."""
    listed = [made("send_mail", "Write a letter"), made("get_weather", "Rain and sun"), made("wash_car", "Wash a car")]
    provider = PreselectingToolProvider(tools=Provided(function=lambda _: listed), max_results=1, encoder=None)
    assert given(provider, asking("will there be rain")) == ["get_weather"]
    both = PreselectingToolProvider(tools=Provided(function=lambda _: listed), encoder=None, chooser="lexical")
    assert given(both, asking("rain", [UserMessage("a letter")])) == ["send_mail", "get_weather"]


def test_an_index_is_shortlisted() -> None:
    """Of an index only the best are looked at; what was selected earlier is taken from it by id."""
    index = ToolIndex.from_tools([*tools(), *tools([f"wash{i}" for i in range(100)])], encoder=None)
    judge = Judge("mail")
    provider = PreselectingToolProvider(tools=index, chooser=judge, shortlist=3, always_include=["ping"])
    asked = asking("write a mail", [UserMessage("x", attributes={PRESELECTED: ["wash7", "gone"]})])
    assert given(provider, asked) == ["wash7", "ping", "mail"]
    assert len(judge.asked[0]) <= 3
    assert asked.context.message.attributes == {PRESELECTED: ["mail"]}
    model = ScriptedModel(call("mail"), "sent")
    own = PreselectingToolProvider(tools=index, chooser="lexical", max_results=2)
    result = agent(model, [own], search=None).run_sync("a mail about the weather")
    assert model.names(0) == model.names(1)
    assert set(model.names(0)) == {"mail", "weather"}
    assert result.tool_executions[0].result.text == "done"


def test_an_index_gives_what_is_always_given() -> None:
    """Tools marked as always visible and tools called earlier come from an index too, though no search finds them."""
    pinned = made("pinned", search=SearchBehavior.ALWAYS_VISIBLE)
    hidden = made("boss", search=SearchBehavior.ALWAYS_VISIBLE, groups=("boss",))
    odd = made("Do It", namespace="far.off")
    listed = [pinned, hidden, odd, *tools([f"wash{i}" for i in range(50)]), *tools()]
    index = ToolIndex.from_tools(listed, encoder=None)
    name = exposed("far.off/Do It")
    history = [UserMessage("a"), AssistantMessage("", (ToolCall("c", "wash9"), ToolCall("d", name)))]
    judge = Judge("mail")
    provider = PreselectingToolProvider(tools=index, chooser=judge, shortlist=2)
    asked = asking("about mail", history)
    context = replace(asked.context, caller=frozenset({"clerk"}))
    found = given(provider, ProviderRequest(context=context, messages=history))
    assert (found[0], set(found)) == ("pinned", {"pinned", "wash9", "Do It", "mail"})
    assert "wash9" not in judge.asked[0]


def test_names_are_always_given_from_an_index_too() -> None:
    """An id, or a name without its namespace; names that there are not for this caller are ignored."""
    listed = [made("refund", namespace="shop"), made("rain", "rain tomorrow", namespace="sky")]
    hidden = made("secret", namespace="shop", groups=("boss",))
    index = ToolIndex.from_tools([*listed, hidden], encoder=None)
    for always in (["refund", "secret", "gone"], ["shop/refund"]):
        provider = PreselectingToolProvider(tools=index, chooser="lexical", max_results=1, always_include=always)
        asked = asking("rain tomorrow")
        context = replace(asked.context, caller=frozenset({"clerk"}))
        assert given(provider, ProviderRequest(context=context, messages=[])) == ["refund", "rain"]


class Finder:
    """A retriever that keeps how it was asked."""

    def __init__(self) -> None:
        self.asked: list[int] = []

    def search(self, needs: Sequence[str], view: ToolView, k: int) -> SearchResult:
        self.asked.append(k)
        return open_retriever("lexical").search(needs, view, k)


def test_the_shortlist_is_the_given_retrievers_in_the_given_thread() -> None:
    """A judge is asked about what it finds; searching and looking up what runs leave the event loop free."""
    index = ToolIndex.from_tools([*tools(), *tools(["wash"])], encoder=None)
    finder, judge, threads = Finder(), Judge("mail"), [0]

    async def thread(work: Callable[[], Any]) -> Any:
        threads[0] += 1
        return await asyncio.to_thread(work)

    provider = PreselectingToolProvider(tools=index, chooser=judge, shortlist=2, retriever=finder, thread=thread)
    assert given(provider, asking("mail")) == ["mail"]
    assert (finder.asked, threads) == ([2], [2])


def test_a_failure_is_told() -> None:
    """Who gives `failed` hears the error that was not raised."""
    heard: list[str] = []
    provider = selecting(Judge(fails=True), failed=lambda error: heard.append(str(error)))
    assert given(provider) == NAMES
    assert heard == ["the judge is ill"]


def test_nothing_is_chosen_twice_for_one_message() -> None:
    """A message that has its selection, as in a run that goes on after a pause, is not asked about again."""
    judge = Judge("mail")
    assert given(selecting(judge), asking(UserMessage("write", attributes={PRESELECTED: ["ping"]}))) == ["ping"]
    assert judge.asked == []
