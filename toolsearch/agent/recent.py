"""What was said last, as those who choose tools read it: texts of the person and the model, the question last."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from toolsearch.agent.providers import ProviderRequest
from toolsearch.conversation import AssistantMessage, Media, Message, Part, UserMessage
from toolsearch.questions import State

MAX_NEEDS: Final = 5
"""Texts that a retriever searches for at once; each takes places from the others."""


@dataclass(frozen=True, slots=True)
class Said:
    """One text of a conversation; `role` is user or assistant."""

    role: str
    text: str


def recent(request: ProviderRequest, most: int) -> list[Said]:
    """At most the last `most` texts, oldest first, the person's own question last; empty when it has no text.

    System messages, calls, results and summaries are left out and not counted. The question is taken as it was
    asked, without what was added to it for the model.
    """
    question = said_by_person(request.context.message)
    if not question.strip():
        return []
    earlier = [one for message in before_question(request) if (one := _said(message))]
    return [*earlier, Said("user", question)][-most:]


def before_question(request: ProviderRequest) -> Sequence[Message]:
    """The messages before the current question; all of them when it is not among them yet."""
    context, messages = request.context, request.messages
    places = [place for place, one in enumerate(messages) if isinstance(one, UserMessage) and not one.summary]
    newest = messages[places[-1]] if places else None
    if isinstance(newest, UserMessage) and newest.content in (context.message.content, context.augmented.content):
        return messages[: places[-1]]
    return messages


def said_by_person(message: UserMessage) -> str:
    """A message as text; what is no text leaves a mark such as [attached image]."""
    return "\n".join(text for part in message.content if (text := _text(part)))


def _text(part: Part) -> str:
    return f"[attached {part.kind}]" if isinstance(part, Media) else getattr(part, "text", "")


def state_of(said: Sequence[Said], most: int) -> State:
    """What a judge is asked about: the question alone as a text, or the last messages as an object."""
    if most == 1:
        return said[-1].text
    return {"messages": [{"role": one.role, "text": one.text} for one in said]}


def needs_of(said: Iterable[Said]) -> list[str]:
    """What a retriever searches for: the person's own last texts, the newest first, each once."""
    return list(dict.fromkeys(one.text for one in reversed(list(said)) if one.role == "user"))[:MAX_NEEDS]


def _said(message: Message) -> Said | None:
    if isinstance(message, UserMessage) and not message.summary:
        text = said_by_person(message)
        return Said("user", text) if text.strip() else None
    if isinstance(message, AssistantMessage) and message.text.strip():
        return Said("assistant", message.text)
    return None
