"""What is wrong with the tools that a caller may see."""

from __future__ import annotations

from collections import Counter
from itertools import groupby
from typing import TYPE_CHECKING, Annotated

from fastapi import APIRouter, Query, Response
from pydantic import BaseModel

from toolsearch.catalog.lint import RULES, lint
from toolsearch.server.service import Anyone, Here

if TYPE_CHECKING:
    from toolsearch.catalog.findings import Finding
    from toolsearch.server.callers import Caller
    from toolsearch.server.indexes import Served

router = APIRouter(prefix="/v1", tags=["tools"])
Text = Annotated[str | None, Query(max_length=1_000)]
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
        seen = served.see(caller)
        body = Lint(
            tools=served.count(seen.view),
            version=seen.version,
            rules=_counted(found if tool is None else wanted),
            findings=[_body(one) for one in _first(wanted, limit)],
        )
        return body.model_dump_json()

    return Response(await here.change(work), media_type="application/json")


def _linted(served: Served, caller: Caller) -> tuple[Finding, ...]:
    """The findings on a caller's own catalog, as if there were no other tools."""
    return lint(served.see(caller).view)


def _counted(found: tuple[Finding, ...] | list[Finding]) -> list[RuleBody]:
    counts = Counter(one.rule for one in found)
    return [
        RuleBody(rule=name, severity=rule.severity.value, looks_for=rule.looks_for, count=counts[name])
        for name, rule in RULES.items()
    ]


def _first(found: list[Finding], limit: int) -> list[Finding]:
    ranked = sorted(found, key=lambda one: list(RULES).index(one.rule))
    return [one for _, group in groupby(ranked, key=lambda one: one.rule) for one in list(group)[:limit]]


def _body(one: Finding) -> FindingBody:
    return FindingBody(tool=one.tool, rule=one.rule, severity=one.severity.value, message=one.message)
