"""Chances of tokens as probabilities: each question is answered by one short word, and its rivals are read too."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from typing import Any

from toolsearch.chat import ChatResponse, TokenChance
from toolsearch.errors import InvalidDecision
from toolsearch.questions import Answer, Choice, ChoiceAnswer, Question, ScaleAnswer, YesNo, YesNoAnswer


def codes(question: Question) -> dict[str, str]:
    """What is meant -> the word that says so: yes and no, letters (numbers above 26 options), or numbers of levels."""
    if isinstance(question, YesNo):
        return {"yes": "yes", "no": "no"}
    if isinstance(question, Choice):
        few = len(question.options) <= 26
        return {option: chr(65 + i) if few else str(i) for i, option in enumerate(question.options)}
    return {str(number): str(number) for number in range(len(question.levels))}


def example(questions: Mapping[str, Question]) -> str:
    """How an answer looks."""
    return json.dumps({name: "/".join(list(codes(question).values())[:2]) for name, question in questions.items()})


def read(body: Mapping[str, Any], response: ChatResponse, questions: Mapping[str, Question]) -> dict[str, Answer]:
    """The answers that are there.

    Raises:
        InvalidDecision: a word is none of the question's.
    """
    found: dict[str, Answer] = {}
    text = "".join(one.text for one in response.chances)
    for name, question in questions.items():
        if name in body:
            word = _word(name, question, body[name])
            place = re.search(rf'"{name}"\s*:\s*"?', text)
            token = _token(response.chances, place.end()) if place else None
            found[name] = _answer(question, word, _shares(codes(question), token, word))
    return found


def _word(name: str, question: Question, said: object) -> str:
    """What the answer means: a word that says it, or, as small models have it, the option itself."""
    known = {code.casefold(): meaning for meaning, code in codes(question).items()}
    word = str(said).strip().casefold()
    if word in known:
        return known[word]
    options = question.options if isinstance(question, Choice) else ()
    meant = [option for option in options if word == option.casefold() or word.startswith(f"{option.casefold()}: ")]
    if len(meant) != 1:
        raise InvalidDecision(f"question {name}: {said!r:.60} is none of {', '.join(list(known)[:26])}")
    return meant[0]


def _token(chances: tuple[TokenChance, ...], offset: int) -> TokenChance | None:
    """The token that the character at `offset` of the text lies in."""
    end = 0
    for one in chances:
        end += len(one.text)
        if end > offset:
            return one
    return None


def _shares(words: Mapping[str, str], token: TokenChance | None, said: str) -> dict[str, float]:
    """Chance of each meaning. A token counts for the one word that it begins; the rest is left out."""
    weights = dict.fromkeys(words, 0.0)
    for text, logprob in token.logprobs.items() if token else ():
        start = text.strip(' \t\n":').casefold()
        meant = [meaning for meaning, word in words.items() if start and word.casefold().startswith(start)]
        if len(meant) == 1 and logprob <= 0:
            weights[meant[0]] += math.exp(logprob)
    total = sum(weights.values())
    if not total:
        return {meaning: float(meaning == said) for meaning in words}
    return {meaning: weight / total for meaning, weight in weights.items()}


def _answer(question: Question, word: str, shares: dict[str, float]) -> Answer:
    if isinstance(question, YesNo):
        return YesNoAnswer(shares["yes"])
    if isinstance(question, Choice):
        return ChoiceAnswer(word, shares)
    probabilities = tuple(shares.values())
    return ScaleAnswer(sum(level * share for level, share in enumerate(probabilities)), probabilities)
