"""A judge on this machine: a small network in which the request reads each tool; int8 ONNX, no server, no download.

A folder holds `model.onnx` (inputs `request` (1, tokens), `tools` (n, tokens) and `mask` of the same shape; output
`logits` (n,)), `tokenizer.json` and `judge.json` with `{"request_tokens", "tool_tokens", "scale", "bias"}`.
`toolsearch train judge` makes one.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from toolsearch.decision.checks import check_answers, check_request
from toolsearch.decision.cross_encoder import CrossEncoderModel
from toolsearch.errors import InvalidSource
from toolsearch.fields import field_texts
from toolsearch.questions import Decision, Question, State, YesNo
from toolsearch.tool import ToolSpec, canonical

PARAMETERS: Final = 12
CHARACTERS: Final = 2_000
BATCH: Final = 8
"""Tools that share a run; those of like length do, so that little is padded."""
_CASE: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|_+")
_ASKED: Final = re.compile(
    r"^(?:Name|Tool): (?P<name>.*)\nDescription: (?P<text>.*?)(?:\nParameters: (?P<names>[^\n]*))?(?:\nTOOL>>>)?\Z",
    re.DOTALL | re.MULTILINE,
)


def plain(text: str) -> str:
    """A text with identifiers as words: getUserName and get_user_name become "get User Name" and "get user name"."""
    return _CASE.sub(" ", text[:CHARACTERS]).strip()


def tool_line(tool: ToolSpec) -> str:
    """What a judge reads of a tool: name, description, names of parameters, in one line."""
    return _line(tool.name, tool.description, ", ".join(field_texts(tool)["parameter names"][:PARAMETERS]))


def asked_line(question: str) -> str:
    """The same from a question about a tool that follows a template of `strategies.deciding`; else the question."""
    found = _ASKED.search(question)
    return _line(found["name"], found["text"], found["names"] or "") if found else plain(question)


def _line(name: str, description: str, names: str) -> str:
    end = f"; params: {names}" if names else ""
    return plain(f"{name}: {' '.join(description.split())[:600]}{end}")


class LocalJudge:
    """Says of each tool how likely it helps; other questions it reads as they stand. May be shared between threads.

    Raises:
        InvalidSource: a file of the folder is missing or broken.
    """

    def __init__(self, folder: str | Path) -> None:
        place = Path(folder)
        for name in ("model.onnx", "tokenizer.json", "judge.json"):
            if not (place / name).is_file():
                raise InvalidSource(f"{str(folder)[:200]!r} holds no {name}; make one with: toolsearch train judge")
        try:
            settings: dict[str, Any] = json.loads((place / "judge.json").read_text("utf-8"))
            self._lengths = int(settings["request_tokens"]), int(settings["tool_tokens"])
            self.scale, self.bias = float(settings["scale"]), float(settings["bias"])
        except (ValueError, KeyError, TypeError) as error:
            raise InvalidSource(f"judge.json in {str(folder)[:200]!r} is no record of a judge: {error}") from None
        self._name = f"local:{place.name}"
        runtime = import_module("onnxruntime")
        options = runtime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 3
        self._session: Any = runtime.InferenceSession(str(place / "model.onnx"), options, ["CPUExecutionProvider"])
        self._tokenizer: Any = import_module("tokenizers").Tokenizer.from_file(str(place / "tokenizer.json"))

    async def decide(self, state: State, questions: Mapping[str, Question]) -> Decision:
        """See `DecisionModel.decide`. Reading runs in a worker thread; a scale is refused with InvalidInput."""
        check_request(state, questions)
        text = state if isinstance(state, str) else canonical(state, what="the state")
        if not all(isinstance(one, YesNo) for one in questions.values()):
            return await CrossEncoderModel(self._pairs, self._name, self.scale, self.bias).decide(state, questions)
        lines = [asked_line(one.text) for one in questions.values() if isinstance(one, YesNo)]
        logits = await asyncio.to_thread(self.logits, text, lines)
        return Decision(answers=check_answers(questions, self._answers(questions, logits)), model=self._name)

    def _answers(self, questions: Mapping[str, Question], logits: Sequence[float]) -> Mapping[str, Any]:
        from toolsearch.questions import YesNoAnswer

        chances = [_sigmoid(self.scale * one + self.bias) for one in logits]
        return {name: YesNoAnswer(chance) for name, chance in zip(questions, chances, strict=True)}

    def _pairs(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        return [self.logits(state, [plain(text)])[0] for state, text in pairs]

    def logits(self, request: str, lines: Sequence[str]) -> list[float]:
        """One for each line of a tool, in their order; see `tool_line`."""
        import numpy as np

        asked = np.array([self._ids(plain(request), self._lengths[0])], np.int64)
        ids = [self._ids(line, self._lengths[1]) for line in lines]
        order = sorted(range(len(ids)), key=lambda place: len(ids[place]))
        found = [0.0] * len(ids)
        for start in range(0, len(order), BATCH):
            places = order[start : start + BATCH]
            tools = np.zeros((len(places), len(ids[places[-1]])), np.int64)
            for row, place in enumerate(places):
                tools[row, : len(ids[place])] = ids[place]
            given = {"request": asked, "tools": tools, "mask": (tools > 0).astype(np.int32)}
            for place, logit in zip(places, self._session.run(["logits"], given)[0], strict=True):
                found[place] = float(logit)
        return found

    def _ids(self, text: str, most: int) -> list[int]:
        ids: list[int] = self._tokenizer.encode(text.encode("utf-8", "replace").decode("utf-8")).ids
        return ids if len(ids) <= most else [*ids[: most - 1], ids[-1]]


def _sigmoid(value: float) -> float:
    from math import exp

    return 1 / (1 + exp(-max(-60.0, min(60.0, value))))
