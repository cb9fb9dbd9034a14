"""What stays of a conversation: whole units, in every size of window."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolsearch.agent.entries import Entry
from toolsearch.agent.eviction import count_messages, estimate_tokens, evicted
from toolsearch.agent.memory import ChatMemory
from toolsearch.conversation import AssistantMessage, Media, Message, ToolCall, ToolResult, UserMessage, problems
from toolsearch.errors import InvalidInput


def entries(*messages: Message) -> list[Entry]:
    return [Entry("run", number, message) for number, message in enumerate(messages)]


def calls(number: int, *, first: int = 0) -> list[Message]:
    """An answer with calls and all its results."""
    made = tuple(ToolCall(f"c{first + one}", "tool") for one in range(number))
    return [AssistantMessage("", made), *(ToolResult.for_call(one, "x" * 40) for one in made)]


def window(size: int, *messages: Message, system: str = "") -> list[Message]:
    kept = ChatMemory(max_messages=size, evict_to="max").window("m", system, entries(*messages)).kept
    return [entry.message for entry in kept]


@st.composite
def histories(draw: st.DrawFn) -> list[Message]:
    found: list[Message] = []
    for place in range(draw(st.integers(1, 12))):
        kind = draw(st.sampled_from(["user", "answer", "calls"]))
        if kind == "calls":
            found += calls(draw(st.integers(1, 4)), first=place * 10)
        else:
            text = "word " * draw(st.integers(0, 30))
            found.append(UserMessage(text) if kind == "user" else AssistantMessage(text))
    return found


@settings(max_examples=150, deadline=None)
@given(histories(), st.integers(1, 40), st.sampled_from([0.25, 0.75, 1.0, "max"]), st.booleans())
def test_every_window_is_a_valid_history(messages: list[Message], limit: int, evict_to: object, tokens: bool) -> None:
    """Whatever the size, no call is parted from its results, and the newest unit is there."""
    memory = (
        ChatMemory(max_tokens=limit * 10, evict_to=evict_to)
        if tokens
        else ChatMemory(max_messages=limit, evict_to=evict_to)
    )
    done = memory.window("m", "be kind", entries(*messages))
    kept = [entry.message for entry in done.kept]
    assert not problems(kept)
    assert [*done.dropped, *done.kept] == entries(*messages)
    assert kept[-1] == messages[-1]


@settings(max_examples=60, deadline=None)
@given(histories(), st.integers(2, 30))
def test_one_pass_is_enough(messages: list[Message], limit: int) -> None:
    """What stays would stay again: reading a window changes nothing."""
    memory = ChatMemory(max_messages=limit)
    once = memory.window("m", "", entries(*messages)).kept
    assert memory.window("m", "", once).kept == once


def test_a_call_leaves_with_all_its_results() -> None:
    """Five messages in a window of three keep no orphan result (first message not a result)."""
    kept = window(3, UserMessage("q1"), *calls(1), AssistantMessage("done"), UserMessage("q2"))
    assert kept == [AssistantMessage("done"), UserMessage("q2")]


def test_reference_window_of_two() -> None:
    """A window of two drops the question for call and result, and both for the answer."""
    question, call, result = UserMessage("q"), *calls(1)
    assert window(2, question, call, result) == [call, result]
    assert window(2, call, result, AssistantMessage("a")) == [AssistantMessage("a")]


def test_more_results_than_the_window_holds() -> None:
    """One answer with three calls in a window of two stays whole; no late result is an orphan."""
    turn = calls(3)
    assert window(2, UserMessage("q"), *turn) == turn


def test_low_water_mark() -> None:
    """Passing the limit cuts down to three quarters, and nothing leaves again until it is passed."""
    memory = ChatMemory(max_messages=8)
    full = [UserMessage(str(number)) for number in range(9)]
    kept = memory.window("m", "", entries(*full)).kept
    assert len(kept) == 6
    grown = [*kept, *entries(UserMessage("a"), UserMessage("b"))]
    assert memory.window("m", "", grown).kept == tuple(grown)


def test_the_system_message_counts() -> None:
    """With a system message one place fewer is left."""
    messages = [UserMessage("a"), UserMessage("b")]
    assert window(2, *messages) == messages
    assert window(2, *messages, system="s") == messages[1:]


def test_tokens_count_calls_and_media() -> None:
    """The estimate sees arguments and media, four characters to a token."""
    assert estimate_tokens([UserMessage("12345678")]) == 6
    assert estimate_tokens([AssistantMessage("", (ToolCall("1", "abcd", "12345678"),))]) == 7
    assert estimate_tokens([UserMessage([Media(media_type="image/png", data="AA==")])]) == 804


def test_limit_may_depend_on_the_conversation() -> None:
    """A function of the conversation's id gives its limit."""
    memory = ChatMemory(max_messages=lambda one: 1 if one == "short" else 9, evict_to="max")
    both = entries(UserMessage("a"), UserMessage("b"))
    assert len(memory.window("short", "", both).kept) == 1
    assert len(memory.window("long", "", both).kept) == 2


def test_nothing_is_evicted_below_the_limit() -> None:
    """Reading a conversation that fits gives it back."""
    both = entries(UserMessage("a"), UserMessage("b"))
    assert evicted(both, count_messages, 2, 1).dropped == ()


@pytest.mark.parametrize("given", [{}, {"max_messages": 0}, {"max_messages": 1, "max_tokens": 1}])
def test_limits_are_checked(given: dict[str, int]) -> None:
    """Exactly one positive limit is needed."""
    with pytest.raises(InvalidInput):
        ChatMemory(**given)


def test_evict_to_is_checked() -> None:
    """A share outside of 0 to 1 is refused."""
    with pytest.raises(InvalidInput, match="evict_to"):
        ChatMemory(max_messages=3, evict_to=1.5)
