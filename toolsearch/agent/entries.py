"""What a store keeps of a conversation: messages, each with the run that wrote it, and a few facts."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from toolsearch.conversation import Message, UserMessage
from toolsearch.errors import InvalidInput
from toolsearch.tool import Json, canonical
from toolsearch.transcript import message_json, message_of

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
        rows = [[entry.run, entry.number, message_json(entry.message)] for entry in self.entries]
        return canonical({"v": FORMAT, "entries": rows, "facts": self.facts}, what="a conversation")

    @classmethod
    def from_json(cls, text: str) -> Conversation:
        """What `to_json` wrote.

        Raises:
            InvalidInput: it is something else.
        """
        try:
            body: Any = json.loads(text)
            if body["v"] != FORMAT:
                raise InvalidInput(f"a conversation of format {body['v']!r:.40}; this version reads {FORMAT}")
            entries = tuple(Entry(run, number, message_of(one)) for run, number, one in body["entries"])
            return cls(entries, dict(body["facts"]))
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            if isinstance(error, InvalidInput):
                raise
            raise InvalidInput(f"not a stored conversation: {text[:80]!r}") from None


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
