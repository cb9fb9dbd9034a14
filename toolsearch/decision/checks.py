"""Requests and answers are checked for every model, whatever the server says."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, cast

from toolsearch.errors import InvalidDecision, InvalidInput
from toolsearch.questions import (
    Answer,
    Choice,
    ChoiceAnswer,
    Question,
    Refusal,
    Scale,
    ScaleAnswer,
    State,
    YesNo,
    YesNoAnswer,
)
from toolsearch.tool import canonical

SLACK = 1e-6
"""Probabilities may leave 0 to 1 by this much; they are clamped."""
MAX_STATE = 1_000_000
"""Characters of a state's JSON."""
MAX_LEVEL = 1_000_000


def check_request(state: State, questions: Mapping[str, Question]) -> None:
    """Refuse what no model could answer.

    Raises:
        InvalidInput: a blank state, one that is not JSON, no question, or a blank name.
    """
    if not state or (isinstance(state, str) and not state.strip()):
        raise InvalidInput("a decision needs a state that is not blank")
    if len(canonical(state, what="the state")) > MAX_STATE:
        raise InvalidInput(f"the state of a decision may have {MAX_STATE} characters")
    if not questions:
        raise InvalidInput("a decision needs at least one question")
    for name in questions:
        if not name.strip():
            raise InvalidInput("every question needs a name that is not blank")


def check_answers(questions: Mapping[str, Question], answers: Mapping[str, Answer]) -> dict[str, Answer]:
    """The answers in the questions' order; others are left out.

    Raises:
        InvalidDecision: a question has no answer, one of another type, or one that it does not allow.
    """
    checked: dict[str, Answer] = {}
    for name, question in questions.items():
        if name not in answers:
            raise InvalidDecision(f"question {name[:80]!r} was not answered")
        answer = answers[name]
        if not isinstance(answer, Refusal):
            _CHECKS[type(question)](name, question, answer)
        checked[name] = answer
    return checked


def probability(value: object, name: str) -> float:
    """A number from 0 to 1, clamped when it is off by no more than SLACK.

    Raises:
        InvalidDecision: anything else, NaN included.
    """
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value:
        raise InvalidDecision(f"{name[:80]}: expected a probability, got {value!r:.60}")
    if not -SLACK <= value <= 1 + SLACK:
        raise InvalidDecision(f"{name[:80]}: {value!r:.60} is not a probability from 0 to 1")
    return min(1.0, max(0.0, float(value)))


def level(value: object, name: str) -> float:
    """A number that may be a level, or lie between two; `check_answers` knows how many there are.

    Raises:
        InvalidDecision: it is no number, or none that counts levels.
    """
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= MAX_LEVEL:
        raise InvalidDecision(f"question {name[:80]!r}: expected the number of a level, got {value!r:.60}")
    return float(value)


def _yes_no(name: str, question: Question, answer: Answer) -> None:
    del question
    if not isinstance(answer, YesNoAnswer):
        raise InvalidDecision(f"question {name[:80]!r} asks yes or no, but the answer is a {type(answer).__name__}")
    probability(answer.probability, name)


def _choice(name: str, question: Question, answer: Answer) -> None:
    options = cast(Choice, question).options
    if not isinstance(answer, ChoiceAnswer):
        raise InvalidDecision(f"question {name[:80]!r} asks for a choice, but the answer is a {type(answer).__name__}")
    for option, value in answer.probabilities.items():
        probability(value, name)
        if option not in options:
            raise InvalidDecision(f"question {name[:80]!r} has no option {option[:80]!r}")
    if answer.value not in options:
        raise InvalidDecision(f"question {name[:80]!r} has no option {answer.value[:80]!r}")


def _scale(name: str, question: Question, answer: Answer) -> None:
    levels = len(cast(Scale, question).levels)
    if not isinstance(answer, ScaleAnswer):
        raise InvalidDecision(f"question {name[:80]!r} asks for a level, but the answer is a {type(answer).__name__}")
    if math.isnan(answer.mean) or not -SLACK <= answer.mean <= levels - 1 + SLACK:
        raise InvalidDecision(f"question {name[:80]!r} has levels 0 to {levels - 1}, not {answer.mean!r}")
    if answer.probabilities and len(answer.probabilities) != levels:
        raise InvalidDecision(f"question {name[:80]!r} has {levels} levels, not {len(answer.probabilities)}")
    for value in answer.probabilities:
        probability(value, name)


_CHECKS: dict[type, Any] = {YesNo: _yes_no, Choice: _choice, Scale: _scale}
