"""Runs strategies over tasks and keeps every answer: one folder a run, one file a task."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rich.progress import Progress

from benchmarks.tasks import Task
from toolsearch import ToolIndex
from toolsearch.evaluation.judged import JudgedQuery
from toolsearch.evaluation.record import Record, catalog_digest, folder_size, origin, queries_digest, settings_digest
from toolsearch.evaluation.runs import Answer, read_run, run, write_run
from toolsearch.protocols import Encoder
from toolsearch.strategies.settings import Settings

HERE = Path(__file__).parent
RUNS = HERE / "runs"
K = 10


@dataclass(frozen=True, slots=True)
class Built:
    """A folder with the index of a task's catalog; seconds of CPU that building it took, bytes on disk, the encoder."""

    folder: Path
    seconds: float
    size: int
    encoder: Encoder | str


class Kept:
    """One run's folder: answers and requests of each task, and a record that is written anew with each."""

    def __init__(self, folder: Path, settings: Mapping[str, Any]) -> None:
        self.folder = folder
        self._settings = dict(settings)
        self._seen: dict[str, Any] = {"digests": {}, "build": {}, "size": {}}
        folder.mkdir(parents=True, exist_ok=True)

    def add(self, task: Task, answers: Sequence[Answer], built: Built | None = None, *, seconds: float = 0.0) -> None:
        """Keep the answers to a task's requests; `seconds` is what building took where there is no index of ours."""
        write_run(answers, self.folder / f"{task.name}.jsonl")
        rows = [{"id": q.id, "query": q.query, "relevant": dict(q.relevant), **_marks(q)} for q in task.queries]
        text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        (self.folder / f"{task.name}.queries.jsonl").write_text(text, "utf-8")
        self._seen["digests"][task.name] = {
            "catalog": catalog_digest(task.tools()),
            "queries": queries_digest(task.queries),
            "settings": settings_digest({**self._settings, "ranking": asdict(Settings())}),
        }
        self._seen["build"][task.name] = built.seconds if built else seconds
        self._seen["size"][task.name] = built.size if built else 0
        self._write()

    def miss(self, task: Task, why: str) -> None:
        """Note that a task was not done, and why."""
        self._settings.setdefault("missing", {})[task.name] = why
        self._write()

    def _write(self) -> None:
        Record(**origin(), seed=0, settings=self._settings, **self._seen).write(self.folder / "record.json")


def build(task: Task, encoder: Encoder | str) -> Built:
    """The index of the task's catalog, kept between runs together with what it took to build."""
    tools = task.tools()
    named = encoder if isinstance(encoder, str) else encoder.id[:40]
    name = f"{task.catalog}-{re.sub(r'[^A-Za-z0-9.:#-]', '_', named)}-{catalog_digest(tools)[:12]}"
    place, told = RUNS / "indexes" / name, RUNS / "indexes" / f"{name}.seconds"
    started = time.process_time()
    ToolIndex.build(place, tools, encoder=encoder).close()
    if not told.exists():
        told.write_text(str(time.process_time() - started), "utf-8")
    return Built(place, float(told.read_text("utf-8")), folder_size(place), encoder)


def run_all(tasks: Iterable[Task], strategies: Sequence[str], *, out: Path, encoder: str = "builtin") -> list[Path]:
    """Run every strategy over every task; returns one folder per strategy."""
    kept = {name: Kept(out / name, {"strategy": name, "k": K, "encoder": encoder}) for name in strategies}
    built: dict[str, Built] = {}
    with Progress() as progress:
        for task in tasks:
            if task.catalog not in built:
                built[task.catalog] = build(task, encoder)
            for strategy, folder in kept.items():
                answers = run_one(task, built[task.catalog], strategy, progress)
                folder.add(task, answers, built[task.catalog])
    return [folder.folder for folder in kept.values()]


def run_one(task: Task, built: Built, strategy: str, progress: Progress | None = None) -> list[Answer]:
    """One strategy's answers to a task's requests, after one request to warm up.

    The index is opened for it alone, so that no request was encoded before for another strategy.
    """
    pairs = [(query.id, query.query) for query in task.queries]
    bar = progress.add_task(f"{task.name} {strategy}", total=len(pairs)) if progress else None
    answers: list[Answer] = []
    known = None if isinstance(built.encoder, str) else built.encoder
    with ToolIndex.open(built.folder, read_only=True, encoder=known) as index:
        retriever, view = index.retriever(strategy), index.view()
        retriever.search([task.queries[0].query], view, K)
        for answer in run(retriever, view, pairs, k=K):
            answers.append(answer)
            if progress and bar is not None:
                progress.advance(bar)
    return answers


def _marks(query: JudgedQuery) -> dict[str, str]:
    return {"kind": query.kind, "lang": query.lang, "split": query.split}


def answers_of(folder: Path) -> dict[str, list[Answer]]:
    """Task name -> answers of a run's folder."""
    files = sorted(file for file in folder.glob("*.jsonl") if not file.name.endswith(".queries.jsonl"))
    return {file.stem: read_run(file) for file in files}
