from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.server.running import build, serving, settings
from toolsearch.server.bodies import SearchAnswer
from toolsearch.server.callers import Role
from toolsearch.server.keys import Keys
from toolsearch.server.state import StateFile


def search(client: httpx2.Client, **body: Any) -> dict[str, Any]:
    answer = client.post("/v1/search", json=body)
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_a_search_finds_tools_with_short_schemas(client: httpx2.Client) -> None:
    """A hit tells id, description and the names of its parameters."""
    found = search(client, query="refund a payment", k=1)
    assert [hit["id"] for hit in found["hits"]] == ["payments/refund_payment"]
    assert found["hits"][0]["parameters"] == ["payment_id", "reason?"]
    assert found["index"] == "shop"
    assert found["generation"] == 1


@pytest.mark.parametrize("more", [{}, {"schemas": "none"}, {"schemas": "full", "explain": True}, {"query": "zebra"}])
def test_an_answer_has_the_shape_that_is_described(client: httpx2.Client, more: dict[str, Any]) -> None:
    """Nothing is missing, and nothing is there that the description does not know."""
    found = search(client, **{"query": "refund payment", **more})
    assert SearchAnswer.model_validate(found).model_dump(exclude_unset=True) == found


def test_schemas_are_as_wide_as_wanted(client: httpx2.Client) -> None:
    """A full schema is a JSON Schema; none leaves it out."""
    assert search(client, query="refund payment", schemas="full")["hits"][0]["parameters"]["type"] == "object"
    assert "parameters" not in search(client, query="refund payment", schemas="none")["hits"][0]


def test_a_search_says_what_does_not_fit_in_the_index(tmp_path: Path) -> None:
    """Vectors of another encoder, and what mends it; only to those who see the whole catalog."""
    place = build(tmp_path / "shop")
    with sqlite3.connect(place / "data" / "truth.sqlite") as truth:
        facts = [("builtin:old", "encoder"), ("builtin", "encoder_name")]
        truth.executemany("UPDATE meta SET value = ? WHERE key = ?", facts)
    truth.close()
    chosen = settings(place)
    state = StateFile(chosen.state_file)
    seer, groups = (Keys(state).create(f"{one}", Role.SEARCH, one)[1] for one in (None, ["finance"]))
    state.close()
    with serving(chosen) as client:
        asked = [
            client.post("/v1/search", json={"query": "refund"}, headers={"X-API-Key": key}) for key in (seer, groups)
        ]
    notes = [answer.json()["notes"] for answer in asked]
    assert "only words are searched" in notes[0][0]
    assert notes[1] == []


def test_several_needs_are_answered_by_turns(client: httpx2.Client) -> None:
    """Each need has its best tool near the top."""
    found = search(client, needs=["refund payment", "weather forecast"], k=2)
    assert {hit["need"] for hit in found["hits"]} == {0, 1}


def test_visible_tools_take_no_place(client: httpx2.Client) -> None:
    """What the model sees already is told as available, and another tool is found instead."""
    found = search(client, query="refund payment", k=1, visible=["payments/refund_payment", "no/such"])
    assert found["available"] == ["payments/refund_payment"]
    assert [hit["id"] for hit in found["hits"]] == ["payments/void_refund"]


def test_a_token_budget_cuts_whole_hits(client: httpx2.Client) -> None:
    """Hits that do not fit are counted, not cut in two."""
    found = search(client, query="refund payment", k=2, max_tokens=90)
    assert len(found["hits"]) + found["more"] == 2
    assert search(client, query="refund payment", k=2, max_tokens=1)["hits"] == []


def test_filter_and_exclusion_narrow_the_answer(client: httpx2.Client) -> None:
    """Only tools that pass both are found."""
    found = search(client, query="refund weather", filter="namespace = weather")
    assert [hit["id"] for hit in found["hits"]] == ["weather/get_forecast"]
    found = search(client, query="refund", exclude=["payments/refund_payment"])
    assert [hit["id"] for hit in found["hits"]] == ["payments/void_refund"]


def test_reasons_add_up_to_the_score(client: httpx2.Client) -> None:
    """An explained hit says where its points come from."""
    hit = search(client, query="refund payment", explain=True)["hits"][0]
    assert sum(one["points"] for one in hit["reasons"]) == pytest.approx(hit["score"])


def test_a_least_confidence_empties_the_list(client: httpx2.Client) -> None:
    """Nothing fits is an answer, and it says what was left out."""
    found = search(client, query="weather of zebra xylophones in the opera house", min_confidence="high")
    assert found["hits"] == []
    assert "left out" in found["notes"][-1]


def test_explain_tells_rank_words_and_points(client: httpx2.Client) -> None:
    """Why a tool is found."""
    told = client.post("/v1/explain", json={"query": "refund payment now", "tool": "payments/refund_payment"}).json()
    assert told["found"]
    assert told["rank"] == 1
    assert {word["word"] for word in told["words"]} == {"refund", "payment"}


def test_explain_names_the_filter(client: httpx2.Client) -> None:
    """A tool that the filter of the search left out is explained by it."""
    body = {"query": "refund payment", "tool": "payments/refund_payment", "filter": "namespace != payments"}
    told = client.post("/v1/explain", json=body).json()
    assert not told["found"]
    assert "filter" in told["obstacle"]


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({}, "#/body"),
        ({"query": "x", "needs": ["y"]}, "#/body"),
        ({"query": ""}, "#/body/query"),
        ({"query": "x", "k": 0}, "#/body/k"),
        ({"query": "x", "k": 10_000}, "#/body/k"),
        ({"query": "x" * 20_001}, "#/body/query"),
        ({"query": "x", "colour": "red"}, "#/body/colour"),
    ],
)
def test_what_is_wrong_is_pointed_at(client: httpx2.Client, body: dict[str, Any], pointer: str) -> None:
    """A body that breaks a rule gets a problem that names the place."""
    answer = client.post("/v1/search", json=body)
    assert answer.status_code == 422
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["errors"][0]["pointer"] == pointer


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"query": "x", "strategy": "magic"}, 422),
        ({"query": "x", "filter": "namespace ="}, 422),
        ({"query": "   "}, 422),
        ({"query": "x", "index": "other"}, 404),
    ],
)
def test_rules_of_search_are_told_as_problems(client: httpx2.Client, body: dict[str, Any], status: int) -> None:
    """What only the search can know is told in the same shape."""
    answer = client.post("/v1/search", json=body)
    assert answer.status_code == status
    assert {"type", "title", "status", "detail", "instance", "request_id"} <= set(answer.json())
