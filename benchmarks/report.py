"""Runs as Markdown, and as one page that needs nothing else."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.runner import answers_of
from toolsearch.evaluation.comparison import interval
from toolsearch.evaluation.judged import JudgedQuery, read_queries
from toolsearch.evaluation.measures import measure
from toolsearch.evaluation.runs import Answer
from toolsearch.evaluation.tables import HEAD, OFFERS, groups, offers, summary, table

PAGE = Path(__file__).with_name("report.html")


def _tasks(folder: Path) -> Iterator[tuple[str, list[JudgedQuery], list[Answer]]]:
    for name, answers in answers_of(folder).items():
        yield name, read_queries(folder / f"{name}.queries.jsonl"), answers


def _label(folder: Path) -> str:
    return f"{folder.parent.name}/{folder.name}"


def markdown(folders: Sequence[Path]) -> str:
    """One table over all tasks, then abstention, then splits, kinds and languages of each."""
    rows: list[list[str]] = []
    details: list[str] = []
    refusals: list[list[str]] = []
    for folder in folders:
        for name, queries, answers in _tasks(folder):
            values = measure(queries, answers)
            right = [a for a in answers if a.id in values["nDCG@10"]]
            rows.append([name, _label(folder), *summary(values, right)])
            refusals += [[name, _label(folder), *row] for row in offers(queries, answers)]
            parts = [groups(queries, values, attribute) for attribute in ("split", "kind", "lang")]
            details += [f"\n### {name}, {_label(folder)}\n\n{part}" for part in parts if part.count("\n") > 2]
    text = table(["task", "run", *HEAD], rows)
    if refusals:
        text += "\n\n" + table(["task", "run", *OFFERS], refusals)
    return text + "".join(details)


def page(folders: Sequence[Path]) -> str:
    """The page with every run's figures and every request's answer inside."""
    body = json.dumps([_run(folder) for folder in folders], ensure_ascii=False).replace("</", "<\\/")
    return PAGE.read_text("utf-8").replace("/*DATA*/[]", body)


def _run(folder: Path) -> dict[str, Any]:
    tasks = [_task(name, _rows(queries, answers)) for name, queries, answers in _tasks(folder)]
    return {"run": _label(folder), "record": json.loads((folder / "record.json").read_text("utf-8")), "tasks": tasks}


def _task(name: str, rows: list[dict[str, Any]]) -> dict[str, Any]:
    values = np.array([row["value"] for row in rows if row["value"] is not None], np.float64)
    return {"name": name, "rows": rows, "interval": interval(values)}


def _rows(queries: list[JudgedQuery], answers: list[Answer]) -> list[dict[str, Any]]:
    values = measure(queries, answers, ["nDCG@10"])["nDCG@10"]
    found = {answer.id: answer for answer in answers}
    return [
        {
            "id": query.id,
            "query": query.query,
            "kind": query.kind,
            "lang": query.lang,
            "right": list(query.relevant),
            "hits": [tool for tool, _ in found[query.id].hits],
            "confidence": found[query.id].confidence,
            "cpu": round(found[query.id].cpu, 3),
            "value": values.get(query.id),
        }
        for query in queries
    ]
