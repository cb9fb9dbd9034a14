from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.types import Receive, Scope, Send

from tests.server.running import build, serving, settings
from toolsearch.server.application import Mounted
from toolsearch.server.limits import Rates
from toolsearch.server.state import StateFile


@pytest.fixture
def state(tmp_path: Path) -> Iterator[StateFile]:
    found = StateFile(tmp_path / "service.sqlite")
    yield found
    found.close()


def test_a_burst_is_let_through_and_then_the_rate_holds(state: StateFile) -> None:
    """Of one key; another has its own bucket, and a second connection the same ones."""
    rates = Rates(state, rate=0.001, burst=3)
    assert [rates.take("a") for _ in range(3)] == [0.0, 0.0, 0.0]
    assert 900 < rates.take("a") <= 1_000
    assert rates.take("b") == 0.0


def test_refusals_cost_nothing_more(state: StateFile) -> None:
    """Asking again and again does not push the next free place away."""
    rates = Rates(state, rate=0.001, burst=1)
    rates.take("a")
    waits = [rates.take("a") for _ in range(5)]
    assert waits == sorted(waits, reverse=True)


def test_too_many_requests_are_told_when_to_come_back(tmp_path: Path) -> None:
    """429 with Retry-After; probes are not counted."""
    with serving(settings(build(tmp_path / "shop"), rate=0.01, burst=2)) as client:
        statuses = [client.get("/v1/me").status_code for _ in range(3)]
        assert statuses == [200, 200, 429]
        refused = client.get("/v1/me")
        assert 90 <= int(refused.headers["retry-after"]) <= 101
        assert client.get("/livez").status_code == 200


def test_only_so_many_at_once(tmp_path: Path) -> None:
    """A place that is given back is free again."""
    inside, go = threading.Event(), threading.Event()

    async def gateway(scope: Scope, receive: Receive, send: Send) -> None:
        import asyncio

        inside.set()
        await asyncio.to_thread(go.wait, 20)
        await send({"type": "http.response.start", "status": 204, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    with serving(settings(build(tmp_path / "shop"), concurrent=1), Mounted(app=gateway)) as client:
        slow = threading.Thread(target=client.post, args=("/mcp",))
        slow.start()
        assert inside.wait(20)
        refused = client.get("/v1/me")
        go.set()
        slow.join(20)
        assert refused.status_code == 429
        assert refused.headers["retry-after"] == "1"
        assert client.get("/v1/me").status_code == 200
