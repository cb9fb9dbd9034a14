"""A local cross-encoder as a decision model: reads state and question together, no server.

A folder holds `model.onnx` (inputs input_ids, attention_mask and perhaps token_type_ids; output one logit a pair, or
two of which the second means yes), `tokenizer.json`, and perhaps `judge.json` with `{"max_length", "scale", "bias"}`
fitted on judged pairs.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from toolsearch.chances import chance_of
from toolsearch.decision.checks import check_answers, check_request
from toolsearch.decision.pairs import OnnxScorer, Scorer, Settings, sentence_transformers_scorer
from toolsearch.errors import InvalidDecision, InvalidInput, InvalidSource
from toolsearch.questions import Answer, Choice, ChoiceAnswer, Decision, Question, State, YesNo, YesNoAnswer
from toolsearch.tool import canonical


@dataclass(frozen=True, slots=True)
class CrossEncoderModel:
    """Yes/no is the sigmoid of a pair's logit, `scale * logit + bias`; a choice is the softmax over its options."""

    score: Scorer
    name: str
    scale: float = 1.0
    bias: float = 0.0

    async def decide(self, state: State, questions: Mapping[str, Question]) -> Decision:
        """See `DecisionModel.decide`. Scoring runs in a worker thread.

        Raises:
            InvalidInput: a scale is asked for; a cross-encoder has none.
            DecisionFailed: the model could not be run, or gave something else than a number a pair.
        """
        check_request(state, questions)
        text = state if isinstance(state, str) else canonical(state, what="the state")
        pairs = [(text, one) for question in questions.values() for one in _texts(question)]
        scores = await asyncio.to_thread(self.score, pairs)
        if len(scores) != len(pairs) or not all(map(math.isfinite, scores)):
            raise InvalidDecision(f"{self.name[:120]} gave {len(scores)} logits for {len(pairs)} pairs, or no numbers")
        logits = iter([self.scale * logit + self.bias for logit in scores])
        answers = {name: _answer(question, logits) for name, question in questions.items()}
        return Decision(answers=check_answers(questions, answers), model=self.name)


def _texts(question: Question) -> list[str]:
    if isinstance(question, YesNo):
        return [question.text]
    if isinstance(question, Choice):
        return [f"{option}: {text}" if text else option for option, text in question.options.items()]
    raise InvalidInput(f"a cross-encoder cannot answer on a scale: {question.text[:80]!r}")


def _answer(question: Question, logits: Iterator[float]) -> Answer:
    if isinstance(question, Choice):
        raw = {option: next(logits) for option in question.options}
        top = max(raw.values())
        weights = {option: math.exp(value - top) for option, value in raw.items()}
        shares = {option: weight / sum(weights.values()) for option, weight in weights.items()}
        return ChoiceAnswer(max(shares, key=shares.__getitem__), shares)
    return YesNoAnswer(chance_of(next(logits)))


def from_folder(folder: str) -> CrossEncoderModel:
    """The model in a folder.

    Raises:
        InvalidSource: a file is missing or broken.
    """
    place = Path(folder)
    for name in ("model.onnx", "tokenizer.json"):
        if not (place / name).is_file():
            raise InvalidSource(f"{folder[:200]!r} holds no {name}")
    settings = Settings.read(place / "judge.json")
    scorer = OnnxScorer(place, settings.max_length)
    return CrossEncoderModel(scorer, place.resolve().name, settings.scale, settings.bias)


def from_sentence_transformers(name: str) -> CrossEncoderModel:
    """A sentence-transformers `CrossEncoder` by name or folder.

    Raises:
        MissingExtra: `sentence-transformers` is not installed.
        InvalidSource: there is no such model, or it has more than one label.
    """
    return CrossEncoderModel(sentence_transformers_scorer(name), name)
