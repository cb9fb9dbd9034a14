"""Requests in each language against the demo in English, as it is, half in Chinese, and all in Chinese."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from benchmarks.tasks import DEMO, demo
from toolsearch import ToolIndex, ToolSpec
from toolsearch.encoders import open_encoder
from toolsearch.encoders.cached import CachedEncoder
from toolsearch.evaluation.judged import JudgedQuery
from toolsearch.evaluation.measures import measure
from toolsearch.evaluation.runs import run
from toolsearch.evaluation.tables import averaged, table

LOCAL = ("erp_cn", "gebaeude", "keihi", "reservas")
"""Namespaces that are described in another language than English."""
LANGUAGES = ("en", "zh", "ja", "ko", "th", "ru", "ar", "de", "es", "fr", "pt")


def languages_table(encoders: Sequence[str], split: str) -> str:
    """Mean NDCG@10 by language, its interval and the number of requests; a line for each catalog and encoder."""
    task = demo(split)
    tools = task.tools()
    rows: list[list[str]] = []
    for name in encoders:
        encoder = CachedEncoder(open_encoder(name))
        for catalog, specs in _catalogs(tools):
            queries = list(_answerable(task.queries, {spec.id for spec in specs}))
            index = ToolIndex.from_tools(specs, encoder=encoder)
            pairs = [(query.id, query.query) for query in queries]
            answers = list(run(index.retriever("hybrid"), index.view(), pairs, k=10))
            values = measure(queries, answers, ["nDCG@10"])["nDCG@10"]
            rows.append([f"{catalog} ({len(specs)})", name, *_cells(queries, values)])
    return table(["catalog", "encoder", *LANGUAGES, "all but en"], rows)


def _catalogs(tools: Sequence[ToolSpec]) -> Iterator[tuple[str, list[ToolSpec]]]:
    yield "English", [tool for tool in tools if tool.namespace not in LOCAL]
    yield "mixed", list(tools)
    translated = _chinese()
    yield "part Chinese", [translated.get(tool.id, _itself)(tool) for tool in tools]
    yield (
        "Chinese",
        [
            translated.get(tool.id, _itself)(tool)
            for tool in tools
            if tool.namespace == "erp_cn" or tool.id in translated
        ],
    )


def _chinese() -> dict[str, Callable[[ToolSpec], ToolSpec]]:
    """By id, what makes a tool of the demo one that is described in Chinese. Names and parameters keep their names."""
    rows = [json.loads(line) for line in (DEMO / "chinese.jsonl").read_text("utf-8").splitlines()]
    return {row["id"]: partial(_described, row["title"], row["description"]) for row in rows}


def _described(title: str, description: str, tool: ToolSpec) -> ToolSpec:
    parameters = dict(tool.parameters)
    properties = parameters.get("properties", {})
    parameters["properties"] = {name: _undescribed(body) for name, body in properties.items()}
    return replace(tool, title=title, description=description, parameters=parameters, aliases=(), examples=(), tags=())


def _undescribed(body: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": body.get("type", "string")}


def _itself(tool: ToolSpec) -> ToolSpec:
    return tool


def _answerable(queries: Sequence[JudgedQuery], ids: set[str]) -> Iterator[JudgedQuery]:
    """The requests that have a right tool among the ids, judged by those alone."""
    for query in queries:
        relevant = {tool: grade for tool, grade in query.relevant.items() if tool in ids}
        if relevant:
            yield replace(query, relevant=relevant)


def _cells(queries: Sequence[JudgedQuery], values: dict[str, float]) -> Iterator[str]:
    for languages in (*((code,) for code in LANGUAGES), LANGUAGES[1:]):
        found = [100 * values[query.id] for query in queries if query.lang in languages]
        yield f"{averaged(found)} of {len(found)}" if found else "-"
