"""Stores: conversations by id, changed as one step, safe under several writers."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import pytest

from toolsearch.agent.entries import Conversation, ConversationStore, Entry, merged
from toolsearch.agent.stores import MemoryStore, SQLiteStore
from toolsearch.conversation import AssistantMessage, Media, Text, ToolCall, ToolResult, UserMessage, problems
from toolsearch.errors import InvalidInput


@pytest.fixture(params=["memory", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> ConversationStore:
    return MemoryStore() if request.param == "memory" else SQLiteStore(tmp_path / "conversations.db")


CALL = ToolCall("1", "tool", '{"a": 1}')
ALL_KINDS = Conversation(
    (
        Entry("r", 0, UserMessage([Text("hi"), Media(media_type="image/png", data="AA==")], summary=True)),
        Entry("r", 1, AssistantMessage("", (CALL,), {"anthropic": [{"type": "thinking"}]})),
        Entry("r", 2, ToolResult.for_call(CALL, "no", is_error=True, attributes={"found_tools": ["a"]})),
    ),
    {"search": "all"},
)


def test_round_trip(store: ConversationStore) -> None:
    """Every kind of message, attributes and facts come back as they were."""
    store.update("m", lambda _: ALL_KINDS)
    assert store.load("m") == ALL_KINDS
    assert Conversation.from_json(ALL_KINDS.to_json()) == ALL_KINDS


def test_conversations_are_apart(store: ConversationStore) -> None:
    """What one conversation holds, another does not, and a deleted one starts empty."""
    store.update("a", lambda _: ALL_KINDS)
    assert store.load("b") == Conversation()
    store.delete("a")
    assert store.load("a") == Conversation()


def test_idle_conversations_leave_as_a_whole(store: MemoryStore | SQLiteStore) -> None:
    """A conversation that expired leaves nothing behind under its id."""
    store.update("a", lambda _: ALL_KINDS)
    assert store.delete_idle(3600) == 0
    assert store.delete_idle(-1) == 1
    assert store.load("a") == Conversation()


def test_threads_lose_nothing(store: ConversationStore) -> None:
    """Changes of eight threads are all there."""

    def write(name: str) -> None:
        for number in range(10):
            entry = Entry(name, number, UserMessage(str(number)))
            store.update("m", lambda old, entry=entry: Conversation((*old.entries, entry)))

    threads = [threading.Thread(target=write, args=(str(one),)) for one in range(8)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert len(store.load("m").entries) == 80


WRITER = """
import sys
from toolsearch.agent.entries import Conversation, Entry, merged
from toolsearch.agent.stores import SQLiteStore
from toolsearch.conversation import AssistantMessage, ToolCall, ToolResult, UserMessage
path, name = sys.argv[1:]
own = []
for number in range(20):
    call = ToolCall(f"{name}{number}", "tool")
    for message in (AssistantMessage("", (call,)), ToolResult.for_call(call, "ok")):
        own.append(Entry(name, len(own), message))
    SQLiteStore(path).update("m", lambda old: merged(old, name, own, ()))
"""


def test_two_processes_do_not_tear_a_conversation(tmp_path: Path) -> None:
    """Two processes write to one conversation; every call keeps its result right behind it."""
    path = tmp_path / "shared.db"
    SQLiteStore(path)
    writers = [subprocess.Popen([sys.executable, "-c", WRITER, str(path), name]) for name in ("a", "b")]
    assert [one.wait(60) for one in writers] == [0, 0]
    messages = SQLiteStore(path).load("m").messages
    assert len(messages) == 80
    assert not problems(messages)


def test_a_run_takes_only_its_own_away() -> None:
    """What another run wrote meanwhile stays; what this run evicted leaves."""
    stored = Conversation((Entry("old", 0, UserMessage("1")), Entry("other", 0, UserMessage("2"))))
    own = [Entry("me", 0, UserMessage("3"))]
    assert merged(stored, "me", own, {("old", 0)}).messages == (UserMessage("2"), UserMessage("3"))


@pytest.mark.parametrize("text", ["", "[]", '{"v": 9}', '{"v": 1, "entries": [1], "facts": {}}', "[" * 100_000])
def test_foreign_data_is_refused(text: str) -> None:
    """Something that is no stored conversation is an error that says so."""
    with pytest.raises(InvalidInput):
        Conversation.from_json(text)


def test_a_file_of_something_else_is_refused(tmp_path: Path) -> None:
    """And named, before a conversation begins."""
    (tmp_path / "notes.txt").write_text("buy bread " * 100, "utf-8")
    with pytest.raises(InvalidInput, match=r"notes\.txt"):
        SQLiteStore(tmp_path / "notes.txt")
