"""What the demo's requests are answered today, so that a change of ranking is seen in the change that makes it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from benchmarks.runner import K
from benchmarks.tasks import Task
from toolsearch import ToolIndex
from toolsearch.evaluation.measures import measure
from toolsearch.evaluation.runs import Answer, run

FILE = Path(__file__).with_name("baseline.jsonl")
ALLOWED = 0.5
"""Points of mean nDCG@10 that the hybrid may lose; similarities differ a little across machines."""


@dataclass(frozen=True, slots=True)
class Row:
    """One request: a digest of what words alone find, best first; nDCG@10 of the hybrid, None if nothing is right."""

    id: str
    lexical: str
    hybrid: float | None


def now(task: Task) -> list[Row]:
    """The rows of today."""
    pairs = [(query.id, query.query) for query in task.queries]
    with ToolIndex.from_tools(task.tools()) as index:
        view = index.view()
        words, both = (list(run(index.retriever(name), view, pairs, k=K)) for name in ("lexical", "hybrid"))
    values = measure(task.queries, both, ["nDCG@10"])["nDCG@10"]
    return [Row(answer.id, digest(answer), _rounded(values.get(answer.id))) for answer in words]


def digest(answer: Answer) -> str:
    """The ids of an answer in their order, as twelve characters."""
    return hashlib.sha256("\n".join(tool for tool, _ in answer.hits).encode()).hexdigest()[:12]


def write(rows: Sequence[Row], file: Path = FILE) -> None:
    """Write rows, one a line."""
    lines = [json.dumps({"id": row.id, "lexical": row.lexical, "hybrid": row.hybrid}) for row in rows]
    file.write_text("\n".join(lines) + "\n", "utf-8")


def read(file: Path = FILE) -> list[Row]:
    """The rows of a file."""
    return [Row(**json.loads(line)) for line in file.read_text("utf-8").splitlines()]


def faults(before: Sequence[Row], after: Sequence[Row]) -> list[str]:
    """What is not as it was: requests, answers found by words, and the hybrid's mean."""
    old, new = ({row.id: row for row in rows} for rows in (before, after))
    told: list[str] = []
    if odd := sorted(set(old) ^ set(new)):
        told.append(f"{len(odd)} requests came or went, such as {odd[0]}")
    changed = [key for key in old if key in new and old[key].lexical != new[key].lexical]
    if changed:
        told.append(f"words find something else for {len(changed)} requests: {', '.join(changed[:10])}")
    lost = mean(old) - mean(new)
    if lost > ALLOWED:
        told.append(f"the hybrid's nDCG@10 fell by {lost:.2f} points, from {mean(old):.2f} to {mean(new):.2f}")
    return told


def mean(rows: Mapping[str, Row]) -> float:
    """Mean of the hybrid in percent over the requests that have a right tool."""
    return 100 * fmean(row.hybrid for row in rows.values() if row.hybrid is not None)


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)
