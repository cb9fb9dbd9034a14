"""Large catalogs, made by recombining real definitions; the same seed gives the same tools and vectors."""

from __future__ import annotations

import random
import re
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
BANK: Final = (4096, 4093)
"""Disturbances that are drawn once; a tool gets one of each, so that two tools hardly ever share both."""
_NUMBER: Final = re.compile(r"(\d+)(?=$|:)")


def parents(data: Path | None, seed: int) -> list[ToolSpec]:
    """Real definitions: of all sets of a data folder, or of the demo."""
    sources = sorted(data.glob("*/tools.jsonl")) if data else sorted(DEMO.glob("tools/*")) or [DEMO]
    every = (tool.spec for source in sources for tool in load(source, keep_going=True).tools)
    found = [spec for spec in every if len(spec.description.split(". ")[0].split()) > 2]
    random.Random(seed).shuffle(found)
    return found[:PARENTS]


class Recipes:
    """Which real tools each made-up one mixes, and its tags: verb and first sentence of one, the rest of others."""

    def __init__(self, real: Sequence[ToolSpec], count: int, seed: int) -> None:
        self.real, self.count = real, count
        drawn = np.random.default_rng(seed)
        self.mixed = drawn.integers(0, len(real), (count, 3), dtype=np.int32)
        self.tagged = drawn.random((count, len(SHARES))) < [share for _, share in SHARES]
        self._heads = [(spec.name[:40], spec.description.split(". ")[0]) for spec in real]
        self._tails = [(spec.name.split("_")[-1][:20], spec.description.split(". ")[-1]) for spec in real]

    def tools(self, start: int, end: int) -> Iterator[ToolSpec]:
        """Tools by number."""
        for number in range(start, end):
            one, other, third = self.mixed[number].tolist()
            name, head = self._heads[one]
            ending, tail = self._tails[other]
            yield ToolSpec(
                name=f"{name}_{ending}_{number}",
                description=f"{head}. {tail}",
                parameters=self.real[third].parameters,
                namespace=self.real[other].namespace or "made",
                tags=tuple(tag for (tag, _), has in zip(SHARES, self.tagged[number].tolist(), strict=True) if has),
            )


class PerturbedEncoder:
    """Vectors for made-up tools: those of two of their real parents, encoded once, mixed and disturbed.

    A tool is known by the number in its name. Requests are encoded by the real encoder, and kept.
    """

    languages = ("en",)

    def __init__(self, recipes: Recipes) -> None:
        self._encoder = open_encoder("builtin")
        self.id, self.dimension = f"perturbed {self._encoder.id}", self._encoder.dimension
        self._mixed = recipes.mixed
        texts = [f"{spec.name.replace('_', ' ')}: {spec.description}" for spec in recipes.real]
        self._real = self._encoder.encode(texts, "tool")
        drawn = np.random.default_rng(0)
        scale = NOISE / np.sqrt(2 * self.dimension)
        self._noise = [(drawn.standard_normal((size, self.dimension)) * scale).astype(np.float32) for size in BANK]
        self._asked: dict[str, NDArray[np.float32]] = {}

    def encode(self, texts: Sequence[str], role: str) -> NDArray[np.float32]:
        """Unit vectors, (len(texts), dimension) float32."""
        if role == "query":
            return np.stack([self._query(text) for text in texts])
        numbers = np.array([self._number(text) for text in texts])
        first, second, _ = self._mixed[numbers].T
        found = self._real[first] + np.float32(0.7) * self._real[second]
        for size, noise in zip(BANK, self._noise, strict=True):
            found += noise[numbers % size]
        return (found / np.linalg.norm(found, axis=1, keepdims=True)).astype(np.float32)

    def _number(self, text: str) -> int:
        found = _NUMBER.search(text)
        return min(int(found[1]), len(self._mixed) - 1) if found else 0

    def _query(self, text: str) -> NDArray[np.float32]:
        if text not in self._asked:
            self._asked[text] = self._encoder.encode([text], "query")[0]
        return self._asked[text]
