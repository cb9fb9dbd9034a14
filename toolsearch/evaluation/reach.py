"""Which tools judged requests reach: findings on tools that search misses, or that nobody asks for."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from toolsearch.catalog.findings import Finding, Rule, Severity, named, quoted
from toolsearch.evaluation.judged import JudgedQuery
from toolsearch.evaluation.runs import Answer

REACH_RULES: Final = {
    "search-missed": Rule(Severity.WARNING, "a tool that search finds for none of the requests it is right for"),
    "search-unreached": Rule(Severity.INFO, "a tool that no judged request finds"),
}


def unreached(tools: Iterable[str], queries: Sequence[JudgedQuery], answers: Iterable[Answer]) -> Iterator[Finding]:
    """Findings on tools, by id, in their order: what the answers to judged requests never hold."""
    found = {answer.id: [tool for tool, _ in answer.hits] for answer in answers}
    shown = {tool for hits in found.values() for tool in hits}
    asking: dict[str, list[JudgedQuery]] = defaultdict(list)
    for query in queries:
        for tool in query.relevant:
            asking[tool].append(query)
    for tool in tools:
        asked = asking.get(tool, [])
        if asked and not any(tool in found.get(query.id, []) for query in asked):
            yield _finding(tool, "search-missed", _missed(asked, found))
        elif tool not in shown:
            yield _finding(tool, "search-unreached", _alone(len(queries)))


def _missed(asked: list[JudgedQuery], found: dict[str, list[str]]) -> str:
    first = Counter(hits[0] for query in asked if (hits := found.get(query.id, [])))
    instead = f" while {named(first.most_common(1)[0][0])} comes first" if first else ""
    count = f"{len(asked)} judged request{'s' if len(asked) > 1 else ''}"
    return (
        f"It is right for {count}, such as {quoted(asked[0].query)}, and found for none{instead}; "
        "say in its description or examples what they ask for."
    )


def _alone(queries: int) -> str:
    return f"None of {queries} judged requests finds it; say in its description when it is wanted, or judge one for it."


def _finding(tool: str, rule: str, message: str) -> Finding:
    return Finding(tool=tool, rule=rule, severity=REACH_RULES[rule].severity, message=message)
