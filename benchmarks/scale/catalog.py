"""Large catalogs, made by recombining real definitions; the same seed gives the same tools and vectors."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from benchmarks.tasks import DEMO
from toolsearch import ToolSpec
from toolsearch.catalog.sources import load
from toolsearch.encoders import open_encoder

if TYPE_CHECKING:
    from numpy.typing import NDArray

SHARES: Final = (("half", 0.5), ("hundredth", 0.01), ("thousandth", 0.001))
"""Tags of made-up tools, and the share of tools that has each."""
PARENTS: Final = 1200
"""Most real definitions that are recombined: encoding more of them adds time and little variety."""
NOISE: Final = 0.35


def parents(data: Path | None, seed: int) -> list[ToolSpec]:
    """Real definitions: of all sets of a data folder, or of the demo."""
    sources = sorted(data.glob("*/tools.jsonl")) if data else sorted(DEMO.glob("tools/*")) or [DEMO]
    every = (tool.spec for source in sources for tool in load(source, keep_going=True).tools)
    found = [spec for spec in every if len(spec.description.split(". ")[0].split()) > 2]
    random.Random(seed).shuffle(found)
    return found[:PARENTS]


def made(real: Sequence[ToolSpec], count: int, seed: int) -> Iterator[tuple[ToolSpec, int, int]]:
    """Tools, each with the two real ones whose words it mixes: verb and first sentence of one, the rest of another."""
    chosen = random.Random(seed)
    for number in range(count):
        first, second, third = (chosen.randrange(len(real)) for _ in range(3))
        yield _mixed(real[first], real[second], real[third], number, chosen), first, second


def _mixed(one: ToolSpec, other: ToolSpec, third: ToolSpec, number: int, chosen: random.Random) -> ToolSpec:
    head, tail = one.description.split(". ")[0], other.description.split(". ")[-1]
    return ToolSpec(
        name=f"{one.name[:40]}_{other.name.split('_')[-1][:20]}_{number}",
        description=f"{head}. {tail}",
        parameters=third.parameters,
        namespace=other.namespace or "made",
        tags=tuple(tag for tag, share in SHARES if chosen.random() < share),
    )


class PerturbedEncoder:
    """Vectors for made-up tools: those of their two real parents, encoded once, mixed and disturbed.

    Requests are encoded by the real encoder, and kept.
    """

    languages = ("en",)

    def __init__(self, real: Sequence[ToolSpec]) -> None:
        self._encoder = open_encoder("builtin")
        self.id, self.dimension = f"perturbed {self._encoder.id}", self._encoder.dimension
        texts = [f"{spec.name.replace('_', ' ')}: {spec.description}" for spec in real]
        self._real = self._encoder.encode(texts, "tool")
        self._parents: dict[int, tuple[int, int]] = {}
        self._asked: dict[str, NDArray[np.float32]] = {}

    def expect(self, spec: ToolSpec, first: int, second: int) -> None:
        """Say whose words a tool mixes, before it is encoded."""
        self._parents[hash(spec.description)] = (first, second)

    def encode(self, texts: Sequence[str], role: str) -> NDArray[np.float32]:
        """Unit vectors, (len(texts), 384) float32."""
        if role == "query":
            return np.stack([self._query(text) for text in texts])
        pairs = [self._parents.get(hash(text.partition(": ")[2]), (0, 1)) for text in texts]
        rng = np.random.default_rng(abs(hash(texts[0])) if texts else 0)
        noise = rng.standard_normal((len(texts), self.dimension)) * (NOISE / np.sqrt(self.dimension))
        found = self._real[[a for a, _ in pairs]] + 0.7 * self._real[[b for _, b in pairs]] + noise
        return (found / np.linalg.norm(found, axis=1, keepdims=True)).astype(np.float32)

    def _query(self, text: str) -> NDArray[np.float32]:
        if text not in self._asked:
            self._asked[text] = self._encoder.encode([text], "query")[0]
        return self._asked[text]
