"""Which messages leave a conversation that has grown too long: whole units, oldest first, the newest stays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from toolsearch.agent.entries import Entry
from toolsearch.conversation import AssistantMessage, Message, SystemMessage, Text, ToolResult, UserMessage

MEDIA_TOKENS: Final = 800
"""What one image or file is taken to cost, in tokens."""
MESSAGE_TOKENS: Final = 4
"""What a message costs besides its text."""

Size = Callable[[Sequence[Message]], int]


@dataclass(frozen=True, slots=True)
class Evicted:
    """What stays and what leaves, both in order."""

    kept: tuple[Entry, ...]
    dropped: tuple[Entry, ...] = ()


def units(entries: Sequence[Entry]) -> list[tuple[Entry, ...]]:
    """Entries that leave together: a message with calls and all its results, or one message alone."""
    found: list[list[Entry]] = []
    for entry in entries:
        if isinstance(entry.message, ToolResult) and found:
            found[-1].append(entry)
        else:
            found.append([entry])
    return [tuple(unit) for unit in found]


def evicted(entries: Sequence[Entry], size: Size, limit: int, target: int) -> Evicted:
    """Entries after eviction: untouched while their size is at most `limit`, else cut down to `target`.

    The newest unit always stays, even when it is larger than the limit alone: the model has to see it.
    """
    if size([entry.message for entry in entries]) <= limit:
        return Evicted(tuple(entries))
    parts = units(entries)
    gone = 0
    while gone < len(parts) - 1 and size([one.message for unit in parts[gone:] for one in unit]) > target:
        gone += 1
    return Evicted(
        tuple(one for unit in parts[gone:] for one in unit), tuple(one for unit in parts[:gone] for one in unit)
    )


def count_messages(messages: Sequence[Message]) -> int:
    """How many messages there are."""
    return len(messages)


def estimate_tokens(messages: Sequence[Message]) -> int:
    """Tokens of messages, at four characters a token; a stand-in where no tokenizer of the model is at hand."""
    return sum(MESSAGE_TOKENS + _tokens(message) for message in messages)


def _tokens(message: Message) -> int:
    if isinstance(message, SystemMessage):
        return _text_tokens(message.text)
    if isinstance(message, AssistantMessage):
        calls = sum(_text_tokens(call.name) + _text_tokens(call.arguments) for call in message.calls)
        return _text_tokens(message.text) + calls
    content: UserMessage | ToolResult = message
    return sum(_text_tokens(part.text) if isinstance(part, Text) else MEDIA_TOKENS for part in content.content)


def _text_tokens(text: str) -> int:
    return (len(text) + 3) // 4
