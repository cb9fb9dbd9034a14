"""Hard negatives: what our own hybrid ranks first for each request, right or not."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from toolsearch.errors import InvalidSource
from toolsearch.evaluation.judged import JudgedQuery
from toolsearch.index.tool_index import ToolIndex
from toolsearch.strategies.retrievers import open_retriever
from toolsearch.training.data import Source

DEPTH: Final = 20
"""Tools that are kept of each ranking: what a judge is shown later."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shortlist:
    """The first tools for one request, best first, with the scores of the ranking."""

    id: str
    hits: tuple[str, ...]
    scores: tuple[float, ...]


def shortlists(source: Source, folder: Path, progress: Callable[[int, int], None]) -> dict[str, Shortlist]:
    """A shortlist for each request of a source, by its id. Kept in `folder` as they come, so a stopped run goes on.

    Raises:
        InvalidSource: a kept line is broken in the middle of its file.
    """
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{source.name.replace('/', '-')}.jsonl"
    found = {one.id: one for one in _kept(path)}
    waiting = [query for query in source.queries if query.id not in found and query.query.strip()]
    if waiting:
        with path.open("a", encoding="utf-8") as file:
            for one in _mined(source, waiting):
                file.write(json.dumps(asdict(one), ensure_ascii=False) + "\n")
                file.flush()
                found[one.id] = one
                progress(len(found), len(source.queries))
    return {query.id: found[query.id] for query in source.queries if query.id in found}


def _mined(source: Source, queries: list[JudgedQuery]) -> Iterator[Shortlist]:
    with ToolIndex.from_tools(source.tools) as index:
        retriever, view = open_retriever("hybrid"), index.view()
        for query in queries:
            hits = retriever.search([query.query], view, DEPTH)
            scores = tuple(round(hit.score, 4) for hit in hits)
            yield Shortlist(id=query.id, hits=tuple(hit.id for hit in hits), scores=scores)


def _kept(path: Path) -> Iterator[Shortlist]:
    """The lines of a file; the last one may have been cut off."""
    if not path.is_file():
        return
    text = path.read_text("utf-8")
    whole, _, rest = text.rpartition("\n")
    if rest:
        path.write_text(f"{whole}\n" if whole else "", "utf-8")
    for number, line in enumerate(whole.splitlines(), 1):
        try:
            body = json.loads(line)
            yield Shortlist(id=body["id"], hits=tuple(body["hits"]), scores=tuple(body["scores"]))
        except (ValueError, KeyError, TypeError):
            raise InvalidSource(f"{path.name}:{number}: no shortlist; delete the file to mine anew") from None
