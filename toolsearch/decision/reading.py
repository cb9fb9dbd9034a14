"""The first step of the judge on this machine: texts become vectors of their tokens, each text by itself."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from pathlib import Path
from threading import Lock
from typing import Any, Final

import numpy as np

from toolsearch.decision.lines import Line, plain
from toolsearch.decision.matching import NAME, PARAMETERS, TEXT, Text
from toolsearch.decision.pairs import tokenizer_of
from toolsearch.errors import DecisionFailed
from toolsearch.onnx_files import opened_model, refusals

BATCH: Final = 8
"""Texts that share a run; those of like length do, so that little is padded."""
KEPT: Final = 500
"""Tools that stay read: those of many requests are the same."""


class Reader:
    """Model and tokenizer of a folder: `input_ids` and `mask` (n, tokens) in, `vectors` (n, tokens, width) out.

    Lengths are in tokens, of a request and of a tool, with the two marks at the ends. May be shared between threads.

    Raises:
        InvalidSource: model or tokenizer cannot be opened.
    """

    def __init__(self, folder: Path, lengths: tuple[int, int]) -> None:
        self._session: Any = opened_model(folder / "model.onnx")
        self._tokenizer: Any = tokenizer_of(folder / "tokenizer.json")
        self._lengths = lengths
        self._kept: OrderedDict[Line, Text] = OrderedDict()
        self._lock = Lock()

    def request(self, text: str) -> Text:
        """A request, read.

        Raises:
            DecisionFailed: the model could not be run.
        """
        return next(self.fresh([Line("", plain(text))], self._lengths[0]))

    def tools(self, lines: Sequence[Line]) -> list[Text]:
        """Tools, read; the last KEPT are remembered.

        Raises:
            DecisionFailed: the model could not be run.
        """
        with self._lock:
            known = {line: self._kept[line] for line in lines if line in self._kept}
        new = [line for line in dict.fromkeys(lines) if line not in known]
        known |= zip(new, self.fresh(new, self._lengths[1]), strict=True)
        with self._lock:
            for line in lines:
                self._kept[line] = known[line]
                self._kept.move_to_end(line)
            while len(self._kept) > KEPT:
                self._kept.popitem(last=False)
        return [known[line] for line in lines]

    def fresh(self, lines: Sequence[Line], most: int) -> Iterator[Text]:
        """Texts of at most `most` tokens, in their order; nothing is remembered."""
        read = [self._tokens(line, most) for line in lines]
        order = sorted(range(len(read)), key=lambda place: len(read[place][0]))
        found: list[Text | None] = [None] * len(read)
        for start in range(0, len(order), BATCH):
            places = order[start : start + BATCH]
            for place, vectors in zip(places, self._run([read[place][0] for place in places]), strict=True):
                ids, parts = read[place]
                found[place] = Text(vectors=vectors[1 : len(ids) - 1], ids=ids[1:-1], parts=parts)
        return (one for one in found if one is not None)

    def _tokens(self, line: Line, most: int) -> tuple[Any, Any]:
        """Token ids with the two marks at the ends, and the parts of those between."""
        name, text = line.ends()
        encoded = self._tokenizer.encode(line.joined().encode("utf-8", "replace").decode("utf-8"))
        ids: list[int] = encoded.ids if len(encoded.ids) <= most else [*encoded.ids[: most - 1], encoded.ids[-1]]
        starts = [start for start, _ in encoded.offsets[1 : len(ids) - 1]]
        parts = [NAME if start < name else TEXT if start < text else PARAMETERS for start in starts]
        return np.array(ids, np.int64), np.array(parts, np.int64)

    def _run(self, ids: list[Any]) -> Any:
        padded = np.zeros((len(ids), max(map(len, ids))), np.int64)
        for row, one in enumerate(ids):
            padded[row, : len(one)] = one
        given = {"input_ids": padded, "mask": (padded > 0).astype(np.int32)}
        try:
            return self._session.run(["vectors"], given)[0]
        except refusals() as error:
            raise DecisionFailed(f"model.onnx could not be run: {' '.join(str(error).split())[:300]}") from None
