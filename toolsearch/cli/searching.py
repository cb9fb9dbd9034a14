"""`toolsearch search` and `toolsearch explain`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from toolsearch.cli import formats, options
from toolsearch.cli.finding import known_tool
from toolsearch.cli.judging import Failure, Judging
from toolsearch.errors import InvalidInput

if TYPE_CHECKING:
    from toolsearch import ToolIndex
    from toolsearch.protocols import SearchResult
    from toolsearch.strategies.retriever import RankedRetriever

JudgeFailure = Annotated[
    Failure, typer.Option(help="When the judge fails: its error, or the order of the search and a note.")
]


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchOptions:
    """What `search` is given."""

    index: options.Index
    query: Annotated[list[str] | None, typer.Argument(metavar="QUERY", help="What you need.", show_default=False)] = (
        None
    )
    also: Annotated[list[str] | None, typer.Option(metavar="QUERY", help="A further need; repeatable.")] = None
    k: options.K = 5
    strategy: options.Strategy = None
    filter: options.Filter = None
    caller: options.Caller = None
    min_confidence: options.MinConfidence = None
    judge: options.Judge = None
    shortlist: options.Shortlist = 20
    judge_failure: JudgeFailure = Failure.error
    as_json: options.AsJson = False
    queries: Annotated[Path | None, typer.Option(help="File or folder of requests to answer instead.")] = None
    run: Annotated[Path | None, typer.Option(help="Where their answers go: .jsonl, .trec or .run.")] = None


@options.taking(SearchOptions)
def search(given: SearchOptions) -> None:
    """Find tools for a need said in your own words.

    With --judge a model looks at the best hits again. Ends with 1 when nothing fits.
    """
    from toolsearch import ToolIndex

    with ToolIndex.open(given.index, read_only=True) as index:
        judging = _judging(given)
        retriever = judging.behind(index, given.strategy) if judging else index.retriever(given.strategy)
        if given.queries is not None:
            print(_answer_all(index, retriever, given, given.queries))
            return
        least = given.min_confidence or (options.Band.low if judging else options.Band.none)
        found = _confident(_found(index, retriever, given), least)
        if judging:
            doubts = judging.doubts(given.index, given.strategy or index.status.strategy)
            found = replace(found, notes=(*found.notes, *doubts))
    print(formats.as_json(formats.result_json(found)) if given.as_json else formats.format_result(found))
    raise typer.Exit(0 if found.hits else 1)


def _judging(given: SearchOptions | ExplainOptions) -> Judging | None:
    if not given.judge:
        return None
    return Judging(judge=given.judge, shortlist=given.shortlist, on_failure=given.judge_failure)


def _found(index: ToolIndex, retriever: RankedRetriever, given: SearchOptions) -> SearchResult:
    needs = [" ".join(given.query or []), *(given.also or [])]
    caller = given.caller or None
    return index.search(needs, k=given.k, strategy=retriever, caller=caller, filter=given.filter)


def _answer_all(index: ToolIndex, retriever: RankedRetriever, given: SearchOptions, queries: Path) -> str:
    """Answer every request of a file into a run; gives the line that says so."""
    from toolsearch.evaluation.judged import read_queries
    from toolsearch.evaluation.runs import run, write_run

    if given.run is None:
        raise InvalidInput("name a file for the answers: --run OUT.jsonl")
    view = index.view(caller=given.caller or None, filter=given.filter)
    pairs = [(query.id, query.query) for query in read_queries(queries)]
    write_run(list(run(retriever, view, pairs, k=given.k)), given.run)
    return f"{len(pairs)} requests answered: {given.run}"


def _confident(found: SearchResult, least: options.Band) -> SearchResult:
    """The result, without its hits when it is less confident than wanted."""
    bands = list(options.Band)
    if not found.hits or bands.index(options.Band(found.band)) >= bands.index(least):
        return found
    has = "this strategy estimates no confidence" if found.confidence is None else f"the confidence is {found.band}"
    note = f"{len(found)} tools were left out: {has}, asked for was {least}"
    return replace(found, hits=(), shortfall=found.shortfall + len(found), notes=(*found.notes, note))


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplainOptions:
    """What `explain` is given."""

    query: Annotated[str, typer.Argument(metavar="QUERY", help="What was asked.", show_default=False)]
    tool: Annotated[str, typer.Argument(metavar="TOOL", help="Id of the tool.", show_default=False)]
    index: options.Index
    k: options.K = 5
    strategy: options.Strategy = None
    filter: options.Filter = None
    caller: options.Caller = None
    judge: options.Judge = None
    shortlist: options.Shortlist = 20
    judge_failure: JudgeFailure = Failure.error


@options.taking(ExplainOptions)
def explain(given: ExplainOptions) -> None:
    """Say why a tool is found for a request, or why not."""
    from toolsearch import ToolIndex

    caller = given.caller or None
    with ToolIndex.open(given.index, read_only=True) as index:
        known_tool(index, given.tool, caller)
        judging = _judging(given)
        retriever = judging.behind(index, given.strategy) if judging else index.retriever(given.strategy)
        told = retriever.explain(given.query, index.view(caller=caller, filter=given.filter), given.tool, given.k)
        if judging:
            doubts = judging.doubts(given.index, given.strategy or index.status.strategy)
            told = replace(told, notes=(*told.notes, *doubts))
    print("\n".join(formats.printable(line) for line in told.text().splitlines()))
