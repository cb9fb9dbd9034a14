"""Any embeddings endpoint of OpenAI's shape: `openai:https://host/v1#model`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from toolsearch.encoders.answers import MAX_DIMENSION, largest_answer, rows_of
from toolsearch.encoders.endpoint import Endpoint, Limits
from toolsearch.encoders.naming import ModelName, model_name, prompts_text
from toolsearch.encoders.prompts import known_prompts
from toolsearch.encoders.texts import readable, spoken, spread, unit
from toolsearch.errors import EncoderFailed, InvalidInput

if TYPE_CHECKING:
    from toolsearch.protocols import Floats, Role

OPTIONS: Final = ("query", "tool", "dimensions", "format")
FORMATS: Final = ("base64", "float")
MAX_CHARACTERS: Final = 8_000
"""What is sent of a text: endpoints refuse more than 8,192 tokens."""
MAX_INPUTS: Final = 256
MAX_BATCH: Final = 250_000
"""Texts and characters of one request; endpoints take 2,048 texts and 300,000 tokens."""


class OpenAIEncoder:
    """An OpenAI-compatible endpoint. May be shared between threads.

    `name` is `URL#MODEL` with options after the model: `query` and `tool` (prompts; otherwise those known for the
    model's name), `dimensions` (asked of the endpoint), `format` (`base64`, the default, or `float`). The key is
    read from the environment, from a variable that belongs to the host alone (see `endpoint.key_variable`).
    Blank texts are not sent and have the zero vector. Whether a text's vector is the same to the last bit in
    every batch is up to the endpoint.

    Raises:
        InvalidInput: no http(s) URL, a user or query in it, no model, or an unknown option.
    """

    def __init__(self, name: str, limits: Limits | None = None) -> None:
        url, model = _parts(name)
        self._url = url
        self._name = model
        self._prompts = model.prompts(known_prompts(model.model))
        self._asked = model.number("dimensions", MAX_DIMENSION)
        self._format = model.options.get("format", FORMATS[0])
        if self._format not in FORMATS:
            raise InvalidInput(f"format={self._format[:80]!r} must be one of {', '.join(FORMATS)}")
        self._endpoint = Endpoint(f"{url}/embeddings", limits or Limits())
        self._dimension = self._asked

    @property
    def id(self) -> str:
        """Endpoint, model, asked dimension and prompts. Known without asking the endpoint."""
        asked = f";dim={self._asked}" if self._asked else ""
        return f"openai:{self._url}#{self._name.model}{asked};{prompts_text(self._prompts)};unit"

    @property
    def dimension(self) -> int:
        """Length of a vector. Asks the endpoint when no vector has come from it yet.

        Raises:
            EncoderFailed: the endpoint gave no usable answer.
        """
        if self._dimension is None:
            self._batch(["dimension"])
        return self._dimension or 0

    def encode(self, texts: Sequence[str], role: Role) -> Floats:
        """Vectors, (len(texts), dimension) float32, unit length, or zero for a blank text.

        Raises:
            EncoderFailed: the endpoint gave no usable answer within the limits.
        """
        import numpy as np

        positions = spoken(texts)
        prompt = self._prompts.of(role)
        sent = [prompt + readable(texts[position], MAX_CHARACTERS) for position in positions]
        rows = [self._batch(batch) for batch in _batches(sent)]
        return spread(np.concatenate([*rows, np.zeros((0, self.dimension), np.float32)]), positions, len(texts))

    def _batch(self, texts: list[str]) -> Floats:
        body: dict[str, Any] = {"model": self._name.model, "input": texts, "encoding_format": self._format}
        if self._asked:
            body["dimensions"] = self._asked
        rows = rows_of(self._endpoint.post(body, largest_answer(len(texts), self._dimension)), len(texts))
        self._dimension = self._dimension or rows.shape[1]
        if rows.shape[1] != self._dimension:
            raise EncoderFailed(f"the endpoint gave {rows.shape[1]} dimensions where {self._dimension} were expected")
        return unit(rows, "the endpoint")


def _parts(name: str) -> tuple[str, ModelName]:
    """The base URL without a slash at its end, and the model."""
    url, _, model = name.partition("#")
    try:
        split = urlsplit(url)
        host, _ = split.hostname, split.port
    except ValueError:
        host, split = None, urlsplit("")
    if not host or split.scheme not in ("http", "https"):
        raise InvalidInput(f"an endpoint is named as openai:https://host/v1#model, not {_shown(name)!r}")
    if split.username is not None or split.query:
        raise InvalidInput(f"the URL of {host[:80]!r} must hold no user or query; keys belong in the environment")
    return url.rstrip("/"), model_name(model, OPTIONS)


def _shown(name: str) -> str:
    """A name as errors show it: without what may be a password."""
    return name[:80].rpartition("@")[2]


def _batches(texts: list[str]) -> Iterator[list[str]]:
    batch: list[str] = []
    size = 0
    for text in texts:
        if batch and (len(batch) == MAX_INPUTS or size + len(text) > MAX_BATCH):
            yield batch
            batch, size = [], 0
        batch.append(text)
        size += len(text)
    if batch:
        yield batch
