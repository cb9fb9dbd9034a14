"""Requests in each language against three slices of the demo: tools in English, all tools, tools in Chinese."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from benchmarks.tasks import demo
from toolsearch import ToolIndex, ToolSpec
from toolsearch.encoders import open_encoder
from toolsearch.encoders.cached import CachedEncoder
from toolsearch.evaluation.judged import JudgedQuery
from toolsearch.evaluation.measures import measure
from toolsearch.evaluation.runs import run
from toolsearch.evaluation.tables import table

LOCAL = ("erp_cn", "gebaeude", "keihi", "reservas")
"""Namespaces that are described in another language than English."""
LANGUAGES = ("en", "zh", "ja", "ko", "th", "ru", "ar", "de", "es", "fr", "pt")


def languages_table(encoders: Sequence[str], split: str) -> str:
    """Mean NDCG@10 by language, with the number of requests; one line for each catalog and encoder."""
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
    yield "Chinese", [tool for tool in tools if tool.namespace == "erp_cn"]


def _answerable(queries: Sequence[JudgedQuery], ids: set[str]) -> Iterator[JudgedQuery]:
    """The requests that have a right tool among the ids, judged by those alone."""
    for query in queries:
        relevant = {tool: grade for tool, grade in query.relevant.items() if tool in ids}
        if relevant:
            yield replace(query, relevant=relevant)


def _cells(queries: Sequence[JudgedQuery], values: dict[str, float]) -> Iterator[str]:
    for languages in (*((code,) for code in LANGUAGES), LANGUAGES[1:]):
        found = [100 * values[query.id] for query in queries if query.lang in languages]
        yield f"{sum(found) / len(found):.1f} ({len(found)})" if found else "-"
