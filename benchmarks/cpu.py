"""What one hybrid request costs: CPU of requests of one clause on a large catalog, asked first and asked again."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from benchmarks.flame import folded, sampled
from benchmarks.runner import K, build
from benchmarks.tasks import Task, evenly
from toolsearch import ToolIndex, open_encoder
from toolsearch.evaluation.comparison import interval
from toolsearch.evaluation.tables import table
from toolsearch.strategies.clauses import clauses
from toolsearch.strategies.settings import HYBRID

WARM = 10
"""Requests that are asked before, so that files are read and caches of words are as after some use."""


def cpu_table(task: Task, most: int = 100, stacks: Path | None = None) -> str:
    """CPU in ms of the first clause of each of the task's requests; encoding is measured alone, on the same texts.

    `stacks` is a file for where the CPU goes when they are asked once more, for a flame graph viewer.
    """
    texts = list(dict.fromkeys(_first_clause(query.query) for query in evenly(task, most + WARM).queries))
    warm, asked = texts[:WARM], texts[WARM:]
    encoder = open_encoder("builtin")
    with ToolIndex.open(build(task, "builtin").folder, read_only=True) as index:
        retriever, view = index.retriever("hybrid"), index.view()
        for text in warm:
            retriever.search([text], view, K)
            encoder.encode([text], "query")
        first = _spent(asked, lambda text: retriever.search([text], view, K))
        again = _spent(asked, lambda text: retriever.search([text], view, K))
        encoding = _spent(asked, lambda text: encoder.encode([text], "query"))
        if stacks is not None:
            stacks.write_text(folded(sampled(lambda: _spent(asked, lambda text: retriever.search([text], view, K)))))
    rows = [("asked first", first), ("asked again, its vector is kept", again), ("encoding alone", encoding)]
    head = [f"{len(asked)} requests, {len(task.tools())} tools", "mean ms (95 %)", "median", "95th percentile"]
    return table(head, [[name, *_cells(values)] for name, values in rows])


def _first_clause(text: str) -> str:
    return next(iter(clauses(text, HYBRID.clauses, HYBRID.clause_terms)), text)


def _spent(texts: Sequence[str], ask: Callable[[str], object]) -> list[float]:
    found: list[float] = []
    for text in texts:
        started = time.process_time()
        ask(text)
        found.append(1000 * (time.process_time() - started))
    return found


def _cells(values: Sequence[float]) -> list[str]:
    low, high = interval(np.array(values))
    mean = f"{np.mean(values):.1f} ({low:.1f} to {high:.1f})"
    return [mean, f"{np.median(values):.1f}", f"{np.percentile(values, 95):.1f}"]
