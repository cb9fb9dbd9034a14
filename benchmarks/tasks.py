"""What is searched and asked: the demo index, and the sets of a data folder."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice
from pathlib import Path

from toolsearch import ToolSpec
from toolsearch.catalog.sources import load
from toolsearch.evaluation.judged import JudgedQuery, read_queries

DEMO = Path(__file__).parent.parent / "indexes" / "demo"


@dataclass(frozen=True, slots=True)
class Task:
    """A catalog and judged requests on it. Tasks over one catalog share the `catalog` name."""

    name: str
    catalog: str
    source: Path
    queries: tuple[JudgedQuery, ...]
    limit: int = 0
    """Tools to keep of the catalog, those that requests need first; 0 keeps all."""
    more: tuple[ToolSpec, ...] = ()
    """Made-up tools behind those of the catalog."""

    def tools(self) -> list[ToolSpec]:
        """The catalog, in its order."""
        found = _catalog(self.source)
        if not self.limit or self.limit >= len(found):
            return [*found, *self.more]
        needed = {tool for query in self.queries for tool in query.relevant}
        others = (tool.id for tool in found if tool.id not in needed)
        kept = needed | set(islice(others, max(0, self.limit - len(needed))))
        return [tool for tool in found if tool.id in kept]


@lru_cache(maxsize=2)
def _catalog(source: Path) -> tuple[ToolSpec, ...]:
    return tuple(tool.spec for tool in load(source).tools)


def development_parts(data: Path) -> Iterator[Task]:
    """The parts that `parts.json` of a data folder fixes, by set and request ids."""
    parts = json.loads((data / "parts.json").read_text("utf-8"))
    for name, part in parts.items():
        folder = data / part["set"]
        known = {query.id: query for query in read_queries(folder / "queries.jsonl")}
        yield Task(name, part["set"], folder / "tools.jsonl", tuple(known[key] for key in part["queries"]))


def evenly(task: Task, most: int) -> Task:
    """The task with at most `most` of its requests, evenly picked in their order; 0 keeps all."""
    if not most or most >= len(task.queries):
        return task
    places = [place * len(task.queries) // most for place in range(most)]
    return replace(task, queries=tuple(task.queries[place] for place in places))


def demo(split: str) -> Task:
    """One split of the demo requests: development or test. The two are never mixed."""
    queries = tuple(query for query in read_queries(DEMO / "requests.jsonl") if query.split == split)
    return Task(f"demo_{split}", "demo", DEMO / "tools", queries)
