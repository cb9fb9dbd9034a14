"""The encoder that is always there: all-MiniLM-L6-v2 tuned for tools, int8, inside the package; English, no download.

A vector holds two readings of a text side by side, the model's and that of a table of its tokens (see `table`), so
that an inner product is the weighted mean of two cosines. Each text is run alone, so its vector does not depend on
what is encoded beside it (activations are quantised over a whole run). Many texts are spread over threads.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property, partial
from importlib import import_module
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Final

from toolsearch.encoders.machine import usable_cores
from toolsearch.encoders.sessions import open_session
from toolsearch.encoders.texts import readable
from toolsearch.errors import EncoderFailed

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from toolsearch.protocols import Floats, Role

FOLDER: Final = Path(__file__).parent / "minilm"
MAX_CHARACTERS: Final = 20_000
"""What is read of a text; more than 256 tokens of any real one."""
BLOCK: Final = 32
"""Texts that a thread takes at a time; as many are encoded without other threads."""


class _Model:
    """Tokenizer and session, read from a folder."""

    def __init__(self, folder: Path) -> None:
        from toolsearch.encoders.table import TokenTable

        self._session = open_session(folder / "model.onnx")
        try:
            words = (folder / "tokenizer.json").read_text("utf-8")
        except OSError as error:
            raise EncoderFailed(f"cannot read the tokenizer: {error.strerror}; install the package again") from None
        self._tokenizer = import_module("tokenizers").Tokenizer.from_str(words)
        self._table = TokenTable.read(folder / "words.npz")
        record = json.loads((folder / "model.json").read_text("utf-8"))
        self._width = int(record["model_dimension"])
        self._shares = (1 - float(record["table_share"])) ** 0.5, float(record["table_share"]) ** 0.5

    def tokens(self, text: str) -> list[int]:
        """Token ids with the two marks at the ends; one text at a time starts no threads of the tokenizer's."""
        return self._tokenizer.encode(readable(text, MAX_CHARACTERS)).ids

    def knows(self, word: str) -> bool:
        """Whether the vocabulary has a word as a whole."""
        return self._tokenizer.token_to_id(word.lower()) is not None

    def fill(self, texts: Sequence[str], out: NDArray[np.float32]) -> None:
        """Writes the vectors of the texts into `out` (len(texts), dimension); rows of empty texts stay as they are."""
        import numpy as np

        model, table = self._shares
        for row, text in enumerate(texts):
            ids = self.tokens(text)
            if len(ids) <= 2:
                continue
            out[row, : self._width] = self._session.run(["vector"], {"input_ids": np.array([ids], np.int64)})[0][0]
            words = self._table.vector(ids)
            if words.any():
                out[row, : self._width] *= np.float32(model)
                out[row, self._width :] = np.float32(table) * words


_lock = Lock()
_loaded: dict[Path, _Model] = {}


def _model(folder: Path) -> _Model:
    """The one model of a folder in this process, loaded at first use."""
    if folder not in _loaded:
        with _lock:
            if folder not in _loaded:
                _loaded[folder] = _Model(folder)
    return _loaded[folder]


class BuiltinEncoder:
    """all-MiniLM-L6-v2, tuned for tools, and a table of its tokens: 448 dimensions, 256 tokens, no prompts.

    May be shared between threads. A text without any token (empty, blank) has the zero vector. `threads` bounds the
    threads used for many texts; None means one for each usable core, at most 16. `folder` holds another model of the
    same make, as `toolsearch train encoder` writes it.
    """

    languages: Final = ("en",)
    """Languages it was made for, ISO 639-1; texts in other scripts mean nothing to it."""

    def __init__(self, threads: int | None = None, folder: Path = FOLDER) -> None:
        self._threads = threads or min(usable_cores(), 16)
        self._folder = folder

    @cached_property
    def _record(self) -> dict[str, Any]:
        return json.loads((self._folder / "model.json").read_text("utf-8"))

    @property
    def id(self) -> str:
        """Model, revision and what is done to its output."""
        record = self._record
        revision = ".".join((record["sha256"][:12], record["tokenizer_sha256"][:6], record["table_sha256"][:6]))
        made = f"dim={self.dimension};table={record['table_share']};tokens={record['max_tokens']};unit"
        return f"builtin:MiniLM-tools@{revision};{made}"

    @property
    def dimension(self) -> int:
        """448."""
        return int(self._record["dimension"])

    def knows(self, word: str) -> bool:
        """Whether a word is one of the model's own, and so most likely no typing error.

        Raises:
            EncoderFailed: the model's files are missing or damaged.
        """
        return _model(self._folder).knows(word)

    def elsewhere(self, vector: Floats) -> float:
        """How near a request's vector is to what tools in the world do, whatever a catalog has (see `world`).

        Raises:
            EncoderFailed: the file that tells it is missing or damaged.
        """
        from toolsearch.encoders.world import nearness

        return nearness(vector, self._folder)

    def encode(self, texts: Sequence[str], role: Role) -> Floats:
        """Vectors, (len(texts), 448) float32, unit length, or zero for a text without tokens.

        Raises:
            EncoderFailed: the model's files are missing or damaged.
        """
        import numpy as np

        vectors = np.zeros((len(texts), self.dimension), np.float32)
        if not texts:
            return vectors
        model = _model(self._folder)
        if len(texts) <= BLOCK or self._threads == 1:
            model.fill(texts, vectors)
            return vectors
        with ThreadPoolExecutor(self._threads, "toolsearch-encode") as pool:
            try:
                list(pool.map(partial(_fill_block, model, texts, vectors), _blocks(len(texts))))
            finally:
                pool.shutdown(cancel_futures=True)
        return vectors


def trained(folder: str) -> BuiltinEncoder:
    """The encoder that `toolsearch train encoder` wrote into a folder.

    Raises:
        EncoderFailed: there is none.
    """
    place = Path(folder).expanduser().resolve()
    if not (place / "model.json").is_file():
        raise EncoderFailed(f"{folder[:200]!r} holds no model.json; make one with: toolsearch train encoder")
    return BuiltinEncoder(folder=place)


def _blocks(count: int) -> Iterator[slice]:
    return (slice(start, start + BLOCK) for start in range(0, count, BLOCK))


def _fill_block(model: _Model, texts: Sequence[str], vectors: NDArray[np.float32], block: slice) -> None:
    model.fill(texts[block], vectors[block])
