"""What somebody may send who means no good: every answer is an error of the sender's, and the service lives on."""

from __future__ import annotations

import contextlib
import io
import json
import logging
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import httpx2
import pytest

from tests.server.running import build, serving, settings
from toolsearch.server.jobs import Jobs
from toolsearch.server.patience import Patient
from toolsearch.server.state import StateFile
from toolsearch.server.watching import LOG, Lines


@pytest.fixture(autouse=True)
def _lives_on(client: httpx2.Client) -> Iterator[None]:
    """After each attack a search is answered."""
    yield
    assert client.post("/v1/search", json={"query": "refund"}).status_code == 200


def sent(client: httpx2.Client, raw: bytes, seconds: float = 10.0) -> bytes:
    """What comes back for raw bytes on a connection of its own."""
    url = urlsplit(str(client.base_url))
    with socket.create_connection((url.hostname, url.port), timeout=seconds) as connection:
        found = b""
        with contextlib.suppress(OSError):
            connection.sendall(raw)
            connection.shutdown(socket.SHUT_WR)
            while piece := connection.recv(65_536):
                found += piece
    return found


@pytest.mark.parametrize(
    "path",
    [
        "/../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/..%2f..%2fetc/passwd", "//etc/passwd",
        "/web/../pyproject.toml", "/static/%00.html", "/index.html%00.css", "/__init__.py", "/%5c..%5cwindows",
        "/.env", "/a" * 500,
    ],
)  # fmt: skip
def test_paths_reach_no_file(client: httpx2.Client, path: str) -> None:
    """Files of the page are known by name; nothing else is looked for."""
    found = sent(client, f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
    assert found.startswith((b"HTTP/1.1 404", b"HTTP/1.1 400"))
    assert b"root:" not in found


@pytest.mark.parametrize(
    "raw",
    [
        b"\x16\x03\x01\x02\x00\x01\x00", b"GET / HTTP/9.9\r\n\r\n",
        b"GET /livez HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
        b"GET /livez HTTP/1.1\r\nHost: localhost\r\nX: " + b"a" * 1_000_000,
        b"GET /livez HTTP/1.1\r\nHost: localhost\r\nX: " + b"a" * 60_000 + b"\r\n\r\n",
        b"POST /v1/me HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"POST /v1/search HTTP/1.1\r\nHost: localhost\r\nContent-Length: -5\r\n\r\n",
        b"POST /v1/search HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nabcdef",
        b"GET /v1/me\r\nX: y HTTP/1.1\r\nHost: localhost\r\n\r\n",
    ],
)  # fmt: skip
def test_broken_requests_are_refused(client: httpx2.Client, raw: bytes) -> None:
    """Foreign protocols, doubled headers, headers without end, two lengths."""
    found = sent(client, raw)
    assert found == b"" or found.startswith((b"HTTP/1.1 4",))


def test_a_body_that_breaks_off_harms_nobody(client: httpx2.Client) -> None:
    """The connection ends; no answer is owed."""
    raw = (
        b"POST /v1/search HTTP/1.1\r\nHost: localhost\r\nContent-Length: 500\r\nContent-Type: application/json\r\n\r\n{"
    )
    assert not sent(client, raw).startswith(b"HTTP/1.1 2")


def test_a_body_that_dawdles_is_given_up(tmp_path: Path) -> None:
    """After the time it has."""
    with serving(settings(build(tmp_path / "shop"), body_seconds=0.2)) as client:
        url = urlsplit(str(client.base_url))
        with socket.create_connection((url.hostname, url.port), timeout=10) as connection:
            connection.sendall(b"POST /v1/search HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n{")
            assert b"408" in connection.recv(1_000)


def test_headers_that_dawdle_are_given_up(tmp_path: Path) -> None:
    """A connection that is opened and left half said is closed, at once or after a request."""

    class Hasty(Patient):
        seconds = 0.2

    with serving(settings(build(tmp_path / "shop")), http=Hasty) as client:
        url = urlsplit(str(client.base_url))
        for start in (b"", b"GET /livez HTTP/1.1\r\nHo", b"GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\nGET /li"):
            with socket.create_connection((url.hostname, url.port), timeout=10) as connection:
                connection.sendall(start)
                while connection.recv(1_000):
                    pass


@pytest.mark.parametrize(
    "body",
    [
        b"{", b"[]", b"null", b"\xff\xfe", b'{"query": "\\ud800"}', b"[" * 100_000, b'{"a":' * 50_000,
        b'{"query": NaN}', b'{"query": 1e999}', json.dumps({"query": "x", "filter": {"not": {}}}).encode(),
        json.dumps({"query": "x", "filter": "not " * 2_000 + "exists tags"}).encode(),
        json.dumps({"query": "x", "filter": "(" * 3_000}).encode(), json.dumps({"query": "x", "k": 1e20}).encode(),
    ],
)  # fmt: skip
def test_bodies_that_are_no_search_are_told(client: httpx2.Client, body: bytes) -> None:
    """Never an error of the service."""
    answer = client.post("/v1/search", content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code in (200, 400, 413, 422)
    if answer.status_code != 200:
        assert answer.headers["content-type"] == "application/problem+json"


@pytest.mark.parametrize(
    "query", ["(a+)+$", "a" * 20_000, "\x00", "\u202e\u200b", "🜁" * 5_000, "a " * 9_999, "'; DROP TABLE"]
)
def test_hostile_queries_are_searched_like_others(client: httpx2.Client, query: str) -> None:
    """A pattern is only a text, and control characters are no words."""
    assert client.post("/v1/search", json={"query": query}).status_code in (200, 422)


@pytest.mark.parametrize("form", [True, False])
def test_nothing_a_caller_sends_breaks_a_line_of_the_log(form: bool) -> None:
    """One request, one line, whatever its path says."""
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(Lines(as_json=form))
    record = LOG.makeRecord("x", logging.INFO, "f", 1, "request", (), None)
    record.facts = {"path": '/a\n{"level": "forged"}\r\x1b[31m', "seconds": 0.5}
    handler.emit(record)
    assert stream.getvalue().count("\n") == 1
    assert "\x1b" not in stream.getvalue()


def test_an_answer_repeats_no_line_breaks(client: httpx2.Client) -> None:
    """What was sent comes back on one line, in bounded length, and never as a header."""
    answer = client.get("/v1/tools/a%0d%0aSet-Cookie:%20x=y")
    assert answer.status_code == 404
    assert "set-cookie" not in answer.headers
    assert "\n" not in answer.json()["detail"]
    assert len(client.get("/v1/tools/" + "x" * 3_000).content) < 2_500


def test_a_client_that_reads_nothing_is_let_go(tmp_path: Path) -> None:
    """Answers that nobody takes fill no memory for ever: the connection ends by itself."""

    class Hasty(Patient):
        stuck = 0.2
        lost = threading.Event()

        def connection_lost(self, exc: Exception | None) -> None:
            super().connection_lost(exc)
            self.lost.set()

    with serving(settings(build(tmp_path / "shop")), http=Hasty) as client:
        url = urlsplit(str(client.base_url))
        with socket.create_connection((url.hostname, url.port), timeout=10) as connection:
            connection.sendall(b"GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n" * 500)
            assert Hasty.lost.wait(60)


def test_streams_that_are_left_give_their_places_back(tmp_path: Path) -> None:
    """A key may follow only so many streams at once; when their readers leave, it may again."""
    chosen = settings(build(tmp_path / "shop"), concurrent=3)
    state = StateFile(chosen.state_file)
    job = Jobs(state).begin("shop").id
    with serving(chosen) as client:
        url = urlsplit(str(client.base_url))
        ask = f"GET /v1/jobs/{job}/events HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()
        held = [socket.create_connection((url.hostname, url.port), timeout=20) for _ in range(4)]
        first = []
        for one in held:
            one.sendall(ask)
            first.append(one.recv(12))
        assert first == [b"HTTP/1.1 200"] * 3 + [b"HTTP/1.1 429"]
        for one in held:
            one.close()
        for _ in range(200):
            if client.get("/v1/me").status_code == 200:
                break
            time.sleep(0.05)
        assert client.get("/v1/me").status_code == 200
    state.close()


def test_many_half_open_connections_do_not_stop_others(client: httpx2.Client) -> None:
    """A hundred connections that say nothing, and a search among them."""
    url = urlsplit(str(client.base_url))
    held = [socket.create_connection((url.hostname, url.port), timeout=10) for _ in range(100)]
    try:
        start = time.monotonic()
        assert client.post("/v1/search", json={"query": "refund"}).status_code == 200
        assert time.monotonic() - start < 10
    finally:
        for one in held:
            one.close()
