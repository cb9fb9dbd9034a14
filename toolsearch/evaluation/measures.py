"""Measures of a run, computed by `ir-measures` (doi:10.1007/978-3-030-99739-7_38), plus COMP@k.

COMP@k is 1 when every right tool of a request is among the first k, else 0 (the completeness of
COLT, arXiv:2405.16089). A judged request for which nothing was returned counts 0.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from typing import Any

from toolsearch.errors import InvalidInput, MissingExtra
from toolsearch.evaluation.judged import JudgedQuery
from toolsearch.evaluation.runs import Answer

MEASURES = ("nDCG@10", "R@5", "R@10", "P@1", "RR@10", "COMP@10")

PerQuery = dict[str, dict[str, float]]
"""measure name -> request id -> value from 0 to 1"""


def measure(queries: Sequence[JudgedQuery], answers: Iterable[Answer], names: Sequence[str] = MEASURES) -> PerQuery:
    """Value of each measure for each answerable request; unanswerable ones are left to `abstention`.

    Raises:
        InvalidInput: a measure's name is not known.
        MissingExtra: `ir-measures` is not installed.
    """
    judged = {query.id: query.relevant for query in queries if query.answerable}
    found = {answer.id: [tool for tool, _ in answer.hits] for answer in answers if answer.id in judged}
    values: PerQuery = {name: dict.fromkeys(judged, 0.0) for name in names}
    for name in names:
        if match := re.fullmatch(r"COMP@(\d+)", name):
            values[name] = _complete(judged, found, int(match[1]))
    _by_library(judged, found, values)
    return values


def mean(values: Mapping[str, float]) -> float:
    """Mean over requests in percent; 0 without requests."""
    return 100 * sum(values.values()) / len(values) if values else 0.0


def parted(queries: Sequence[JudgedQuery], values: Mapping[str, float], attribute: str) -> dict[str, list[float]]:
    """The values per split, kind or lang, groups by name."""
    groups: dict[str, list[float]] = defaultdict(list)
    for query in queries:
        if query.id in values:
            groups[str(getattr(query, attribute))].append(values[query.id])
    return dict(sorted(groups.items()))


def _complete(judged: Mapping[str, Mapping[str, int]], found: Mapping[str, list[str]], k: int) -> dict[str, float]:
    return {key: float(set(right) <= set(found.get(key, [])[:k])) for key, right in judged.items()}


def _by_library(judged: Mapping[str, Mapping[str, int]], found: Mapping[str, list[str]], values: PerQuery) -> None:
    try:
        library: Any = import_module("ir_measures")
    except ImportError:
        raise MissingExtra("ir-measures", "eval") from None
    names = [name for name in values if not name.startswith("COMP@")]
    try:
        parsed = [library.parse_measure(name) for name in names]
    except (NameError, ValueError, SyntaxError) as error:
        raise InvalidInput(f"unknown measure among {', '.join(names)[:120]}: {error}") from None
    # trec_eval orders equal scores by name, so each rank gets a score of its own
    ranked = {key: {tool: float(-rank) for rank, tool in enumerate(tools)} for key, tools in found.items() if tools}
    for row in library.iter_calc(parsed, {key: dict(right) for key, right in judged.items()}, ranked):
        values[str(row.measure)][row.query_id] = float(row.value)
