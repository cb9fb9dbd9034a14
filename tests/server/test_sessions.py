from __future__ import annotations

from pathlib import Path

import httpx2
import pytest

from tests.server.running import build, serving, settings
from toolsearch.server.callers import Role
from toolsearch.server.keys import Keys
from toolsearch.server.problems import Problem
from toolsearch.server.sessions import Sessions
from toolsearch.server.state import StateFile


def test_what_was_found_takes_no_place_again(client: httpx2.Client) -> None:
    """A second search finds another tool and tells the first as available."""
    session = client.post("/v1/sessions").json()
    path = f"/v1/sessions/{session['id']}"
    first = client.post(f"{path}/search", json={"query": "refund payment", "k": 1}).json()
    second = client.post(f"{path}/search", json={"query": "refund payment", "k": 1}).json()
    found = [first["hits"][0]["id"], second["hits"][0]["id"]]
    assert second["available"] == [found[0]]
    assert client.get(path).json()["found"] == found
    assert client.post(f"{path}/reset").json()["found"] == []
    assert client.delete(path).status_code == 204
    assert client.get(path).status_code == 404


def test_a_session_belongs_to_its_key(tmp_path: Path) -> None:
    """Another key's session is told as one that is not there."""
    chosen = settings(build(tmp_path / "shop"))
    state = StateFile(chosen.state_file)
    keys = Keys(state)
    mine, yours = ({"X-API-Key": keys.create(name, Role.SEARCH, [])[1]} for name in "ab")
    state.close()
    with serving(chosen) as client:
        session = client.post("/v1/sessions", headers=mine).json()
        there = client.get(f"/v1/sessions/{session['id']}", headers=yours)
        absent = client.get("/v1/sessions/none", headers=yours)
        assert there.status_code == absent.status_code == 404
        assert there.json()["detail"] == absent.json()["detail"]


def test_a_session_expires(tmp_path: Path) -> None:
    """After its time nothing of it is left."""
    from toolsearch.server.callers import OWNER

    state = StateFile(tmp_path / "service.sqlite")
    sessions = Sessions(state, -1.0)
    made = sessions.open(OWNER, "shop")
    with pytest.raises(Problem, match="404"):
        sessions.get(made.id, OWNER)
    sessions.open(OWNER, "shop")
    assert state.read("SELECT count(*) FROM sessions") == [(1,)]
    state.close()


def test_preselection_gives_whole_tools_within_a_budget(client: httpx2.Client) -> None:
    """What to show a model from the start."""
    found = client.post("/v1/preselect", json={"query": "refund payment", "k": 2, "min_confidence": "none"}).json()
    assert found["tools"][0]["parameters"]["required"] == ["payment_id"]
    small = client.post(
        "/v1/preselect", json={"query": "refund payment", "k": 2, "min_confidence": "none", "max_tokens": 1}
    ).json()
    assert (small["tools"], small["more"]) == ([], 2)
