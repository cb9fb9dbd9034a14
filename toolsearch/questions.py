"""Questions for a decision model, and its answers: probabilities instead of prose."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from toolsearch.errors import DecisionRefused, InvalidInput

State = str | Mapping[str, Any]
"""What a decision is about: a text, or a JSON object."""


@dataclass(frozen=True, slots=True)
class YesNo:
    """Is it so? `yes_when` and `no_when` say what each answer means."""

    text: str
    yes_when: str | None = None
    no_when: str | None = None

    def __post_init__(self) -> None:
        for name in ("text", "yes_when", "no_when"):
            value: object = getattr(self, name)
            if value is not None and (not isinstance(value, str) or not value.strip()):
                raise InvalidInput(f"{name} of a yes/no question must be a text that is not blank")


@dataclass(frozen=True, slots=True)
class Choice:
    """Which one of at least two options? Maps an option to what it means, or None."""

    text: str
    options: Mapping[str, str | None]

    def __post_init__(self) -> None:
        if len(self.options) < 2:
            raise InvalidInput(f"a choice needs at least two options, not {len(self.options)}: {self.text[:80]!r}")


@dataclass(frozen=True, slots=True)
class Scale:
    """How much? At least two levels, lowest first."""

    text: str
    levels: tuple[str, ...]

    def __post_init__(self) -> None:
        if len(self.levels) < 2:
            raise InvalidInput(f"a scale needs at least two levels, not {len(self.levels)}: {self.text[:80]!r}")


Question = YesNo | Choice | Scale


@dataclass(frozen=True, slots=True)
class YesNoAnswer:
    """Probability of yes, 0 to 1."""

    probability: float


@dataclass(frozen=True, slots=True)
class ChoiceAnswer:
    """The option chosen and the probability of each option that the model named."""

    value: str
    probabilities: Mapping[str, float]
    confidence: float | None = None


@dataclass(frozen=True, slots=True)
class ScaleAnswer:
    """Expected level, 0 to the last level's number, and the probability of each level."""

    mean: float
    probabilities: tuple[float, ...]
    confidence: float | None = None


@dataclass(frozen=True, slots=True)
class Refusal:
    """The model would not answer this question."""

    reason: str = ""


Answer = YesNoAnswer | ChoiceAnswer | ScaleAnswer | Refusal


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionUsage:
    """What decisions cost: tokens, and how many requests they took."""

    input_tokens: int = 0
    output_tokens: int = 0
    requests: int = 1

    def __add__(self, other: DecisionUsage) -> DecisionUsage:
        return DecisionUsage(
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            requests=self.requests + other.requests,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """Answers by the questions' names, the model that gave them and what they cost."""

    answers: Mapping[str, Answer]
    model: str = ""
    usage: DecisionUsage = field(default_factory=DecisionUsage)

    def probability(self, name: str) -> float:
        """Probability of yes of one yes/no question.

        Raises:
            DecisionRefused: the model refused this question.
            InvalidInput: there is no yes/no question of this name.
        """
        answer = self.answers.get(name)
        if isinstance(answer, Refusal):
            raise DecisionRefused(
                f"{self.model or 'the decision model'} refused question {name!r}: {answer.reason[:200]}"
            )
        if not isinstance(answer, YesNoAnswer):
            raise InvalidInput(f"there is no yes/no answer named {name!r}")
        return answer.probability


class DecisionModel(Protocol):
    """Typed questions in, probabilities out."""

    async def decide(self, state: State, questions: Mapping[str, Question]) -> Decision:
        """Answers to all questions about one state.

        Raises:
            DecisionFailed: the model could not be asked, or did not answer in its time.
            InvalidDecision: its answers do not fit the questions.
        """
        ...
