"""Faults that users of tool search reported, run through one adapter over a real index."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from toolsearch import SearchResult, ToolIndex, ToolSpec

CASES = yaml.safe_load((Path(__file__).parent / "search.yaml").read_text("utf-8"))


def spec(body: Mapping[str, Any]) -> ToolSpec:
    """The tool of a fixture; `description_times` repeats a text before an end."""
    fields = dict(body)
    if "description_times" in fields:
        text, times = fields.pop("description_times")
        fields["description"] = text * times + fields.pop("description_end")
    return ToolSpec(**fields)


def catalog(case: Mapping[str, Any]) -> list[ToolSpec]:
    """Tools of a case: generated ones first."""
    rule = case.get("generate", {"count": 0})
    made = [
        ToolSpec(name=rule["name"].format(i=i), description=rule["description"].format(i=i))
        for i in range(rule["count"])
    ]
    return made + [spec(body) for body in case["tools"]]


def check(found: SearchResult, expected: Mapping[str, Any]) -> None:
    """Hold an answer against what a fixture expects."""
    for key, value in expected.items():
        CHECKS[key](found, value)


def is_weak(found: SearchResult, _: object) -> None:
    assert not found.hits or found.band in ("none", "low")


def has_top(found: SearchResult, tool_id: str) -> None:
    assert found.ids[:1] == [tool_id]


def has(found: SearchResult, ids: list[str]) -> None:
    assert set(ids) <= set(found.ids)


def has_not(found: SearchResult, ids: list[str]) -> None:
    assert not set(ids) & set(found.ids)


def counts(found: SearchResult, number: int) -> None:
    assert len(found) == number


def is_empty(found: SearchResult, _: object) -> None:
    assert found.ids == []


def is_positive(found: SearchResult, _: object) -> None:
    assert all(hit.score > 0 for hit in found)


CHECKS: dict[str, Any] = {
    "weak": is_weak,
    "top": has_top,
    "contains": has,
    "excludes": has_not,
    "count": counts,
    "empty": is_empty,
    "positive": is_positive,
}


def search(index: ToolIndex, step: Mapping[str, Any]) -> None:
    text = str(step.get("before", "")) * int(step.get("times", 1)) + str(step["search"])
    check(index.search(text, k=step.get("k", 5)), step["expect"])


def run(index: ToolIndex, step: Mapping[str, Any]) -> None:
    """One step: search, add, remove or replace."""
    if "search" in step:
        search(index, step)
    elif "add" in step:
        index.upsert([spec(body) for body in step["add"]])
    elif "remove" in step:
        index.remove(step["remove"])
    else:
        index.replace(step["replace"], [spec(body) for body in step["with"]])


@pytest.mark.parametrize("encoder", ["builtin", None], ids=["hybrid", "words"])
@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_reported_fault(case: Mapping[str, Any], encoder: str | None) -> None:
    """The fault does not occur, with vectors and with words alone."""
    index = ToolIndex.from_tools(catalog(case), encoder=encoder)
    for step in case["steps"]:
        if not (step.get("words_only") and encoder):
            run(index, step)
