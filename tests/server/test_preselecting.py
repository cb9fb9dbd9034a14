"""Preselection over HTTP: conversations, what was selected before, a judge of the settings, and who may see what."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.decision.servers import serving as judging
from tests.server.running import REFUND, SECRET, TOOLS, WEATHER, build, serving, settings
from toolsearch.server.callers import Role
from toolsearch.server.keys import Keys
from toolsearch.server.state import StateFile
from toolsearch.tool import SearchBehavior, ToolSpec

CLOCK = ToolSpec(name="clock", description="Tells the time", search=SearchBehavior.ALWAYS_VISIBLE)
WASH = ToolSpec(name="wash_car", description="Washes a car")
CATALOG = (*TOOLS, CLOCK, WASH)


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx2.Client]:
    """A service without a judge."""
    with serving(settings(build(tmp_path_factory.mktemp("served") / "shop", CATALOG))) as client:
        yield client


def selected(client: httpx2.Client, **body: Any) -> dict[str, Any]:
    answer = client.post("/v1/preselect", json={"min_confidence": "none", **body})
    assert answer.status_code == 200, answer.text
    return answer.json()


def ids(found: dict[str, Any]) -> list[str]:
    return [tool["id"] for tool in found["tools"]]


def test_always_visible_tools_come_first(shop: httpx2.Client) -> None:
    """Then what the search finds; their search behaviour is told as it is in the catalog."""
    found = selected(shop, query="refund payment", k=1)
    assert ids(found) == [CLOCK.id, REFUND.id]
    assert found["selected"] == [REFUND.id]
    assert [tool["search"] for tool in found["tools"]] == ["always_visible", "searchable"]


def test_a_conversation_keeps_what_was_selected(shop: httpx2.Client) -> None:
    """What was selected or called before is given again, in its place, whatever the question is about now."""
    first = selected(shop, messages=[{"role": "user", "text": "refund payment"}], k=1)
    talk = [
        {"role": "user", "text": "refund payment"},
        {"role": "assistant", "text": "done"},
        {"role": "user", "text": "weather forecast"},
    ]
    found = selected(shop, messages=talk, max_messages=1, selected=first["selected"], called=["wash_car"], k=1)
    assert ids(found) == [REFUND.id, CLOCK.id, WASH.id, WEATHER.id]
    assert found["selected"] == [REFUND.id, WEATHER.id]
    again = selected(shop, messages=talk, selected=found["selected"], k=1)
    assert ids(again)[:2] == [REFUND.id, WEATHER.id]


def test_names_that_are_always_given(shop: httpx2.Client) -> None:
    """Ids that there are; others are ignored."""
    assert ids(selected(shop, query="refund payment", k=1, always=[WASH.id, "gone"])) == [WASH.id, CLOCK.id, REFUND.id]


@pytest.mark.parametrize(
    "wrong",
    [
        {},
        {"query": "a", "messages": [{"role": "user", "text": "a"}]},
        {"messages": []},
        {"query": "a", "min_probability": 2},
        {"messages": [{"role": "assistant", "text": "a"}]},
        {"messages": [{"role": "system", "text": "a"}]},
    ],
)
def test_requests_that_make_no_sense(shop: httpx2.Client, wrong: dict[str, Any]) -> None:
    """Each is refused with what is wrong."""
    assert shop.post("/v1/preselect", json=wrong).status_code == 422


def test_blank_questions_and_missing_judges(shop: httpx2.Client) -> None:
    """They are told."""
    assert "empty" in shop.post("/v1/preselect", json={"query": " "}).text
    answer = shop.post("/v1/preselect", json={"query": "a", "judge": True})
    assert (answer.status_code, "no judge" in answer.text) == (501, True)


def test_a_judge_selects(tmp_path: Path) -> None:
    """Of the shortlist those that are likely enough; it reads the last messages, and its failure is told."""

    def answer(body: dict[str, Any], number: int) -> tuple[int, Any, dict[str, str]]:
        if number == 2:
            return 400, {"detail": "ill"}, {}
        chances = {name: 0.8 if "refund" in one["instructions"] else 0.2 for name, one in body["questions"].items()}
        return 200, {"answers": {name: {"noul": chance} for name, chance in chances.items()}}, {}

    talk = [{"role": "user", "text": "hello"}, {"role": "user", "text": "weather or refund"}]
    with judging(answer) as (url, seen):
        chosen = settings(build(tmp_path / "shop", CATALOG), judge=f"systemone:{url}#m")
        with serving(chosen) as client:
            found = selected(client, messages=talk, judge=True, shortlist=3)
            assert (ids(found)[0], set(ids(found)[1:])) == (CLOCK.id, {REFUND.id, SECRET.id})
            assert (found["band"], found["notes"]) == ("high", [])
            failed = selected(client, messages=talk, judge=True, shortlist=3, on_failure="none")
            assert ids(failed) == [CLOCK.id]
            assert "not checked by the judge (DecisionFailed); none given" in failed["notes"]
            assert failed["band"] == "none"
            unlike = selected(client, messages=talk, judge=True, min_probability=0.9)
            assert (ids(unlike), unlike["selected"], unlike["band"]) == ([CLOCK.id], [], "none")
            asked = len(seen)
            unsure = selected(client, query="xylophone", judge=True, min_confidence="high")
            assert (ids(unsure), unsure["band"], len(seen)) == ([CLOCK.id], "none", asked)
    assert seen[0]["state"]["messages"][-1] == {"role": "user", "text": "weather or refund"}


def test_nobody_gets_what_it_may_not_see(tmp_path: Path) -> None:
    """Neither by search nor by naming it as selected, called or always given."""
    chosen = settings(build(tmp_path / "shop", CATALOG))
    state = StateFile(chosen.state_file)
    head = {"X-API-Key": Keys(state).create("clerk", Role.SEARCH, ["clerk"])[1]}
    state.close()
    named = {"selected": [SECRET.id], "called": [SECRET.name], "always": [SECRET.id, SECRET.name]}
    with serving(chosen) as client:
        answer = client.post(
            "/v1/preselect", json={"query": "a refund", "min_confidence": "none", **named}, headers=head
        )
    assert answer.status_code == 200
    assert SECRET.name not in answer.text
    assert REFUND.name in answer.text
