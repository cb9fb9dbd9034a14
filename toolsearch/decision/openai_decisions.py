"""OpenAI Decisions (`POST /v1/decisions`) through the official SDK."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Final

from toolsearch.decision.checks import check_answers, check_request, probability
from toolsearch.errors import DecisionFailed, InvalidDecision, MissingExtra
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


@dataclass(frozen=True, slots=True)
class OpenAIDecisionModel:
    """`client` is an `openai.AsyncOpenAI`; its timeouts, retries and key are its own."""

    client: Any
    model: str = MODEL

    async def decide(self, state: State, questions: Mapping[str, Question]) -> Decision:
        """See `DecisionModel.decide`."""
        check_request(state, questions)
        text = state if isinstance(state, str) else canonical(state, what="the state")
        asked = [_wire(name, question) for name, question in questions.items()]
        errors = import_module("openai")
        try:
            found = await self.client.decisions.create(model=self.model, input=text, questions=asked)
        except errors.OpenAIError as error:
            raise DecisionFailed(f"OpenAI Decisions failed: {type(error).__name__}: {str(error)[:300]}") from None
        answers = {row.name: _read(row, questions[row.name]) for row in found.answers if row.name in questions}
        usage = DecisionUsage(
            input_tokens=found.usage.input_tokens, output_tokens=getattr(found.usage, "output_tokens", 0)
        )
        return Decision(answers=check_answers(questions, answers), model=found.model, usage=usage)


def from_name(rest: str, timeout: float = 60.0) -> OpenAIDecisionModel:
    """A model by name, with key and base URL from the SDK's own environment variables.

    Raises:
        MissingExtra: the `openai` package is not installed.
    """
    try:
        sdk = import_module("openai")
    except ImportError:
        raise MissingExtra("openai", "openai") from None
    return OpenAIDecisionModel(sdk.AsyncOpenAI(timeout=timeout), rest or MODEL)


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


def _read(row: Any, question: Question) -> Answer:
    if row.type == "refusal":
        return Refusal()
    reader = _READERS.get(row.type)
    if reader is None:
        raise InvalidDecision(f"question {row.name[:80]!r}: unknown kind of answer {row.type!r:.40}")
    return reader(row, question)


def _predicate(row: Any, _: Question) -> Answer:
    return YesNoAnswer(probability(row.probability, row.name))


def _choice(row: Any, _: Question) -> Answer:
    rows: list[Any] = row.probabilities or []
    shares = {str(one.value): probability(one.probability, row.name) for one in rows}
    return ChoiceAnswer(str(row.choice), shares, row.confidence)


def _score(row: Any, question: Question) -> Answer:
    if not isinstance(question, Scale):
        raise InvalidDecision(f"question {row.name[:80]!r} does not ask for a level")
    rows: list[Any] = row.probabilities or []
    return ScaleAnswer(float(row.score), tuple(probability(one.probability, row.name) for one in rows), row.confidence)


_READERS: Final[Mapping[str, Callable[[Any, Question], Answer]]] = {
    "predicate": _predicate,
    "choice": _choice,
    "score": _score,
}
