"""A local cross-encoder as a decision model: reads state and question together, no server.

A folder holds `model.onnx` (inputs input_ids, attention_mask and perhaps token_type_ids; output one logit a
pair), `tokenizer.json`, and perhaps `judge.json` with `{"max_length", "scale", "bias"}` fitted on judged pairs.
"""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from toolsearch.decision.checks import check_answers, check_request
from toolsearch.errors import InvalidInput, InvalidSource, MissingExtra
from toolsearch.questions import Answer, Choice, ChoiceAnswer, Decision, Question, State, YesNo, YesNoAnswer
from toolsearch.tool import canonical

Scorer = Callable[[Sequence[tuple[str, str]]], Sequence[float]]
"""Pairs of state and text in, one logit a pair out."""
MAX_LENGTH: Final = 192
BATCH: Final = 16


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
        """
        check_request(state, questions)
        text = state if isinstance(state, str) else canonical(state, what="the state")
        pairs = [(text, one) for question in questions.values() for one in _texts(question)]
        logits = iter([self.scale * logit + self.bias for logit in await asyncio.to_thread(self.score, pairs)])
        answers = {name: _answer(question, logits) for name, question in questions.items()}
        return Decision(answers=check_answers(questions, answers), model=self.name)


def _texts(question: Question) -> list[str]:
    if isinstance(question, YesNo):
        return [question.text]
    if isinstance(question, Choice):
        return [f"{option}: {text}" if text else option for option, text in question.options.items()]
    raise InvalidInput(f"a cross-encoder cannot answer on a scale: {question.text[:80]!r}")


def _answer(question: Question, logits: Any) -> Answer:
    if isinstance(question, Choice):
        raw = {option: next(logits) for option in question.options}
        top = max(raw.values())
        weights = {option: math.exp(value - top) for option, value in raw.items()}
        shares = {option: weight / sum(weights.values()) for option, weight in weights.items()}
        return ChoiceAnswer(max(shares, key=shares.__getitem__), shares)
    return YesNoAnswer(1 / (1 + math.exp(-max(-60.0, min(60.0, next(logits))))))


def from_folder(folder: str) -> CrossEncoderModel:
    """The model in a folder.

    Raises:
        InvalidSource: a file is missing or broken.
    """
    place = Path(folder)
    for name in ("model.onnx", "tokenizer.json"):
        if not (place / name).is_file():
            raise InvalidSource(f"{folder[:200]!r} holds no {name}")
    settings: dict[str, Any] = {}
    if (place / "judge.json").is_file():
        try:
            settings = json.loads((place / "judge.json").read_text("utf-8"))
        except ValueError as error:
            raise InvalidSource(f"judge.json in {folder[:200]!r} is not JSON: {error}") from None
    scorer = _OnnxScorer(place, int(settings.get("max_length", MAX_LENGTH)))
    return CrossEncoderModel(scorer, place.name, float(settings.get("scale", 1.0)), float(settings.get("bias", 0.0)))


class _OnnxScorer:
    """One session with one thread; pairs of like length share a batch, longest first."""

    def __init__(self, folder: Path, max_length: int) -> None:
        runtime, tokenizers = import_module("onnxruntime"), import_module("tokenizers")
        options = runtime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        self._session: Any = runtime.InferenceSession(str(folder / "model.onnx"), options, ["CPUExecutionProvider"])
        self._tokenizer: Any = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.enable_truncation(max_length, strategy="only_second")
        self._tokenizer.enable_padding()
        self._inputs = {one.name for one in self._session.get_inputs()}

    def __call__(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        order = sorted(range(len(pairs)), key=lambda row: -len(pairs[row][0]) - len(pairs[row][1]))
        logits = [0.0] * len(pairs)
        for start in range(0, len(order), BATCH):
            rows = order[start : start + BATCH]
            for row, logit in zip(rows, self._run([pairs[row] for row in rows]), strict=True):
                logits[row] = float(logit)
        return logits

    def _run(self, pairs: list[tuple[str, str]]) -> Any:
        np = import_module("numpy")
        encoded = self._tokenizer.encode_batch(pairs)
        arrays = {
            "input_ids": np.array([one.ids for one in encoded], np.int64),
            "attention_mask": np.array([one.attention_mask for one in encoded], np.int64),
            "token_type_ids": np.array([one.type_ids for one in encoded], np.int64),
        }
        return self._session.run(None, {k: v for k, v in arrays.items() if k in self._inputs})[0].reshape(-1)


def from_sentence_transformers(name: str) -> CrossEncoderModel:
    """A sentence-transformers `CrossEncoder` by name or folder.

    Raises:
        MissingExtra: `sentence-transformers` is not installed.
    """
    try:
        library = import_module("sentence_transformers")
    except ImportError:
        raise MissingExtra("sentence-transformers", "st") from None
    model = library.CrossEncoder(name, device="cpu")
    identity = import_module("torch").nn.Identity()

    def score(pairs: Sequence[tuple[str, str]]) -> list[float]:
        return [float(one) for one in model.predict(list(pairs), activation_fn=identity, show_progress_bar=False)]

    return CrossEncoderModel(score, name)
