"""Percentages that a chat model states: the form it fills in, and how its answers are read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, cast

from toolsearch.chat import ChatResponse
from toolsearch.decision.checks import level, probability
from toolsearch.questions import Answer, Choice, ChoiceAnswer, Question, ScaleAnswer, YesNo, YesNoAnswer
from toolsearch.tool import Json, ToolSpec

NAME: Final = "answer"
MOST: Final = 1_000
"""A number that is told as what it is; larger ones may not even be divided."""
PERCENT: Final[Json] = {"type": "number", "minimum": 0, "maximum": 100}


def answer_tool(questions: Mapping[str, Question]) -> ToolSpec:
    """The form as a tool: one required property a question."""
    properties = {name: _schema(name, question) for name, question in questions.items()}
    schema = {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}
    return ToolSpec(name=NAME, description="Takes the answers to all questions.", parameters=schema)


def _schema(name: str, question: Question) -> Json:
    if isinstance(question, YesNo):
        return {**PERCENT, "description": f"How likely the answer to {name} is yes, in percent."}
    if isinstance(question, Choice):
        value: Json = {"type": "string", "enum": list(question.options)}
    else:
        value = {"type": "integer", "minimum": 0, "maximum": len(question.levels) - 1}
    return {
        "type": "object",
        "description": f"The answer to {name}, and how likely it is right, in percent.",
        "properties": {"value": value, "percent": PERCENT},
        "required": ["value", "percent"],
        "additionalProperties": False,
    }


def read(body: Mapping[str, Any], response: ChatResponse, questions: Mapping[str, Question]) -> dict[str, Answer]:
    """The answers that are there.

    Raises:
        InvalidDecision: one has the wrong form, or no percentage.
    """
    del response
    return {name: _answer(name, question, body[name]) for name, question in questions.items() if name in body}


def _answer(name: str, question: Question, given: object) -> Answer:
    if isinstance(question, YesNo):
        return YesNoAnswer(_share(given, name))
    fields = cast("Mapping[str, object]", given if isinstance(given, Mapping) else {})
    value, share = fields.get("value"), _share(fields.get("percent"), name)
    if isinstance(question, Choice):
        return ChoiceAnswer(str(value), {str(value): share})
    return ScaleAnswer(level(value, name), (), share)


def _share(percent: object, name: str) -> float:
    """A percentage as a probability."""
    usable = isinstance(percent, int | float) and not isinstance(percent, bool) and abs(percent) <= MOST
    return probability(cast("float", percent) / 100 if usable else percent, name)
