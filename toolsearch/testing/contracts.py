"""Suites for what you implement yourself: a chat model, a store of conversations, a search strategy.

Each raises ContractBroken with what is wrong, and returns nothing when all is well.
"""

from __future__ import annotations

from collections.abc import Callable

from toolsearch.agent.entries import Conversation, ConversationStore, Entry
from toolsearch.chat import ChatModel, ChatRequest, ChatResponse, TextDelta
from toolsearch.conversation import AssistantMessage, ToolCall, ToolResult, UserMessage
from toolsearch.errors import ToolExecutionError, ToolSearchError
from toolsearch.protocols import ToolSearchRequest, ToolSearchStrategy
from toolsearch.strategies.corpus import view
from toolsearch.strategies.small import small_corpus
from toolsearch.tool import ToolSpec


class ContractBroken(ToolSearchError):
    """An implementation does not do what its protocol says."""


def check_store(make: Callable[[], ConversationStore]) -> None:
    """A store keeps conversations apart, whole and in order; `make` gives an empty one.

    Raises:
        ContractBroken: it does not.
    """
    store, call = make(), ToolCall("1", "t", '{"a": 1}')
    whole = Conversation(
        (
            Entry("r", 1, UserMessage("hi")),
            Entry("r", 2, AssistantMessage("", (call,))),
            Entry("r", 3, ToolResult.for_call(call, "x", is_error=True, attributes={"found_tools": ["a"]})),
        ),
        {"search": "search"},
    )
    _expect(store.load("a") == Conversation(), "an unknown conversation must be empty")
    _expect(store.update("a", lambda _: whole) == whole, "update must give the new conversation")
    _expect(store.load("a") == whole, "a conversation must come back as it was")
    _expect(store.load("b") == Conversation(), "conversations must be apart")
    seen: list[Conversation] = []

    def change(old: Conversation) -> Conversation:
        seen.append(old)
        return Conversation(old.entries[:1], old.facts)

    store.update("a", change)
    _expect(seen[-1:] == [whole], "update must be given what is stored")
    _expect(store.load("a").messages == (UserMessage("hi"),), "a shorter conversation must replace a longer one")
    store.delete("a")
    _expect(store.load("a") == Conversation(), "a deleted conversation must be empty")


async def check_model(model: ChatModel) -> None:
    """A model answers a greeting whole and streaming, takes a tool, and takes the result of a call.

    Raises:
        ContractBroken: it does not.
    """
    tool = ToolSpec(name="clock", description="The time", parameters={"type": "object", "properties": {}})
    tools = (tool,) if model.features.tools else ()
    request = ChatRequest(messages=(UserMessage("hello"),), tools=tools)
    _complete(await model.ask(request))
    last: object = None
    said: list[str] = []
    async for event in model.stream(request):
        last = event
        said += [event.text] if isinstance(event, TextDelta) else []
    if not isinstance(last, ChatResponse):
        raise ContractBroken("a stream must end with the whole response")
    _complete(last)
    _expect("".join(said) in ("", last.text), "the pieces of the text must add up to it")
    if tools:
        call = ToolCall("call_1", "clock")
        history = (UserMessage("time?"), AssistantMessage("", (call,)), ToolResult.for_call(call, "noon"))
        _complete(await model.ask(ChatRequest(messages=history, tools=tools)))


async def check_strategy(strategy: ToolSearchStrategy, arguments: str) -> None:
    """A strategy shows search tools, finds only what is searchable, and refuses broken arguments in its own words.

    `arguments` are those of a search for a parcel.

    Raises:
        ContractBroken: it does not.
    """
    shown = list(strategy.search_tools(None))
    _expect(bool(shown), "there must be at least one search tool")
    specs = [ToolSpec(name="weigh_parcel", description="Weigh a parcel"), ToolSpec(name="sing", description="Sing")]
    searchable = view(small_corpus(specs), exclude_ids=["sing"])
    request = ToolSearchRequest(tool_name=shown[0].name, arguments=arguments, searchable=searchable)
    found = await strategy.search(request)
    _expect(set(found.found) <= {"weigh_parcel"}, f"only searchable tools may be found, not {found.found!r:.200}")
    broken = ToolSearchRequest(tool_name=shown[0].name, arguments="{", searchable=searchable)
    try:
        await strategy.search(broken)
    except ToolExecutionError:
        return
    raise ContractBroken("broken arguments must raise ToolExecutionError")


def _complete(response: ChatResponse) -> None:
    ids = [call.id for call in response.tool_calls]
    _expect(all(ids) and len(set(ids)) == len(ids), "every call must have an id of its own")
    _expect(bool(response.text or ids), "an answer must have text or calls")


def _expect(true: bool, otherwise: str) -> None:
    if not true:
        raise ContractBroken(otherwise)
