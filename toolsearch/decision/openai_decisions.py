"""OpenAI Decisions (`POST /v1/decisions`) through the official SDK."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Final, cast

from toolsearch.decision.checks import check_answers, check_request, level, probability
from toolsearch.errors import DecisionFailed, InvalidDecision, InvalidInput, MissingExtra
from toolsearch.questions import (
    Answer,
    Choice,
    ChoiceAnswer,
    Decision,
    DecisionUsage,
    Question,
    Refusal,
    Scale,
    ScaleAnswer,
    State,
    YesNo,
    YesNoAnswer,
)
from toolsearch.tool import canonical

MODEL: Final = "gpt-6-luna"
BROKEN: Final = (TimeoutError, ValueError, TypeError, RuntimeError, ArithmeticError)
"""What the SDK lets out, beside errors of its own, when an answer is late or makes no sense."""


@dataclass(frozen=True, slots=True)
class OpenAIDecisionModel:
    """`client` is an `openai.AsyncOpenAI` with retries and key of its own; `timeout` bounds all tries, in seconds."""

    client: Any
    model: str = MODEL
    timeout: float = 180.0

    async def decide(self, state: State, questions: Mapping[str, Question]) -> Decision:
        """See `DecisionModel.decide`."""
        check_request(state, questions)
        text = state if isinstance(state, str) else canonical(state, what="the state")
        asked = [_wire(name, question) for name, question in questions.items()]
        errors = import_module("openai")
        try:
            async with asyncio.timeout(self.timeout):
                found = await self.client.decisions.create(model=self.model, input=text, questions=asked)
        except (*BROKEN, errors.OpenAIError) as error:
            raise DecisionFailed(f"OpenAI Decisions failed: {type(error).__name__}: {str(error)[:300]}") from None
        rows = {name: row for row in _rows(found, "answers") if isinstance(name := _of(row, "name"), str)}
        answers = {name: _read(name, rows[name], question) for name, question in questions.items() if name in rows}
        model = _of(found, "model")
        return Decision(
            answers=check_answers(questions, answers),
            model=model if isinstance(model, str) else self.model,
            usage=_usage(_of(found, "usage")),
        )


def from_name(rest: str, timeout: float = 60.0) -> OpenAIDecisionModel:
    """A model by name, with key and base URL from the SDK's own environment variables.

    Raises:
        MissingExtra: the `openai` package is not installed.
        InvalidInput: there is no key.
    """
    try:
        sdk = import_module("openai")
    except ImportError:
        raise MissingExtra("openai", "openai") from None
    try:
        client = sdk.AsyncOpenAI(timeout=timeout)
    except sdk.OpenAIError as error:
        raise InvalidInput(f"the judge openai:{rest[:80]} cannot be asked: {str(error)[:200]}") from None
    return OpenAIDecisionModel(client, rest or MODEL, 3 * timeout)


def _wire(name: str, question: Question) -> dict[str, Any]:
    if isinstance(question, YesNo):
        notes = [("Answer yes when", question.yes_when), ("Answer no when", question.no_when)]
        text = "\n".join([question.text, *(f"{what}: {when}" for what, when in notes if when)])
        return {"type": "predicate", "name": name, "instructions": text}
    if isinstance(question, Choice):
        choices = [{"value": option, "description": text or option} for option, text in question.options.items()]
        return {"type": "choice", "name": name, "instructions": question.text, "choices": choices}
    levels = [{"label": level} for level in question.levels]
    return {"type": "score", "name": name, "instructions": question.text, "levels": levels}


def _of(value: Any, name: str) -> Any:
    """An attribute that the SDK did not check; None when it is not there."""
    return getattr(value, name, None)


def _rows(value: Any, name: str) -> list[Any]:
    """A list that the SDK did not check; empty when it is none."""
    found = _of(value, name)
    return cast("list[Any]", found) if isinstance(found, list) else []


def _usage(value: Any) -> DecisionUsage:
    counts = [_of(value, name) for name in ("input_tokens", "output_tokens")]
    read, written = (one if isinstance(one, int) and one >= 0 else 0 for one in counts)
    return DecisionUsage(input_tokens=read, output_tokens=written)


def _read(name: str, row: Any, question: Question) -> Answer:
    kind = _of(row, "type")
    if kind == "refusal":
        return Refusal(str(_of(row, "reason") or "")[:500])
    reader = _READERS.get(kind) if isinstance(kind, str) else None
    if reader is None:
        raise InvalidDecision(f"question {name[:80]!r}: unknown kind of answer {kind!r:.40}")
    return reader(name, row, question)


def _predicate(name: str, row: Any, _: Question) -> Answer:
    return YesNoAnswer(probability(_of(row, "probability"), name))


def _choice(name: str, row: Any, _: Question) -> Answer:
    shares = {str(_of(one, "value")): probability(_of(one, "probability"), name) for one in _rows(row, "probabilities")}
    return ChoiceAnswer(str(_of(row, "choice")), shares, _confidence(name, row))


def _score(name: str, row: Any, question: Question) -> Answer:
    if not isinstance(question, Scale):
        raise InvalidDecision(f"question {name[:80]!r} does not ask for a level")
    shares = [probability(_of(one, "probability"), name) for one in _rows(row, "probabilities")]
    return ScaleAnswer(level(_of(row, "score"), name), tuple(shares), _confidence(name, row))


def _confidence(name: str, row: Any) -> float | None:
    given = _of(row, "confidence")
    return None if given is None else probability(given, name)


_READERS: Final[Mapping[str, Callable[[str, Any, Question], Answer]]] = {
    "predicate": _predicate,
    "choice": _choice,
    "score": _score,
}
