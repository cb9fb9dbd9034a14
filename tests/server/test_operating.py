from __future__ import annotations

import json
from pathlib import Path

import httpx2
import pytest

from tests.server.running import REFUND, build, serving, settings
from toolsearch import ToolIndex

LIGHT = {"name": "switch_light", "namespace": "home", "description": "Switches a lamp on or off"}


def defined(folder: Path, **tools: str) -> Path:
    """An index whose tools come from a file."""
    folder.mkdir(exist_ok=True)
    lines = [json.dumps({"name": name, "description": text}) for name, text in tools.items()]
    (folder / "tools.jsonl").write_text("\n".join(lines), "utf-8")
    (folder / "index.toml").write_text('sources = ["tools.jsonl"]\nencoder = ""\n', "utf-8")
    return folder


def followed(client: httpx2.Client, job: str) -> list[tuple[str, dict[str, object]]]:
    """All events of a job until its end."""
    with client.stream("GET", f"/v1/jobs/{job}/events", timeout=120) as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        text = answer.read().decode()
    events = [block.splitlines() for block in text.split("\n\n") if block.startswith("event:")]
    return [(one[0].removeprefix("event: "), json.loads(one[1].removeprefix("data: "))) for one in events]


@pytest.mark.slow
def test_a_rebuild_follows_the_sources_and_keeps_what_was_written(tmp_path: Path) -> None:
    """Its progress can be followed to the end; a search finds the new tool, the written one, and not what left."""
    index = defined(tmp_path / "shop", pay="Pays an invoice", old="An old thing")
    ToolIndex.build(index).close()
    with serving(settings(index)) as client:
        client.put("/v1/tools/home/switch_light", json=LIGHT)
        defined(index, pay="Pays an invoice", fresh="A fresh thing")
        job = client.post("/v1/indexes/shop/rebuild").json()
        assert client.post("/v1/indexes/shop/rebuild").status_code == 409
        events = followed(client, job["id"])
        assert events[-1][0] == "done", events
        assert client.get(f"/v1/jobs/{job['id']}").json()["state"] == "done"
        ids = [tool["id"] for tool in client.get("/v1/tools").json()["tools"]]
    assert sorted(ids) == ["fresh", "home/switch_light", "pay"]


@pytest.mark.slow
def test_a_failed_rebuild_says_why_and_changes_nothing(tmp_path: Path) -> None:
    """A broken source ends the job, not the service."""
    index = defined(tmp_path / "shop", pay="Pays an invoice")
    ToolIndex.build(index).close()
    with serving(settings(index)) as client:
        (index / "tools.jsonl").write_text("{", "utf-8")
        job = client.post("/v1/indexes/shop/rebuild").json()
        kind, last = followed(client, job["id"])[-1]
        assert kind == "failed"
        assert "tools.jsonl" in str(last["error"])
        assert client.get("/v1/tools").json()["total"] == 1


def test_a_change_by_another_process_is_seen(tmp_path: Path) -> None:
    """What the library writes into the folder, a running service finds; a reload keeps answering."""
    index = build(tmp_path / "shop", [])
    with serving(settings(index)) as client:
        assert client.get("/v1/tools").json()["total"] == 0
        with ToolIndex.open(index) as other:
            other.upsert([REFUND])
        assert client.get("/v1/tools").json()["total"] == 1
        assert client.post("/v1/indexes/shop/reload").status_code == 204
        assert client.get("/v1/tools").json()["total"] == 1


def test_metrics_count_requests_by_route(tmp_path: Path) -> None:
    """Routes, statuses and bands are labels; texts of requests and ids of tools are not."""
    with serving(settings(build(tmp_path / "shop"))) as client:
        client.post("/v1/search", json={"query": "secretword refund"})
        client.get("/v1/tools/payments/refund_payment")
        client.get("/no/such/page")
        text = client.get("/metrics").text
    assert 'toolsearch_requests_total{method="POST",route="/v1/search",status="200"} 1.0' in text
    assert 'route="/v1/tools/{tool_id:path}"' in text
    assert 'toolsearch_index_tools{index="shop"} 3.0' in text
    assert "secretword" not in text
    assert "refund_payment" not in text


def test_two_indexes_are_served_by_name(tmp_path: Path) -> None:
    """The first is meant when none is named."""
    first, second = build(tmp_path / "first"), build(tmp_path / "second", [REFUND])
    with serving(settings(first, indexes=(first, second))) as client:
        assert client.get("/v1/tools").json()["total"] == 3
        assert client.get("/v1/tools?index=second").json()["total"] == 1
        assert client.post("/v1/search", json={"query": "refund", "index": "second"}).json()["index"] == "second"
