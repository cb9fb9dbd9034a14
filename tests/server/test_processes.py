"""The command itself: several workers over one index, and a stop that lets what is under way end."""

from __future__ import annotations

import asyncio
import gzip
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httpx2
import pytest
from starlette.types import Receive, Scope, Send

from tests.server.running import build, serving, settings
from toolsearch.errors import InvalidInput
from toolsearch.server.application import Mounted
from toolsearch.server.callers import Role
from toolsearch.server.keys import Keys
from toolsearch.server.running import check_open, serve
from toolsearch.server.state import StateFile

pytestmark = pytest.mark.slow


@contextmanager
def command(index: Path, *options: str) -> Iterator[tuple[httpx2.Client, subprocess.Popen[bytes]]]:
    """A service started by its command, ready."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    words = [sys.executable, "-m", "toolsearch", "serve", "--index", str(index), "--port", str(port), *options]
    environment = {**os.environ, "TOOLSEARCH_LOG": "off"}
    process = subprocess.Popen(words, env=environment)
    try:
        with httpx2.Client(base_url=f"http://127.0.0.1:{port}", timeout=30, trust_env=False) as client:
            _wait(client, process)
            yield client, process
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(60)
        except subprocess.TimeoutExpired:
            process.kill()
            raise


def _wait(client: httpx2.Client, process: subprocess.Popen[bytes]) -> None:
    for _ in range(600):
        assert process.poll() is None, "the service ended"
        try:
            if client.get("/readyz").status_code == 200:
                return
        except httpx2.TransportError:
            pass
        time.sleep(0.2)
    raise AssertionError("the service was not ready in two minutes")


def test_workers_share_index_sessions_and_numbers(tmp_path: Path) -> None:
    """What one of them wrote, every other one answers with, on connections of their own."""
    with command(build(tmp_path / "shop"), "--workers", "2") as (client, _):
        tool = {"name": "switch_light", "description": "Switches a lamp on or off"}
        assert client.put("/v1/tools/switch_light", json=tool).status_code == 201
        session = client.post("/v1/sessions").json()["id"]
        url = str(client.base_url)
        for _ in range(12):
            with httpx2.Client(base_url=url, timeout=30, trust_env=False) as other:
                found = other.post(f"/v1/sessions/{session}/search", json={"query": "lamp", "k": 1}).json()
                assert [hit["id"] for hit in found["hits"]] + found["available"] == ["switch_light"]
        text = client.get("/metrics").text
        line = next(
            one for one in text.splitlines() if "/search" in one and one.startswith("toolsearch_requests_total")
        )
        assert line.endswith(" 12.0"), text


def test_spans_are_sent_where_the_environment_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A service that is told to trace exports by OTLP, the last spans when it stops."""
    bodies: list[bytes] = []

    class Collector(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            bodies.append(gzip.decompress(body) if self.headers.get("Content-Encoding") == "gzip" else body)
            self.send_response(200)
            self.end_headers()

        def log_message(self, *args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Collector) as collector:
        threading.Thread(target=collector.serve_forever, args=(0.05,), daemon=True).start()
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", f"http://127.0.0.1:{collector.server_port}")
        monkeypatch.setenv("TOOLSEARCH_TRACING", "true")
        with command(build(tmp_path / "shop")) as (client, _):
            assert client.post("/v1/search", json={"query": "private refund"}).status_code == 200
        collector.shutdown()
    sent = b"".join(bodies)
    assert b"retrieval shop" in sent
    assert b"gen_ai.data_source.id" in sent
    assert b"private" not in sent


def test_a_stop_lets_requests_end(tmp_path: Path) -> None:
    """Told to stop while something is under way, it answers that, and then it ends."""
    inside, go = threading.Event(), threading.Event()

    async def gateway(scope: Scope, receive: Receive, send: Send) -> None:
        inside.set()
        await asyncio.to_thread(go.wait, 30)
        await send({"type": "http.response.start", "status": 204, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    statuses: list[int] = []
    under_way: list[threading.Thread] = []

    def stopping() -> None:
        go.set()
        under_way[0].join(30)

    with serving(settings(build(tmp_path / "shop")), Mounted(app=gateway), stopping=stopping) as client:
        under_way.append(threading.Thread(target=lambda: statuses.append(client.post("/mcp").status_code)))
        under_way[0].start()
        assert inside.wait(30)
    assert statuses == [204]


def test_it_refuses_to_listen_for_others_without_keys(tmp_path: Path) -> None:
    """One line says why, and how a key is made."""
    words = [sys.executable, "-m", "toolsearch", "serve", "--index", str(build(tmp_path / "shop")), "--host", "0.0.0.0"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 2
    assert "toolsearch keys create" in done.stderr
    assert done.stderr.count("\n") == 1


def test_it_refuses_an_address_that_is_taken(tmp_path: Path) -> None:
    """One line names it; no worker was started."""
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(InvalidInput, match="choose another --port"):
        serve(settings(build(tmp_path / "shop"), port=taken.getsockname()[1]), "nobody:nothing")


def test_revoked_keys_let_nobody_listen_for_others(tmp_path: Path) -> None:
    """A service that nobody could use does not open itself to a network."""
    chosen = settings(build(tmp_path / "shop"), host="0.0.0.0")
    state = StateFile(chosen.state_file)
    Keys(state).create("gone", Role.ADMIN, None)
    Keys(state).revoke("gone")
    state.close()
    with pytest.raises(InvalidInput, match="without keys that work"):
        check_open(chosen)


def test_keys_are_made_listed_and_revoked_by_command(tmp_path: Path) -> None:
    """The token is printed once, on its own; the list never shows it."""
    index = str(build(tmp_path / "shop"))

    def keys(*words: str) -> str:
        line = [sys.executable, "-m", "toolsearch", "keys", *words, "--index", index]
        return subprocess.run(line, capture_output=True, text=True, timeout=120, check=True).stdout

    token = keys("create", "agent", "--group", "finance").strip()
    assert token.startswith("tsk_")
    listed = keys("list")
    assert "finance" in listed
    assert token.split("_", 2)[2] not in listed
    assert "revoked" in keys("revoke", token.split("_")[1])
