"""A judge on this machine: a small network in which request and tool meet; int8 ONNX, no server, no download.

A folder holds `model.onnx` and `tokenizer.json` (see `reading.Reader`), `head.npz` (the weights of `matching`) and
`judge.json` with `{"request_tokens", "tool_tokens", "scale", "bias", "beside": {"scale", "bias", "place"}}`: the curve
of its logits alone, and that of its chances beside a ranking. `toolsearch train judge` makes one.
"""

from __future__ import annotations

import asyncio
import json
import zipfile
from collections.abc import Mapping, Sequence
from math import isfinite
from pathlib import Path
from typing import Any, Final

import numpy as np

from toolsearch.chances import chance_of
from toolsearch.decision.checks import check_answers, check_request
from toolsearch.decision.cross_encoder import CrossEncoderModel
from toolsearch.decision.lines import Line, asked_line, plain
from toolsearch.decision.matching import logit, side
from toolsearch.decision.reading import Reader
from toolsearch.errors import InvalidSource
from toolsearch.questions import Decision, Question, State, YesNo, YesNoAnswer
from toolsearch.tool import canonical

FILES: Final = ("model.onnx", "tokenizer.json", "head.npz", "judge.json")
UNREAD: Final = -10.0
"""The logit where request or tool has no token that could be read."""


class LocalJudge:
    """Says of each tool how likely it helps; other questions it reads as they stand. May be shared between threads.

    `beside` is what `strategies.calibration.Fitted` needs where its answers stand beside a ranking.

    Raises:
        InvalidSource: a file of the folder is missing or broken.
    """

    def __init__(self, folder: str | Path) -> None:
        place = Path(folder)
        for name in FILES:
            if not (place / name).is_file():
                raise InvalidSource(f"{str(folder)[:200]!r} holds no {name}; make one with: toolsearch train judge")
        try:
            settings: dict[str, Any] = json.loads((place / "judge.json").read_text("utf-8"))
            lengths = int(settings["request_tokens"]), int(settings["tool_tokens"])
            self.scale, self.bias = _number(settings["scale"]), _number(settings["bias"])
            self.beside = {name: _number(settings["beside"][name]) for name in ("scale", "bias", "place")}
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise InvalidSource(f"judge.json in {str(folder)[:200]!r} is no record of a judge: {error}") from None
        self._name = f"local:{place.resolve().name}"
        self._reader = Reader(place, lengths)
        self._head = _head(place / "head.npz")

    async def decide(self, state: State, questions: Mapping[str, Question]) -> Decision:
        """See `DecisionModel.decide`. Reading runs in a worker thread; a scale is refused with InvalidInput."""
        check_request(state, questions)
        text = state if isinstance(state, str) else canonical(state, what="the state")
        if not all(isinstance(one, YesNo) for one in questions.values()):
            return await CrossEncoderModel(self._pairs, self._name, self.scale, self.bias).decide(state, questions)
        lines = [asked_line(one.text) for one in questions.values() if isinstance(one, YesNo)]
        logits = await asyncio.to_thread(self.logits, text, lines)
        chances = [chance_of(self.scale * one + self.bias) for one in logits]
        answers = {name: YesNoAnswer(chance) for name, chance in zip(questions, chances, strict=True)}
        return Decision(answers=check_answers(questions, answers), model=self._name)

    def _pairs(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        return [self.logits(state, [Line("", plain(text))])[0] for state, text in pairs]

    def logits(self, request: str, lines: Sequence[Line]) -> list[float]:
        """One for each tool, in their order; see `lines.tool_line`.

        Raises:
            DecisionFailed: the model could not be run.
        """
        asked = self._reader.request(request)
        if not len(asked.ids):
            return [UNREAD] * len(lines)
        own = side(self._head, asked, "request")
        return [
            logit(self._head, own, side(self._head, tool, "tool")) if len(tool.ids) else UNREAD
            for tool in self._reader.tools(lines)
        ]


def from_name(name: str) -> LocalJudge:
    """The judge in a folder.

    Raises:
        InvalidSource: there is none.
    """
    return LocalJudge(name)


def _head(path: Path) -> Mapping[str, Any]:
    try:
        with np.load(path, allow_pickle=False) as file:
            return {name: file[name].astype(np.float32) for name in file.files}
    except (OSError, ValueError, EOFError, zipfile.BadZipFile) as error:
        raise InvalidSource(f"{str(path)[:200]!r} holds no weights of a judge: {error!s:.100}") from None


def _number(value: Any) -> float:
    number = float(value)
    if not isfinite(number):
        raise ValueError(f"{value!r:.40} is not a finite number")
    return number
