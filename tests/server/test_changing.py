from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.server.running import build, serving, settings

LIGHT = {"name": "switch_light", "namespace": "home", "description": "Switches a lamp on or off"}


@pytest.fixture
def writable(tmp_path: Path) -> Iterator[httpx2.Client]:
    """A client of a service of its own."""
    with serving(settings(build(tmp_path / "shop"), max_batch=200_000)) as found:
        yield found


def ids(client: httpx2.Client, query: str) -> list[str]:
    return [hit["id"] for hit in client.post("/v1/search", json={"query": query}).json()["hits"]]


def test_a_written_tool_is_found_at_once(writable: httpx2.Client) -> None:
    """Added, changed, unchanged, deleted: each is told, and search follows."""
    path = "/v1/tools/home/switch_light"
    first = writable.put(path, json=LIGHT)
    assert (first.status_code, first.json()["status"]) == (201, "added")
    assert ids(writable, "lamp") == ["home/switch_light"]
    assert writable.put(path, json=LIGHT).json()["status"] == "unchanged"
    assert writable.put(path, json={**LIGHT, "title": "Light"}).json()["status"] == "changed"
    assert writable.delete(path).status_code == 204
    assert writable.delete(path).status_code == 404
    assert ids(writable, "lamp") == []


def test_conditions_guard_against_lost_changes(writable: httpx2.Client) -> None:
    """What was changed by somebody else meanwhile is not written over."""
    path = "/v1/tools/home/switch_light"
    made = writable.put(path, json=LIGHT, headers={"If-None-Match": "*"})
    assert made.status_code == 201
    assert writable.put(path, json=LIGHT, headers={"If-None-Match": "*"}).status_code == 412
    other = writable.put(path, json={**LIGHT, "title": "A"}, headers={"If-Match": made.headers["etag"]})
    assert other.status_code == 200
    assert (
        writable.put(path, json={**LIGHT, "title": "B"}, headers={"If-Match": made.headers["etag"]}).status_code == 412
    )
    assert writable.delete(path, headers={"If-Match": made.headers["etag"]}).status_code == 412
    assert writable.delete("/v1/tools/no/such", headers={"If-Match": "*"}).status_code == 412


def test_a_batch_tells_what_became_of_each_item(writable: httpx2.Client) -> None:
    """Broken items are refused with a reason, and the others are done."""
    body: dict[str, Any] = {
        "upsert": [LIGHT, {"name": ""}, {"name": "x", "colour": 1}, LIGHT, {"name": "plain"}],
        "delete": ["weather/get_forecast", "no/such"],
    }
    found = writable.post("/v1/tools/batch", json=body).json()
    statuses = [(one["id"], one["status"]) for one in found["results"]]
    assert statuses == [
        ("home/switch_light", "added"),
        ("", "refused"),
        ("x", "refused"),
        ("home/switch_light", "refused"),
        ("plain", "added"),
        ("weather/get_forecast", "removed"),
        ("no/such", "absent"),
    ]
    assert all(one["detail"] for one in found["results"] if one["status"] == "refused")


def test_a_batch_sent_twice_happens_once(writable: httpx2.Client) -> None:
    """The second answer is the first one; the same token with another body is refused."""
    token = {"Idempotency-Key": "abc"}
    first = writable.post("/v1/tools/batch", json={"upsert": [LIGHT]}, headers=token)
    writable.delete("/v1/tools/home/switch_light")
    again = writable.post("/v1/tools/batch", json={"upsert": [LIGHT]}, headers=token)
    assert again.content == first.content
    assert again.headers["idempotent-replayed"] == "true"
    assert ids(writable, "lamp") == []
    assert writable.post("/v1/tools/batch", json={"upsert": []}, headers=token).status_code == 422


def test_a_failed_batch_may_be_sent_again(writable: httpx2.Client) -> None:
    """A refusal is not remembered under the token."""
    token = {"Idempotency-Key": "abc"}
    assert writable.post("/v1/tools/batch", content=b"{", headers=token).status_code == 422
    assert writable.post("/v1/tools/batch", json={"upsert": [LIGHT]}, headers=token).status_code == 200


def test_packed_bodies_are_unpacked(writable: httpx2.Client) -> None:
    """gzip is taken; bombs, broken streams and unknown packings are not."""
    headers = {"Content-Encoding": "gzip", "Content-Type": "application/json"}
    body = gzip.compress(b'{"query": "refund"}')
    assert writable.post("/v1/search", content=body, headers=headers).status_code == 200
    assert writable.post("/v1/search", content=body[:-4], headers=headers).status_code == 400
    assert writable.post("/v1/search", content=b"plain", headers=headers).status_code == 400
    bomb = gzip.compress(b" " * 50_000_000)
    assert len(bomb) < 100_000
    assert writable.post("/v1/search", content=bomb, headers=headers).status_code == 413
    headers["Content-Encoding"] = "br"
    assert writable.post("/v1/search", content=body, headers=headers).status_code == 415


def test_too_large_bodies_are_refused_before_they_are_read(writable: httpx2.Client) -> None:
    """By their announced size, or as soon as they pass the bound."""
    assert writable.post("/v1/search", content=b" " * 1_100_000).status_code == 413
    assert writable.post("/v1/tools/batch", content=b" " * 210_000).status_code == 413
    assert writable.post("/v1/tools/batch", content=(b" " * 1_000 for _ in range(300))).status_code == 413


def test_the_version_changes_with_what_is_seen(writable: httpx2.Client) -> None:
    """A mark for caches: another one after a change, the same without."""
    before = writable.get("/v1/tools").json()["version"]
    assert writable.get("/v1/tools").json()["version"] == before
    writable.put("/v1/tools/home/switch_light", json=LIGHT)
    assert writable.get("/v1/tools").json()["version"] != before


def test_bodies_come_packed_by_zstd(client: httpx2.Client) -> None:
    """One whole frame is taken; bombs, broken and cut frames are not."""
    zstandard = pytest.importorskip("zstandard")
    headers = {"Content-Encoding": "zstd", "Content-Type": "application/json"}

    def status(body: bytes) -> int:
        return client.post("/v1/search", content=body, headers=headers).status_code

    packed = zstandard.compress(json.dumps({"query": "refund", "exclude": [str(i) * 9 for i in range(400)]}).encode())
    assert status(packed) == 200
    assert [status(packed[:-1]), status(packed + b"x"), status(packed + packed), status(b"no zstd")] == [400] * 4
    small = zstandard.ZstdCompressor(compression_params=zstandard.ZstdCompressionParameters(window_log=17))
    assert status(small.compress(b" " * 50_000_000)) == 413
    assert status(zstandard.compress(b" " * 50_000_000)) == 400  # wants a window beyond the bound
