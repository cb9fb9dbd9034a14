"""`toolsearch search`, `explain` and `eval`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict, Unpack

import click

from toolsearch.cli import formats, options
from toolsearch.errors import InvalidInput

if TYPE_CHECKING:
    from toolsearch import ToolIndex
    from toolsearch.protocols import SearchResult


class SearchOptions(TypedDict):
    """What `search` was given."""

    query: tuple[str, ...]
    also: tuple[str, ...]
    index: Path
    k: int
    strategy: str | None
    caller: tuple[str, ...]
    filter: str | None
    min_confidence: str
    as_json: bool
    queries: Path | None
    run: Path | None


@click.command()
@click.argument("query", nargs=-1)
@options.index
@options.k
@options.strategy
@click.option("--also", multiple=True, help="A further need; repeatable.")
@options.caller
@click.option("--filter", help="Such as: namespace = 'payments' and not tags = 'beta'.")
@click.option("--min-confidence", type=click.Choice(options.BANDS), default="none", help="Below it, nothing fits.")
@options.as_json
@click.option("--queries", type=click.Path(path_type=Path), help="File or folder of requests to answer instead.")
@click.option("--run", type=click.Path(path_type=Path), help="Where their answers go: .jsonl, .trec or .run.")
def search(**given: Unpack[SearchOptions]) -> None:
    """Find tools for a need, said in your own words."""
    from toolsearch import ToolIndex

    with ToolIndex.open(given["index"], read_only=True) as index:
        if given["queries"] is not None:
            _answer_all(index, given, given["queries"])
            return
        found = _confident(_found(index, given), given["min_confidence"])
    print(formats.as_json(formats.result_json(found)) if given["as_json"] else formats.result(found))
    raise SystemExit(0 if found.hits else 1)


def _found(index: ToolIndex, given: SearchOptions) -> SearchResult:
    needs = [" ".join(given["query"]), *given["also"]]
    if not needs[0].strip():
        raise InvalidInput("say what you need, such as: toolsearch search 'give the customer their money back'")
    caller = given["caller"] or None
    return index.search(needs, k=given["k"], strategy=given["strategy"], caller=caller, filter=given["filter"])


def _confident(found: SearchResult, least: str) -> SearchResult:
    if options.BANDS.index(found.band) >= options.BANDS.index(least):
        return found
    return replace(found, hits=(), notes=(*found.notes, f"hits of {found.band} confidence were left out"))


def _answer_all(index: ToolIndex, given: SearchOptions, path: Path) -> None:
    from toolsearch.evaluation.judged import read_queries
    from toolsearch.evaluation.runs import run, write_run

    out = given["run"]
    if out is None:
        raise InvalidInput("name a file for the answers: --run OUT.jsonl")
    view = index.view(caller=given["caller"] or None, filter=given["filter"])
    pairs = [(query.id, query.query) for query in read_queries(path)]
    write_run(list(run(index.retriever(given["strategy"]), view, pairs, k=given["k"])), out)
    print(f"{len(pairs)} requests answered: {out}")


@click.command()
@click.argument("query")
@click.argument("tool")
@options.index
@options.strategy
@options.caller
def explain(query: str, tool: str, index: Path, strategy: str | None, caller: tuple[str, ...]) -> None:
    """Say why TOOL is where it is for QUERY, or why it is not found."""
    from toolsearch import ToolIndex

    with ToolIndex.open(index, read_only=True) as opened:
        print(opened.explain(query, tool, strategy=strategy, caller=caller or None).text())


class EvaluateOptions(TypedDict):
    """What `eval` was given."""

    index: Path
    queries: Path
    k: int
    strategy: str | None
    caller: tuple[str, ...]
    split: str | None


@click.command("eval")
@options.index
@click.option(
    "--queries", type=click.Path(path_type=Path), required=True, help="Judged requests: JSONL, BEIR, TREC or ToolRet."
)
@click.option("-k", type=click.IntRange(1, 1_000), default=10, show_default=True, help="Depth of the answers.")
@options.strategy
@options.caller
@click.option("--split", help="Only requests of this split.")
def evaluate(**given: Unpack[EvaluateOptions]) -> None:
    """Measure search on judged requests of your own."""
    from toolsearch import ToolIndex
    from toolsearch.evaluation.judged import read_queries
    from toolsearch.evaluation.runs import run
    from toolsearch.evaluation.tables import overview

    queries = [one for one in read_queries(given["queries"]) if given["split"] in (None, one.split)]
    if not queries:
        raise InvalidInput(f"no judged request of split {given['split']!r} in {str(given['queries'])!r}")
    with ToolIndex.open(given["index"], read_only=True) as index:
        pairs = [(query.id, query.query) for query in queries]
        view = index.view(caller=given["caller"] or None)
        print(overview(queries, list(run(index.retriever(given["strategy"]), view, pairs, k=given["k"]))))
