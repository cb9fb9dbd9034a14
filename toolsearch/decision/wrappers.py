"""Small wrappers around any decision model: batches, a cache, listeners."""

from __future__ import annotations

import asyncio
import hashlib
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from functools import reduce
from itertools import islice
from operator import add
from typing import Any, Final

from toolsearch.errors import DecisionFailed, InvalidInput
from toolsearch.questions import Answer, Choice, Decision, DecisionModel, DecisionUsage, Question, Refusal, State
from toolsearch.tool import canonical


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What a server takes in one request. `concurrent` requests run at a time."""

    questions: int = 64
    options: int = 255
    characters: int = 200_000
    concurrent: int = 4


SERVERS: Final[Mapping[str, Limits]] = {
    "typesafe": Limits(questions=200, options=255, characters=180_000),
    "openrouter": Limits(questions=200, options=255, characters=180_000),
    "ollama": Limits(questions=64, options=26, characters=6_000),
    "laya": Limits(questions=64, options=100, characters=50_000),
    "openai": Limits(questions=400, options=255, characters=250_000),
}
"""Published or reported limits; tokens are counted as three characters each to be safe."""


@dataclass(frozen=True, slots=True)
class Batched:
    """Splits questions so that each request keeps within the limits, and joins the answers.

    The first request that fails fails the decision; the others are cancelled. A state that leaves no room is not sent.
    """

    model: DecisionModel
    limits: Limits = field(default_factory=Limits)

    async def decide(self, state: State, questions: Mapping[str, Question]) -> Decision:
        """See `DecisionModel.decide`.

        Raises:
            InvalidInput: a choice has more options than the server takes.
            DecisionFailed: the state alone is longer than the server takes.
        """
        for name, question in questions.items():
            if isinstance(question, Choice) and len(question.options) > self.limits.options:
                raise InvalidInput(
                    f"question {name[:80]!r} has {len(question.options)} options; the limit is {self.limits.options}"
                )
        gate = asyncio.Semaphore(self.limits.concurrent)

        async def ask(part: Mapping[str, Question]) -> Decision:
            async with gate:
                return await self.model.decide(state, part)

        parts = self._parts(state, questions)
        if len(parts) == 1:
            return await self.model.decide(state, questions)
        try:
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(ask(part)) for part in parts]
        except* DecisionFailed as failures:
            raise failures.exceptions[0] from None
        return joined([task.result() for task in tasks])

    def _parts(self, state: State, questions: Mapping[str, Question]) -> list[dict[str, Question]]:
        size = len(canonical(state, what="the state"))
        room = self.limits.characters - size
        if room <= 0:
            raise DecisionFailed(f"the state has {size} characters; this server takes {self.limits.characters} in all")
        parts: list[dict[str, Question]] = [{}]
        used = 0
        for name, question in questions.items():
            size = len(name) + len(str(question))
            if parts[-1] and (len(parts[-1]) >= self.limits.questions or used + size > room):
                parts.append({})
                used = 0
            parts[-1][name] = question
            used += size
        return parts


def limits_of(model: object) -> Limits | None:
    """The limits that a model keeps, whatever is wrapped around `Batched`; None where none are known."""
    while model is not None and not isinstance(model, Batched):
        model = getattr(model, "model", None)
    return None if model is None else model.limits


def joined(decisions: list[Decision]) -> Decision:
    """One decision of several over different questions."""
    answers: dict[str, Answer] = {}
    for decision in decisions:
        answers.update(decision.answers)
    usage = reduce(add, (decision.usage for decision in decisions), DecisionUsage(requests=0))
    return Decision(answers=answers, model=decisions[0].model, usage=usage)


class Cached:
    """Remembers answers by model, question and state, the least recently used leave first.

    Only asked for by who wants it: a cached answer hides that a model has changed. Refusals are not kept.
    """

    def __init__(self, model: DecisionModel, *, name: str, size: int = 10_000) -> None:
        self.model, self._name, self._size = model, name, size
        self._known: OrderedDict[str, Answer] = OrderedDict()

    async def decide(self, state: State, questions: Mapping[str, Question]) -> Decision:
        """See `DecisionModel.decide`; only unknown questions are asked."""
        keys = {name: self._key(state, question) for name, question in questions.items()}
        known = {name: self._known[key] for name, key in keys.items() if key in self._known}
        missing = {name: question for name, question in questions.items() if name not in known}
        found = (
            await self.model.decide(state, missing)
            if missing
            else Decision(answers={}, usage=DecisionUsage(requests=0))
        )
        for name, answer in found.answers.items():
            if not isinstance(answer, Refusal):
                self._known[keys[name]] = answer
        for key in keys.values():
            if key in self._known:
                self._known.move_to_end(key)
        for key in list(islice(self._known, max(0, len(self._known) - self._size))):
            del self._known[key]
        answers = {name: known[name] if name in known else found.answers[name] for name in questions}
        return Decision(answers=answers, model=found.model or self._name, usage=found.usage)

    def _key(self, state: State, question: Question) -> str:
        body = [self._name, state, type(question).__name__, asdict(question)]
        return hashlib.sha256(canonical(body, what="a question").encode()).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Listener:
    """Called around each decision; texts of state and questions are handed over only here."""

    on_request: Callable[[State, Mapping[str, Question]], Any] | None = None
    on_answer: Callable[[Decision], Any] | None = None
    on_error: Callable[[DecisionFailed], Any] | None = None


@dataclass(frozen=True, slots=True)
class Listened:
    """Tells listeners what a model is asked and what it answers."""

    model: DecisionModel
    listeners: tuple[Listener, ...]

    async def decide(self, state: State, questions: Mapping[str, Question]) -> Decision:
        """See `DecisionModel.decide`."""
        for listener in self.listeners:
            if listener.on_request:
                listener.on_request(state, questions)
        try:
            decision = await self.model.decide(state, questions)
        except DecisionFailed as error:
            for listener in self.listeners:
                if listener.on_error:
                    listener.on_error(error)
            raise
        for listener in self.listeners:
            if listener.on_answer:
                listener.on_answer(decision)
        return decision
