"""Scorers of pairs of texts: an ONNX sequence classifier in a folder, or a sentence-transformers CrossEncoder."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Final, cast

from toolsearch.errors import DecisionFailed, InvalidDecision, InvalidSource, MissingExtra
from toolsearch.onnx_files import opened_model, refusals

Scorer = Callable[[Sequence[tuple[str, str]]], Sequence[float]]
"""Pairs of state and text in, one logit a pair out."""
MAX_LENGTH: Final = 192
"""Tokens of a pair that are read; the longer of its texts is cut first."""
BATCH: Final = 16
INPUTS: Final = frozenset({"input_ids", "attention_mask", "token_type_ids"})
MAX_JSON: Final = 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What `judge.json` says; `scale` and `bias` put the logits right."""

    max_length: int = MAX_LENGTH
    scale: float = 1.0
    bias: float = 0.0

    @classmethod
    def read(cls, path: Path) -> Settings:
        """The settings in a file; those by default when there is none.

        Raises:
            InvalidSource: it is no JSON object of known keys and numbers.
        """
        if not path.is_file():
            return cls()
        try:
            if path.stat().st_size > MAX_JSON:
                raise InvalidSource(f"{path} has more than {MAX_JSON} bytes")
            body: object = json.loads(path.read_text("utf-8"))
        except (OSError, ValueError, RecursionError) as error:
            raise InvalidSource(f"{path} cannot be read as JSON: {error!s:.200}") from None
        if not isinstance(body, dict):
            raise InvalidSource(f"{path} must hold a JSON object, not {body!r:.80}")
        values = cast("dict[str, Any]", body)
        for key, value in values.items():
            if key not in cls.__dataclass_fields__:
                raise InvalidSource(f"{path}: unknown key {key[:80]!r}; use {', '.join(cls.__dataclass_fields__)}")
            if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= 1e6:
                raise InvalidSource(f"{path}: {key} must be a number, not {value!r:.80}")
        if values.get("max_length", MAX_LENGTH) < 8:
            raise InvalidSource(f"{path}: max_length must be 8 tokens or more, not {values['max_length']!r:.80}")
        return cls(**{**values, "max_length": int(values.get("max_length", MAX_LENGTH))})


class OnnxScorer:
    """One session with one thread; pairs of like length share a batch, longest first.

    Raises:
        InvalidSource: model or tokenizer cannot be opened, or the model takes other inputs.
    """

    def __init__(self, folder: Path, max_length: int) -> None:
        self._session: Any = opened_model(folder / "model.onnx")
        self._inputs = {one.name for one in self._session.get_inputs()}
        if strange := sorted(self._inputs - INPUTS):
            known = ", ".join(sorted(INPUTS))
            raise InvalidSource(f"model.onnx in {str(folder)[:200]!r} takes {strange[0][:80]!r}; known are {known}")
        self._tokenizer: Any = tokenizer_of(folder / "tokenizer.json")
        self._tokenizer.enable_truncation(max_length, strategy="longest_first")
        self._tokenizer.enable_padding()

    def __call__(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """Logits of the pairs, in their order."""
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
        arrays: Mapping[str, Any] = {
            "input_ids": np.array([one.ids for one in encoded], np.int64),
            "attention_mask": np.array([one.attention_mask for one in encoded], np.int64),
            "token_type_ids": np.array([one.type_ids for one in encoded], np.int64),
        }
        try:
            found = self._session.run(None, {k: v for k, v in arrays.items() if k in self._inputs})[0]
        except refusals() as error:
            raise DecisionFailed(f"model.onnx could not be run: {' '.join(str(error).split())[:300]}") from None
        return _logits(found, len(pairs))


def _logits(found: Any, pairs: int) -> Any:
    """One logit a pair: the only one, or of two classes how much more the second is.

    Raises:
        InvalidDecision: the model gives something else.
    """
    if found.shape in ((pairs,), (pairs, 1)):
        return found.reshape(-1)
    if found.shape == (pairs, 2):
        return found[:, 1] - found[:, 0]
    raise InvalidDecision(f"model.onnx gives {found.shape} for {pairs} pairs; a judge needs one or two logits a pair")


def tokenizer_of(path: Path) -> Any:
    """The tokenizer of a file; whatever is wrong with it, its library raises a bare Exception.

    Raises:
        InvalidSource: it cannot be read.
    """
    tokenizers = import_module("tokenizers")
    try:
        text = path.read_text("utf-8")
        json.loads(text)
    except (OSError, ValueError, RecursionError) as error:
        raise InvalidSource(f"{str(path)[:200]!r} cannot be read as JSON: {error!s:.200}") from None
    try:
        return tokenizers.Tokenizer.from_str(text)
    except Exception as error:  # noqa: BLE001 - the library has no error of its own
        raise InvalidSource(f"{str(path)[:200]!r} is no tokenizer: {error!s:.200}") from None


def sentence_transformers_scorer(name: str) -> Scorer:
    """The logits of a sentence-transformers `CrossEncoder`, by name or folder.

    Raises:
        MissingExtra: `sentence-transformers` is not installed.
        InvalidSource: there is no such model, or it has more than one label.
    """
    try:
        library = import_module("sentence_transformers")
    except ImportError:
        raise MissingExtra("sentence-transformers", "st") from None
    try:
        model = library.CrossEncoder(name, device="cpu")
    except (OSError, ValueError, RuntimeError, KeyError) as error:
        raise InvalidSource(
            f"cannot open the cross-encoder {name[:120]!r}: {' '.join(str(error).split())[:300]}"
        ) from None
    if model.num_labels != 1:
        raise InvalidSource(f"the cross-encoder {name[:120]!r} has {model.num_labels} labels; a judge needs one")
    identity = import_module("torch").nn.Identity()

    def score(pairs: Sequence[tuple[str, str]]) -> list[float]:
        return [float(one) for one in model.predict(list(pairs), activation_fn=identity, show_progress_bar=False)]

    return score
