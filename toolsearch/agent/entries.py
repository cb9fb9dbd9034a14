"""What a store keeps of a conversation: messages, each with the run that wrote it, and a few facts."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from toolsearch.conversation import Message, UserMessage
from toolsearch.tool import Json, canonical
from toolsearch.transcript import message_json, message_of, stored

FORMAT: Final = 1


@dataclass(frozen=True, slots=True)
class Entry:
    """One message; `run` and `number` name it, whoever else writes to the conversation."""

    run: str
    number: int
    message: Message

    @property
    def key(self) -> tuple[str, int]:
        """Its name."""
        return self.run, self.number

    @property
    def row(self) -> list[Any]:
        """It as JSON."""
        return [self.run, self.number, message_json(self.message)]

    @classmethod
    def of(cls, row: Iterable[Any]) -> Entry:
        """The entry of a `row`."""
        run, number, message = row
        return cls(str(run), int(number), message_of(message))


@dataclass(frozen=True, slots=True)
class Conversation:
    """A stored conversation. `facts` hold what was settled for all of it, such as how tools are shown."""

    entries: tuple[Entry, ...] = ()
    facts: Json = field(default_factory=dict[str, Any])

    @property
    def messages(self) -> tuple[Message, ...]:
        """Its messages in order."""
        return tuple(entry.message for entry in self.entries)

    def to_json(self) -> str:
        """One JSON text."""
        rows = [entry.row for entry in self.entries]
        return canonical({"v": FORMAT, "entries": rows, "facts": self.facts}, what="a conversation")

    @classmethod
    def from_json(cls, text: str) -> Conversation:
        """What `to_json` wrote.

        Raises:
            InvalidInput: it is something else.
        """

        def read(body: Json) -> Conversation:
            return cls(tuple(map(Entry.of, body["entries"])), dict(body["facts"]))

        return stored(text, FORMAT, "a stored conversation", read)


def merged(stored: Conversation, run: str, own: Iterable[Entry], gone: Collection[tuple[str, int]]) -> Conversation:
    """The stored conversation with a run's entries at its end and what the run evicted left out.

    Entries that others wrote meanwhile stay, so two runs of one conversation never tear each other apart.
    """
    others = [entry for entry in stored.entries if entry.run != run and entry.key not in gone]
    return Conversation(tuple(sorted([*others, *own], key=_after_summary)), stored.facts)


def _after_summary(entry: Entry) -> bool:
    """A text that stands for earlier messages comes before all others."""
    return not (isinstance(entry.message, UserMessage) and entry.message.summary)


class ConversationStore(Protocol):
    """Keeps conversations by id. May be called from several threads and processes at once."""

    def load(self, memory_id: str) -> Conversation:
        """A conversation; an unknown one is empty."""
        ...

    def update(self, memory_id: str, change: Callable[[Conversation], Conversation]) -> Conversation:
        """Replace a conversation by what `change` makes of it, as one step for everybody; gives the new one."""
        ...

    def delete(self, memory_id: str) -> None:
        """Forget a conversation."""
        ...
