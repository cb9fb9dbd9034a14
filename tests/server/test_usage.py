from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.server.running import build, serving, settings
from toolsearch.evaluation.judged import read_queries
from toolsearch.server.callers import OWNER
from toolsearch.server.state import StateFile
from toolsearch.server.usage import Searched, Usage


def test_calls_after_searches_become_judged_requests(tmp_path: Path) -> None:
    """What was called is right for what was searched; the file is one that the benchmark reads."""
    with serving(settings(build(tmp_path / "shop"), usage="plain")) as client:
        found = client.post("/v1/search", json={"query": "give money back"}).json()
        client.post("/v1/search", json={"query": "never followed"})
        call = {"tool": "payments/refund_payment", "search_id": found["search_id"]}
        assert client.post("/v1/calls", json=call).json() == {"noted": True}
        assert client.post("/v1/calls", json={**call, "search_id": "other"}).status_code == 404
        text = client.get("/v1/usage/judged").text
        file = tmp_path / "judged.jsonl"
        file.write_text(text, "utf-8")
        [judged] = read_queries(file)
        assert (judged.query, judged.relevant) == ("give money back", {"payments/refund_payment": 1})
        assert client.delete("/v1/usage").json() == {"searches": 2}
        assert client.get("/v1/usage/judged").text == ""


def test_nothing_is_logged_unless_asked_for(tmp_path: Path) -> None:
    """By default neither searches nor calls leave a trace."""
    chosen = settings(build(tmp_path / "shop"))
    with serving(chosen) as client:
        found = client.post("/v1/search", json={"query": "give money back"}).json()
        call = {"tool": "payments/refund_payment", "search_id": found["search_id"]}
        assert client.post("/v1/calls", json=call).json() == {"noted": False}
    kept = b"".join(path.read_bytes() for path in chosen.state_file.parent.glob("service.sqlite*"))
    assert b"give money back" not in kept


def test_hashed_texts_cannot_be_read(tmp_path: Path) -> None:
    """Equal texts have equal hashes under a secret; they are not exported."""
    state = StateFile(tmp_path / "service.sqlite")
    usage = Usage(state, "hashed", 1.0)
    for name in ("a", "b"):
        usage.searched(OWNER, Searched(id=name, index="shop", needs=["give money back"], hits=["x"]))
    assert usage.called("", "x")
    kept = [query for (query,) in state.read("SELECT query FROM usage")]
    assert kept[0] == kept[1] != "give money back"
    assert list(usage.judged("shop")) == []
    state.close()


def test_old_entries_go(tmp_path: Path) -> None:
    """After the days they are kept, with the calls that followed."""
    state = StateFile(tmp_path / "service.sqlite")
    usage = Usage(state, "plain", 1.0)
    for name in ("old", "new"):
        usage.searched(OWNER, Searched(id=name, index="shop", needs=[name], hits=["x"]))
        usage.called("", "x", name)
    state.read("UPDATE usage SET at = at - 90000 WHERE id = 'old'")
    usage.sweep()
    assert state.read("SELECT id FROM usage") == [("new",)]
    assert state.read("SELECT search FROM calls") == [("new",)]
    state.close()


@pytest.mark.parametrize("tool", ["x", "y"])
def test_a_call_counts_for_the_last_search_that_found_it(tmp_path: Path, tool: str) -> None:
    """The gateway tells calls without naming a search."""
    state = StateFile(tmp_path / "service.sqlite")
    usage = Usage(state, "plain", 1.0)
    for name, hits in (("first", ["x", "y"]), ("second", ["x"])):
        usage.searched(OWNER, Searched(id=name, index="shop", needs=[name], hits=hits))
    assert usage.called("", tool)
    assert not usage.called("", "never")
    [line] = usage.judged("shop")
    assert json.loads(line)["query"] == {"x": "second", "y": "first"}[tool]
    state.close()
