"""How much of a conversation is remembered, and where."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from toolsearch.agent.entries import ConversationStore, Entry
from toolsearch.agent.eviction import Evicted, Size, count_messages, estimate_tokens, evicted
from toolsearch.agent.stores import MemoryStore
from toolsearch.conversation import Message, SystemMessage
from toolsearch.errors import InvalidInput

Limit = int | Callable[[str], int]
Summarise = Callable[[Sequence[Message]], str | Awaitable[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatMemory:
    """A window over each conversation: at most so many messages, or tokens; the system message counts and stays.

    A limit may be a function of the conversation's id. When it is passed, the oldest messages leave until
    `evict_to` of it is left (a share, or "max" for as little as possible), so that the start of the requests stays
    the same for a while. A call and all its results leave together. `summarise` is given what leaves and
    returns the text that stands for it from then on. `count` gives the tokens of messages.

    Raises:
        InvalidInput: not exactly one limit is given, or a number is out of range.
    """

    max_messages: Limit | None = None
    max_tokens: Limit | None = None
    evict_to: float | Literal["max"] = 0.75
    store: ConversationStore = field(default_factory=MemoryStore)
    summarise: Summarise | None = None
    count: Size = estimate_tokens

    def __post_init__(self) -> None:
        if (self.max_messages is None) == (self.max_tokens is None):
            raise InvalidInput("a memory needs max_messages or max_tokens, and not both")
        for limit in (self.max_messages, self.max_tokens):
            if isinstance(limit, int) and limit < 1:
                raise InvalidInput(f"a memory of {limit} remembers nothing; leave the memory out instead")
        if self.evict_to != "max" and not 0 < self.evict_to <= 1:
            raise InvalidInput(f"evict_to is {self.evict_to!r}; it must be a share above 0 and up to 1, or 'max'")

    def window(self, memory_id: str, system: str, entries: Sequence[Entry]) -> Evicted:
        """What stays of a conversation with this system message."""
        head: list[Message] = [SystemMessage(system)] if system else []
        given = self.max_messages if self.max_messages is not None else self.max_tokens
        limit = given(memory_id) if callable(given) else given or 1
        counted = count_messages if self.max_messages is not None else self.count
        target = limit if self.evict_to == "max" else int(limit * self.evict_to)
        if self.summarise is not None and self.max_messages is not None:
            target -= 1
        return evicted(entries, lambda messages: counted([*head, *messages]), limit, target)

    def messages(self, memory_id: str = "default") -> tuple[Message, ...]:
        """What is remembered of a conversation."""
        return self.store.load(memory_id).messages

    def clear(self, memory_id: str = "default") -> None:
        """Forget a conversation."""
        self.store.delete(memory_id)
