"""`toolsearch index lint`: what is wrong with the tools of an index or a source."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from toolsearch.cli import formats, options
from toolsearch.cli.reading import defined_sources, read_sources
from toolsearch.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Iterator

    from toolsearch import ToolIndex
    from toolsearch.catalog.findings import Finding, Rule
    from toolsearch.tool import ToolSpec

_NOUNS: Final = {"error": "errors", "warning": "warnings", "info": "remarks"}
SHOWN: Final = 5
"""Findings of one rule that are printed unless all are asked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LintOptions:
    """What `index lint` is given."""

    path: Annotated[
        Path, typer.Argument(metavar="PATH", help="Folder of an index, or a source of tools.", show_default=False)
    ]
    rule: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Only this rule; repeatable. A wrong name lists them.")
    ] = None
    queries: Annotated[Path | None, typer.Option(help="Judged requests: also say which tools they miss.")] = None
    k: options.K = 10
    every: Annotated[bool, typer.Option("--all", help=f"Print every finding, not {SHOWN} of each rule.")] = False
    keep_going: options.KeepGoing = False
    as_json: options.AsJson = False


@options.taking(LintOptions)
def lint(given: LintOptions) -> None:
    """Say what is wrong with tools: descriptions, names, schemas, near-duplicates, attacks.

    Ends with 1 when there are errors.
    """
    found = _findings(given)
    if given.as_json:
        print(formats.as_json([one.to_json() for one in found]))
    else:
        print(format_findings(found, None if given.every else SHOWN))
    raise typer.Exit(1 if any(one.severity == "error" for one in found) else 0)


def _findings(given: LintOptions) -> list[Finding]:
    from toolsearch import ToolIndex

    wanted = _wanted(given.rule)
    if not (given.path / "data").is_dir():
        if given.queries:
            raise InvalidInput(f"--queries needs an index and {str(given.path)!r} has none; make it with: index build")
        sources = defined_sources(given.path) or [given.path]
        tools = read_sources(sources, keep_going=given.keep_going)
        return _linted([tool.spec for tool in tools], wanted)
    with ToolIndex.open(given.path, read_only=True) as index:
        specs = list(_every_tool(index))
        reach = _reach(index, specs, given) if given.queries else []
    return [*_linted(specs, wanted), *(one for one in reach if one.rule in wanted)]


def _wanted(rules: list[str] | None) -> frozenset[str]:
    known = _all_rules()
    for name in rules or []:
        if name not in known:
            raise InvalidInput(f"no rule {name[:80]!r}; the rules are {', '.join(known)}")
    return frozenset(rules or known)


def _all_rules() -> dict[str, Rule]:
    from toolsearch.catalog.lint import RULES
    from toolsearch.evaluation.reach import REACH_RULES

    return {**RULES, **REACH_RULES}


def _linted(specs: list[ToolSpec], wanted: frozenset[str]) -> list[Finding]:
    from toolsearch.catalog.lint import RULES, lint

    return list(lint(specs, wanted & RULES.keys()))


def _every_tool(index: ToolIndex) -> Iterator[ToolSpec]:
    cursor: str | None = None
    while True:
        page = index.tools(cursor=cursor, limit=1_000)
        yield from page.tools
        if (cursor := page.next_cursor) is None:
            return


def _reach(index: ToolIndex, specs: list[ToolSpec], given: LintOptions) -> list[Finding]:
    from toolsearch.evaluation.judged import read_queries
    from toolsearch.evaluation.reach import unreached
    from toolsearch.evaluation.runs import run

    queries = read_queries(given.queries or "")
    pairs = [(query.id, query.query) for query in queries]
    answers = list(run(index.retriever(), index.view(), pairs, k=given.k))
    return list(unreached([spec.id for spec in specs], queries, answers))


def format_findings(found: Sequence[Finding], most: int | None) -> str:
    """Findings under their rules, at most so many of each, and how many there are."""
    counts = Counter(one.rule for one in found)
    lines: list[str] = []
    for rule, count in counts.items():
        mine = [one for one in found if one.rule == rule]
        lines.append(f"{mine[0].severity.value} {rule} ({count})")
        lines += [f"  {formats.shown(one.tool)}: {formats.shown(one.message, 400)}" for one in mine[:most]]
        if most is not None and count > most:
            lines.append(f"  ... and {count - most} more; --all prints them")
    severities = Counter(one.severity.value for one in found)
    total = ", ".join(f"{count} {noun}" for one, noun in _NOUNS.items() if (count := severities[one]))
    return "\n".join([*lines, total or "nothing found"])
