"""`toolsearch eval`: how well an index answers requests whose right tools are known."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from toolsearch.cli import options
from toolsearch.cli.reading import tell_strangers
from toolsearch.errors import InvalidInput


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluateOptions:
    """What `eval` is given."""

    index: options.Index
    queries: Annotated[
        Path, typer.Option(help="Judged requests: JSONL, BEIR, TREC or ToolRet layout.", show_default=False)
    ]
    k: options.K = 10
    strategy: options.Strategy = None
    caller: options.Caller = None
    split: Annotated[str | None, typer.Option(help="Only requests of this split.")] = None


@options.taking(EvaluateOptions)
def evaluate(given: EvaluateOptions) -> None:
    """Measure search on judged requests of your own."""
    from toolsearch import ToolIndex
    from toolsearch.evaluation.judged import read_queries
    from toolsearch.evaluation.runs import run
    from toolsearch.evaluation.tables import overview

    queries = [one for one in read_queries(given.queries) if given.split in (None, one.split)]
    if not queries:
        raise InvalidInput(f"no judged request of split {given.split!r:.80} in {str(given.queries)!r}")
    with ToolIndex.open(given.index, read_only=True) as index:
        tell_strangers(index, queries)
        pairs = [(query.id, query.query) for query in queries]
        view = index.view(caller=given.caller or None)
        print(overview(queries, list(run(index.retriever(given.strategy), view, pairs, k=given.k))))
