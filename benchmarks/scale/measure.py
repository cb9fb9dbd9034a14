"""One size: build, open, ask, change; CPU seconds of this process, so that a busy machine counts little."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Final

import numpy as np

from benchmarks.scale.catalog import SHARES, PerturbedEncoder, Recipes, parents
from benchmarks.scale.memory import forget_peak, resident, told
from benchmarks.scale.others import Bound, asked_of_others
from toolsearch import ToolIndex
from toolsearch.catalog.streaming import Entry
from toolsearch.evaluation.record import folder_size
from toolsearch.index.feeds import SourceTools
from toolsearch.index.progress import Progress
from toolsearch.text import request_terms

MANY: Final = 10_000
BATCH: Final = 500
ASKED: Final = 40
K: Final = 5
DEPTH: Final = 50
STAGES: Final = ("read", "encode", "analyse", "train", "write")
LOOK: Final = 0.1
"""Seconds between two looks at the memory of a build."""
SAID: Final = 10.0
"""Seconds between two lines about a build."""
DISK: Final = "disk a tool, B: vectors / approximate index / postings / other arrays / database"
FLAT: Final = 5
"""Requests that are compared with every vector."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """What is measured: how many tools, of which definitions, with which vectors."""

    tools: int
    data: Path | None
    real: bool
    seed: int
    folder: Path
    jobs: int = 1


def built(size: Size) -> dict[str, Any]:
    """Make the index; CPU seconds and peak memory of making it. For a process of its own."""
    recipes = recipes_of(size)
    encoder = encoder_of(size, recipes)
    course, idle, own = Course(), resident(), told("RssAnon")
    made = _Made(recipes, size.tools)
    ToolIndex.build(size.folder, made, encoder=encoder or "builtin", jobs=size.jobs, progress=course.told).close()
    course.end()
    course.close()
    return {
        "tools": size.tools,
        "vectors": "real" if size.real else "perturbed",
        "build, CPU s": sum(course.spent.values()),
        "of it " + " / ".join(STAGES): " / ".join(f"{course.spent.get(stage, 0.0):.0f}" for stage in STAGES),
        "build, s by the clock": course.wall,
        "build, most memory above the process's start, MB": max(course.memory.values()) - idle,
        "most of it that mirrors no file, MB": course.own - own,
        "of it in " + " / ".join(STAGES): " / ".join(f"{course.memory.get(one, idle) - idle:.0f}" for one in STAGES),
        "disk, MB": folder_size(size.folder) / 1e6,
    }


class Course:
    """What the stages of a build took: CPU seconds, and most memory in each; told on standard error too."""

    def __init__(self) -> None:
        self.spent: dict[str, float] = {}
        self.memory: dict[str, float] = {}
        self.own = 0.0
        self._ended = threading.Event()
        self._watch = threading.Thread(target=self._watched, daemon=True)
        self._watch.start()
        self._began = self._said = time.monotonic()
        self._stage, self._before = "read", _cpu()
        forget_peak()

    @property
    def wall(self) -> float:
        """Seconds by the clock since the beginning."""
        return time.monotonic() - self._began

    def close(self) -> None:
        """Look at memory no more."""
        self._ended.set()
        self._watch.join()

    def told(self, step: Progress) -> None:
        """Take a step of the build; steps of another stage end the one before."""
        if step.stage != self._stage:
            self.end()
            self._stage = step.stage
        if time.monotonic() - self._said > SAID:
            self._said = time.monotonic()
            print(f"{self.wall:.0f} s: {step.stage} {step.done} of {step.total}, {resident():.0f} MB", file=sys.stderr)

    def _watched(self) -> None:
        while not self._ended.wait(LOOK):
            self.own = max(self.own, told("RssAnon"))

    def end(self) -> None:
        """The stage has ended."""
        now = _cpu()
        self.spent[self._stage] = self.spent.get(self._stage, 0.0) + now - self._before
        self.memory[self._stage], self._before = max(self.memory.get(self._stage, 0.0), told("VmHWM")), now
        forget_peak()


def measured(size: Size) -> dict[str, Any]:
    """Opening, asking and changing; times in ms of CPU unless the name says otherwise. For a process of its own."""
    recipes = recipes_of(size)
    encoder = encoder_of(size, recipes)
    parts = _parts(size.folder)
    idle, before, wall = resident(), time.process_time(), time.perf_counter()
    index = ToolIndex.open(size.folder, encoder=encoder or "builtin")
    figures: dict[str, Any] = {"open": _ms(before), "open, by the clock": (time.perf_counter() - wall) * 1e3}
    requests = requests_of(recipes)
    with index:
        figures |= queries(index, requests)
        figures["serving, memory of the whole process, MB"] = resident()
        figures["of it mapped from files, MB"] = told("RssFile")
        figures["of it above the process's start, MB"] = resident() - idle
        figures |= _bare(index, requests, figures["hybrid"])
        figures |= _changes(index, recipes, size)
    figures[DISK] = " / ".join(f"{part / size.tools:,.0f}" for part in parts)
    figures["disk after changes, MB"] = folder_size(size.folder) / 1e6
    return figures


def _parts(folder: Path) -> list[int]:
    """Bytes of an index by what they are for, in the order of DISK."""
    vectors = nearest = postings = others = truth = 0
    for file in (one for one in folder.rglob("*") if one.is_file()):
        size = file.stat().st_size
        if file.name.startswith("truth.sqlite"):
            truth += size
        elif file.stem == "vectors":
            vectors += size
        elif file.stem == "nearest":
            nearest += size
        elif file.stem in ("words_rows", "words_weights"):
            postings += size
        else:
            others += size
    return [vectors, nearest, postings, others, truth]


def compared(peers: Sequence[str], size: Size, bound: Bound) -> dict[str, Any]:
    """What peers take for the same tools and requests."""
    recipes = recipes_of(size)
    return asked_of_others(peers, recipes, size.tools, requests_of(recipes), bound)


def requests_of(recipes: Recipes) -> list[str]:
    """What is asked: first sentences of real tools."""
    real = recipes.real
    return [spec.description.split(". ")[0][:80] for spec in real[:: max(1, len(real) // ASKED)][:ASKED]]


class _Made(SourceTools):
    """Made-up tools as a source: made when they are asked for."""

    def __init__(self, recipes: Recipes, count: int) -> None:
        super().__init__(())
        self._recipes, self._count = recipes, count

    def entries(self) -> Iterator[Entry]:
        """The tools by number."""
        return (Entry("", spec=spec) for spec in self._recipes.tools(0, self._count))


def recipes_of(size: Size) -> Recipes:
    """How its tools are made, and those that are added to them."""
    return Recipes(parents(size.data, size.seed), size.tools + MANY + 1, size.seed)


def encoder_of(size: Size, recipes: Recipes) -> PerturbedEncoder | None:
    """What makes its vectors; None means the built-in encoder."""
    return None if size.real else PerturbedEncoder(recipes)


def queries(index: ToolIndex, requests: Sequence[str]) -> dict[str, float]:
    """Each way of asking, vectors of the requests known beforehand."""
    found: dict[str, Any] = {}
    for name in ("lexical", "vector", "hybrid"):
        found[name] = _each(requests, _asker(index, name))
    for tag, share in SHARES:
        view = index.view(filter={"eq": ["tags", tag]})
        found[f"hybrid, filter keeps {share:.1%}"] = _each(requests, _asker(index, "hybrid", view))
    found["two threads over one, by the clock"] = _two_threads(requests, _asker(index, "hybrid"))
    return found


def _bare(index: ToolIndex, requests: Sequence[str], hybrid: float) -> dict[str, Any]:
    """The bare engines on the same requests: scores, their statistics and the best rows."""
    view = index.view()
    corpus, encoder, dense = view.corpus, view.corpus.encoder, view.corpus.dense
    terms = {request: request_terms(request) for request in requests}
    found: dict[str, Any] = {}
    found["bare words engine"] = _each(
        requests, lambda r: _scored(corpus.lexical.score_many([terms[r]], view.allowed)[0])
    )
    if encoder is None or dense is None:
        return found
    vectors = {request: encoder.encode([request], "query")[0] for request in requests}
    found["bare vector engine"] = _each(requests, lambda r: _scored(dense.score_many([vectors[r]], view.allowed)[0]))
    found["recall of approximate similarity"] = getattr(dense, "recall", lambda: None)() or 1.0
    found["plain faiss scan"] = _flat(dense, vectors)
    engines = found["bare words engine"] + found["bare vector engine"]
    return {**found, "hybrid over the bare engines": f"{hybrid / engines:.2f}x"}


def _scored(scores: Any) -> None:
    _ = scores.mean, scores.std, scores.top(DEPTH)


def _flat(dense: Any, vectors: dict[str, Any]) -> float:
    """A plain faiss scan of the same number of vectors, one thread."""
    faiss = import_module("faiss")
    faiss.omp_set_num_threads(1)
    rows = max((segment.vectors for segment in dense._segments), key=len)
    inner = faiss.METRIC_INNER_PRODUCT
    return _each(list(vectors)[:FLAT], lambda request: faiss.knn(vectors[request][None], rows, DEPTH, metric=inner))


def _asker(index: ToolIndex, strategy: str, view: Any = None) -> Callable[[str], object]:
    retriever, seen = index.retriever(strategy), view or index.view()
    return lambda request: retriever.search([request], seen, K)


def _each(requests: Sequence[str], ask: Callable[[str], object]) -> float:
    """Median over requests of CPU ms, after one round that warms caches."""
    times: list[float] = []
    for turn in range(3):
        for request in requests:
            before = time.thread_time()
            ask(request)
            times += [(time.thread_time() - before) * 1e3] if turn else []
    return float(np.median(times))


def _two_threads(requests: Sequence[str], ask: Callable[[str], object]) -> float:
    """How many times as many requests two threads answer as one, by the clock."""

    def burst(_: int) -> None:
        for request in requests:
            ask(request)

    walls: list[float] = []
    for threads in (1, 2):
        with ThreadPoolExecutor(threads) as pool:
            before = time.perf_counter()
            list(pool.map(burst, range(6)))
            walls.append(time.perf_counter() - before)
    return walls[0] / walls[1]


def _changes(index: ToolIndex, recipes: Recipes, size: Size) -> dict[str, float]:
    """One tool, until a search shows it; then ten thousand in batches, removed ones among them."""
    specs = list(recipes.tools(size.tools, size.tools + MANY + 1))
    before, wall = time.process_time(), time.perf_counter()
    index.upsert(specs[:1])
    index.search(specs[0].name, k=1)
    seen = (time.perf_counter() - wall) * 1e3
    one, before = _ms(before), time.process_time()
    for start in range(1, MANY, BATCH):
        index.upsert(specs[start : start + BATCH])
        index.remove([spec.id for spec in specs[start : start + BATCH : 5]])
    many = _ms(before) / 1e3
    index.remove([spec.id for spec in specs])
    return {
        "one change, until a search shows it": one,
        "one change, by the clock": seen,
        "10,000 changes, CPU s": many,
    }


def _cpu() -> float:
    """CPU seconds of this process and of those that it began and that have ended."""
    return sum(os.times()[:4])


def _ms(before: float) -> float:
    return (time.process_time() - before) * 1e3
