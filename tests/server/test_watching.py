from __future__ import annotations

import json
from pathlib import Path

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from tests.server.running import build, serving, settings
from toolsearch.server.tracing import Spans
from toolsearch.server.watching import LOG, Lines


def lines(caplog: pytest.LogCaptureFixture) -> list[dict[str, object]]:
    form = Lines(as_json=True)
    return [json.loads(form.format(record)) for record in caplog.records if record.name == LOG.name]


@pytest.mark.parametrize("told", [False, True])
def test_a_line_tells_of_each_request(tmp_path: Path, caplog: pytest.LogCaptureFixture, told: bool) -> None:
    """Route, status, time, id and what a search found; its text only when asked for."""
    with serving(settings(build(tmp_path / "shop"), log_queries=told)) as client:
        LOG.addHandler(caplog.handler)
        client.post("/v1/search", json={"query": "private matter refund"}, headers={"X-Request-Id": "r1"})
    LOG.removeHandler(caplog.handler)
    [line] = lines(caplog)
    assert (line["request_id"], line["route"], line["status"], line["index"]) == ("r1", "/v1/search", 200, "shop")
    assert isinstance(line["seconds"], float)
    assert ("private matter" in json.dumps(line)) is told


def test_a_search_is_a_retrieval_span_of_its_callers_trace() -> None:
    """Names of the conventions; a child of the traceparent; no text unless it is among the facts."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    spans = Spans(provider.get_tracer("test"))
    parent = b"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    scope = {"type": "http", "headers": [(b"traceparent", parent)]}
    facts = {"method": "POST", "route": "/v1/search", "status": 200, "seconds": 0.25, "request_id": "r1", "key": "k"}
    spans(scope, {**facts, "index": "shop", "strategy": "hybrid", "band": "high", "hits": 2})
    spans(scope, {**facts, "status": 503})
    search, failed = exporter.get_finished_spans()
    assert search.name == "retrieval shop"
    assert search.attributes is not None
    assert search.attributes["gen_ai.operation.name"] == "retrieval"
    assert search.attributes["gen_ai.data_source.id"] == "shop"
    assert "gen_ai.retrieval.query.text" not in search.attributes
    assert search.context.trace_id == 0x0AF7651916CD43DD8448EB211C80319C
    assert search.end_time - search.start_time == pytest.approx(0.25e9, abs=1e6)
    assert (failed.name, failed.attributes["error.type"]) == ("POST /v1/search", "503")
