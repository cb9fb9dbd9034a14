"""The calls of one answer, told apart: each has an id of its own, whatever the server gave."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from toolsearch.conversation import AssistantMessage, ToolCall


def distinct(message: AssistantMessage, known: Collection[str]) -> AssistantMessage:
    """The message with new ids where two of its calls have one, or one of `known` ids, those of earlier calls.

    Servers that number the calls of each answer anew give such. What was kept verbatim holds the old ids and is
    left out then.
    """
    taken = set(known)
    calls: list[ToolCall] = []
    for call in message.calls:
        own, number = call.id, 2
        while own in taken:
            own, number = f"{call.id}_{number}", number + 1
        taken.add(own)
        calls.append(call if own == call.id else replace(call, id=own))
    return message if tuple(calls) == message.calls else AssistantMessage(message.text, tuple(calls))
