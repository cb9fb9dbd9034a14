"""Real catalogs filled up with made-up tools, and vectors for those, so that judged requests can be asked of many more.

A made-up tool recombines real ones that no request asks for, so what was judged stays true. Its vector mixes those of
two of them with a disturbance, as encoding so many would take hours; all that take vectors get the same ones.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from benchmarks.peers.encoder import MEMORY, Filled, Remembered, Timed
from benchmarks.scale.catalog import BANK, NOISE, Recipes
from benchmarks.tasks import Task
from toolsearch import ToolSpec, open_encoder

if TYPE_CHECKING:
    from toolsearch.protocols import Encoder, Floats, Role

MIXED: Final = 0.7
"""How much of the second parent's vector is in a made-up tool's, beside the first one's."""


@dataclass(frozen=True, slots=True)
class Filling:
    """A task whose catalog was filled up, the encoder for our index of it, and the file of the made-up vectors."""

    task: Task
    encoder: FilledEncoder
    file: Path


def fill(task: Task, count: int, folder: Path) -> Filling:
    """The task over `count` tools, under a name that says so; what was encoded is kept in the folder."""
    needed = {tool for query in task.queries for tool in query.relevant}
    known = recipes(task.tools(), needed, count)
    requests = open_encoder("builtin")
    remembered = Remembered(requests, folder / MEMORY)
    digest = hashlib.sha256(f"{task.name} {count} {sorted(needed)} {requests.id}".encode()).hexdigest()[:12]
    file = write_vectors(known, remembered, folder / f"made-{digest}.npy")
    name = f"{task.name}_{count}"
    filled = replace(task, name=name, catalog=f"{task.catalog}_{count}", more=tuple(made(known)))
    return Filling(filled, FilledEncoder(Filled(remembered, file), requests), file)


def recipes(real: Sequence[ToolSpec], needed: set[str], count: int) -> Recipes:
    """What the made-up tools are made of: tools that no request needs; `count` tools in all, real ones too."""
    return Recipes([spec for spec in real if spec.id not in needed], count - len(real), seed=0)


def made(known: Recipes) -> list[ToolSpec]:
    """The made-up tools; each has its number in its name, by which its vector is found."""
    found = known.tools(0, known.count)
    return [
        replace(spec, name=f"{spec.name.rpartition('_')[0]}_x{place}x", tags=()) for place, spec in enumerate(found)
    ]


def text_of(spec: ToolSpec) -> str:
    """The text by which a parent is encoded."""
    name = f"{spec.namespace}_{spec.name}" if spec.namespace else spec.name
    return f"{name}: {spec.description}"


def write_vectors(known: Recipes, encoder: Timed, file: Path) -> Path:
    """Unit vectors of the made-up tools, (count, dimension) float32, in a file that is kept."""
    if file.is_file():
        return file
    parents = np.stack(encoder.encode([text_of(spec) for spec in known.real], "tool")[0])
    first, second, _ = known.mixed.T
    rows = parents[first] + np.float32(MIXED) * parents[second]
    drawn = np.random.default_rng(0)
    scale = NOISE / np.sqrt(2 * parents.shape[1])
    for size in BANK:
        noise = (drawn.standard_normal((size, parents.shape[1])) * scale).astype(np.float32)
        rows += noise[np.arange(len(rows)) % size]
    np.save(file, rows / np.linalg.norm(rows, axis=1, keepdims=True))
    return file


class FilledEncoder:
    """The same as an encoder for our own index; requests are encoded anew each time."""

    def __init__(self, tools: Timed, requests: Encoder) -> None:
        self._tools, self._requests = tools, requests
        self.id, self.dimension = f"filled {requests.id}", requests.dimension
        self.languages = ("en",)

    def encode(self, texts: Sequence[str], role: Role) -> Floats:
        """Unit vectors, (len(texts), dimension) float32."""
        return self._requests.encode(texts, role) if role == "query" else np.stack(self._tools.encode(texts, role)[0])
