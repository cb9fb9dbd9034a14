from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer

import httpx2
import pytest

from tests.server.running import build, serving, settings
from toolsearch.server.callers import Role
from toolsearch.server.keys import Keys
from toolsearch.server.state import StateFile


class Judge(BaseHTTPRequestHandler):
    """Finds that help which speaks of refunds, and fails when asked about failure."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        broken = "failure" in str(body["state"])
        answers = {
            name: {"type": "noul", "noul": 0.9 if "refund" in str(one["instructions"]).lower() else 0.1}
            for name, one in body["questions"].items()
        }
        told = json.dumps({} if broken else {"model": "m", "answers": answers}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(told)))
        self.end_headers()
        self.wfile.write(told)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[httpx2.Client, dict[str, str]]]:
    """A service with a judge, and a key that sees only open tools."""
    server = HTTPServer(("127.0.0.1", 0), Judge)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    judge = f"systemone:http://127.0.0.1:{server.server_port}#m"
    chosen = settings(build(tmp_path_factory.mktemp("judged") / "shop"), judge=judge)
    state = StateFile(chosen.state_file)
    token = Keys(state).create("open", Role.SEARCH, [])[1]
    state.close()
    with serving(chosen) as client:
        yield client, {"X-API-Key": token}
    server.shutdown()
    thread.join()
    server.server_close()


def test_texts_are_ordered_by_the_judge(judged: tuple[httpx2.Client, dict[str, str]]) -> None:
    """In the shape of common rerank services."""
    client, key = judged
    body = {"query": "money back", "documents": ["weather", "a refund", "rain"], "top_n": 2}
    results = client.post("/v1/rerank", json=body, headers=key).json()["results"]
    assert [(one["index"], one["relevance_score"]) for one in results] == [(1, 0.9), (0, 0.1)]


def test_only_tools_that_the_caller_sees_are_judged(judged: tuple[httpx2.Client, dict[str, str]]) -> None:
    """A hidden tool is told as one that is not there."""
    client, key = judged
    body = {"query": "money back", "tools": ["weather/get_forecast", "payments/refund_payment"]}
    results = client.post("/v1/rerank", json=body, headers=key).json()["results"]
    assert [one["id"] for one in results] == ["payments/refund_payment", "weather/get_forecast"]
    hidden = client.post("/v1/rerank", json={"query": "x", "tools": ["payments/void_refund"]}, headers=key)
    assert hidden.status_code == 404


def test_a_judge_that_fails_is_not_the_callers_fault(judged: tuple[httpx2.Client, dict[str, str]]) -> None:
    """502, without a word of where the judge is."""
    client, key = judged
    answer = client.post("/v1/rerank", json={"query": "failure", "documents": ["a"]}, headers=key)
    assert answer.status_code == 502
    assert "127.0.0.1" not in answer.text


def test_without_a_judge_there_is_no_reranking(client: httpx2.Client) -> None:
    """And the way out is told."""
    answer = client.post("/v1/rerank", json={"query": "x", "documents": ["a"]})
    assert answer.status_code == 501
    assert "judge" in answer.json()["detail"]
