"""Runs strategies over tasks and keeps every answer: one folder a run, one file a task."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.progress import Progress

from benchmarks.tasks import Task
from toolsearch import ToolIndex
from toolsearch.evaluation.judged import JudgedQuery
from toolsearch.evaluation.record import Record, catalog_digest, folder_size, origin, queries_digest
from toolsearch.evaluation.runs import Answer, read_run, run, write_run

HERE = Path(__file__).parent
K = 10


@dataclass(frozen=True, slots=True)
class Built:
    """An index of a task's catalog, with seconds of CPU to build (0 when it was there) and bytes on disk."""

    index: ToolIndex
    seconds: float
    size: int
    digest: str


def build(task: Task, encoder: str) -> Built:
    """The index of the task's catalog, kept in a folder of its own between runs."""
    tools = task.tools()
    digest = catalog_digest(tools)
    folder = HERE / "runs" / "indexes" / f"{task.catalog}-{encoder.replace('/', '_')}-{digest[:12]}"
    started = time.process_time()
    index = ToolIndex.build(folder, tools, encoder=encoder)
    return Built(index, time.process_time() - started, folder_size(folder), digest)


def run_all(tasks: Iterable[Task], strategies: Sequence[str], *, out: Path, encoder: str = "builtin") -> list[Path]:
    """Run every strategy over every task; returns one folder per strategy."""
    folders = {strategy: out / strategy for strategy in strategies}
    seen: dict[str, dict[str, Any]] = {"digests": {}, "build": {}, "size": {}}
    built: dict[str, Built] = {}
    with Progress() as progress:
        for task in tasks:
            if task.catalog not in built:
                built[task.catalog] = build(task, encoder)
            place = built[task.catalog]
            seen["digests"][task.name] = {"catalog": place.digest, "queries": queries_digest(task.queries)}
            seen["build"][task.name], seen["size"][task.name] = place.seconds, place.size
            for strategy, folder in folders.items():
                _run_one(task, place.index, strategy, folder, progress)
    for strategy, folder in folders.items():
        settings = {"strategy": strategy, "k": K, "encoder": encoder}
        Record(**origin(), seed=0, settings=settings, **seen).write(folder / "record.json")
    return list(folders.values())


def _run_one(task: Task, index: ToolIndex, strategy: str, folder: Path, progress: Progress) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    retriever, view = index.retriever(strategy), index.view()
    retriever.search([task.queries[0].query], view, K)
    pairs = [(query.id, query.query) for query in task.queries]
    bar = progress.add_task(f"{task.name} {strategy}", total=len(pairs))
    answers: list[Answer] = []
    for answer in run(retriever, view, pairs, k=K):
        answers.append(answer)
        progress.advance(bar)
    write_run(answers, folder / f"{task.name}.jsonl")
    rows = [{"id": q.id, "query": q.query, "relevant": dict(q.relevant), **_marks(q)} for q in task.queries]
    (folder / f"{task.name}.queries.jsonl").write_text(
        "".join(json.dumps(r, ensure_ascii=False) + "\n" for r in rows), "utf-8"
    )


def _marks(query: JudgedQuery) -> dict[str, str]:
    return {"kind": query.kind, "lang": query.lang, "split": query.split}


def answers_of(folder: Path) -> dict[str, list[Answer]]:
    """Task name -> answers of a run's folder."""
    files = sorted(file for file in folder.glob("*.jsonl") if not file.name.endswith(".queries.jsonl"))
    return {file.stem: read_run(file) for file in files}
