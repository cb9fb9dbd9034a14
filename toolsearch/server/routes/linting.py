"""What is wrong with the tools that a caller may see."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Annotated, Final

from fastapi import APIRouter, Query, Response
from pydantic import BaseModel

from toolsearch.catalog.lint import RULES, lint
from toolsearch.evaluation.judged import read_queries
from toolsearch.evaluation.reach import REACH_RULES, unreached
from toolsearch.evaluation.runs import run
from toolsearch.server.problems import Problem
from toolsearch.server.service import Anyone, Here

if TYPE_CHECKING:
    from collections.abc import Sequence

    from toolsearch.catalog.findings import Finding, Rule
    from toolsearch.server.callers import Caller
    from toolsearch.server.indexes import Served

router = APIRouter(prefix="/v1", tags=["tools"])
Text = Annotated[str | None, Query(max_length=1_000)]
REQUESTS: Final = "requests.jsonl"
MAX_REQUESTS: Final = 2_000
"""Most judged requests that are asked; of more, every second, third and so on."""
Limit = Annotated[int, Query(ge=1, le=1_000)]


class FindingBody(BaseModel):
    """One thing that is wrong with one tool, and the way out."""

    tool: str
    rule: str
    severity: str
    message: str


class RuleBody(BaseModel):
    """A rule of lint and how many findings it has."""

    rule: str
    severity: str
    looks_for: str
    count: int


class Lint(BaseModel):
    """Findings on the tools that the caller may see; counts are of all findings, not only of those listed."""

    tools: int
    version: str
    rules: list[RuleBody]
    findings: list[FindingBody]


@router.get("/lint", response_model=Lint)
async def findings(
    here: Here, caller: Anyone, index: Text = None, rule: Text = None, tool: Text = None, limit: Limit = 100
) -> Response:
    """Say what is wrong with tools: at most `limit` findings of each rule, of one rule or of one tool."""
    served = here.indexes.named(index)

    def work() -> str:
        found = served.remembered("lint", caller, _linted)
        wanted = [one for one in found if rule in (None, one.rule) and tool in (None, one.tool)]
        return _answer(served, caller, RULES, found if tool is None else wanted, _first(wanted, RULES, limit))

    return Response(await here.change(work), media_type="application/json")


@router.get("/lint/reach", response_model=Lint)
async def reach(here: Here, caller: Anyone, index: Text = None, rule: Text = None, limit: Limit = 100) -> Response:
    """Say which tools the judged requests in `requests.jsonl`, beside the index's definition, do not find."""
    served = here.indexes.named(index)
    if not caller.sees_all:
        raise Problem(403, "judged requests are about the whole catalog; this needs a key that sees all of it")

    def work() -> str:
        found = served.remembered("reach", caller, _reached)
        wanted = [one for one in found if rule in (None, one.rule)]
        return _answer(served, caller, REACH_RULES, found, _first(wanted, REACH_RULES, limit))

    return Response(await here.change(work), media_type="application/json")


def _reached(served: Served, caller: Caller) -> tuple[Finding, ...]:
    place = served.path / REQUESTS
    if not place.is_file():
        raise Problem(404, f"index {served.name!r} has no judged requests; put them in {REQUESTS} beside index.toml")
    queries = read_queries(place)
    queries = queries[:: 1 + len(queries) // MAX_REQUESTS]
    view = served.see(caller).view
    pairs = [(query.id, query.query) for query in queries]
    return tuple(unreached([spec.id for spec in view], queries, run(served.index.retriever(), view, pairs)))


def _linted(served: Served, caller: Caller) -> tuple[Finding, ...]:
    """The findings on a caller's own catalog, as if there were no other tools."""
    return lint(served.see(caller).view)


def _answer(
    served: Served, caller: Caller, rules: dict[str, Rule], found: Sequence[Finding], shown: Sequence[Finding]
) -> str:
    counts, seen = Counter(one.rule for one in found), served.see(caller)
    counted = [
        RuleBody(rule=name, severity=rule.severity.value, looks_for=rule.looks_for, count=counts[name])
        for name, rule in rules.items()
    ]
    findings = [
        FindingBody(tool=one.tool, rule=one.rule, severity=one.severity.value, message=one.message) for one in shown
    ]
    body = Lint(tools=served.count(seen.view), version=seen.version, rules=counted, findings=findings)
    return body.model_dump_json()


def _first(found: Sequence[Finding], rules: dict[str, Rule], limit: int) -> list[Finding]:
    """At most so many findings of each rule, in the order of the rules."""
    groups = {rule: [one for one in found if one.rule == rule] for rule in rules}
    return [one for group in groups.values() for one in group[:limit]]
