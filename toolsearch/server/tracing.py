"""OpenTelemetry spans of requests, by the conventions for HTTP and generative AI; needs the extra "otel"."""

from __future__ import annotations

import os
import time
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from starlette.datastructures import Headers

from toolsearch.errors import MissingExtra

if TYPE_CHECKING:
    from starlette.types import Scope

    from toolsearch.server.watching import Facts

NAMES: Final = {
    "method": "http.request.method",
    "route": "http.route",
    "status": "http.response.status_code",
    "index": "gen_ai.data_source.id",
    "query": "gen_ai.retrieval.query.text",
    "hits": "toolsearch.hits",
    "band": "toolsearch.band",
    "strategy": "toolsearch.strategy",
    "request_id": "toolsearch.request_id",
}
"""Our word for a fact -> the attribute's name."""


def start_exporting() -> None:
    """Let spans of this process be sent by OTLP to where the `OTEL_EXPORTER_OTLP_...` variables say.

    Where spans go already, as under `opentelemetry-instrument`, they go on going there.

    Raises:
        MissingExtra: the SDK or its exporter is not installed.
    """
    try:
        trace: Any = import_module("opentelemetry.trace")
        sdk: Any = import_module("opentelemetry.sdk.trace")
        export: Any = import_module("opentelemetry.sdk.trace.export")
        otlp: Any = import_module("opentelemetry.exporter.otlp.proto.http.trace_exporter")
        resources: Any = import_module("opentelemetry.sdk.resources")
    except ModuleNotFoundError:
        raise MissingExtra("opentelemetry-exporter-otlp-proto-http", "otel") from None
    if not isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider):
        return
    named = resources.Resource.create({"service.name": os.environ.get("OTEL_SERVICE_NAME", "toolsearch")})
    provider: Any = sdk.TracerProvider(resource=named)
    provider.add_span_processor(export.BatchSpanProcessor(otlp.OTLPSpanExporter()))
    trace.set_tracer_provider(provider)


def flush() -> None:
    """Send the last spans; a process that is ended by a signal would lose them."""
    provider: Any = import_module("opentelemetry.trace").get_tracer_provider()
    if hasattr(provider, "force_flush"):
        provider.force_flush()


class Spans:
    """Makes a span of every request: `retrieval {index}` for a search, else `{method} {route}`.

    A span is made when its request has ended, with the time at which that began, as a child of what the caller's
    `traceparent` names.

    Raises:
        MissingExtra: opentelemetry is not installed.
    """

    def __init__(self, tracer: Any = None) -> None:
        try:
            trace: Any = import_module("opentelemetry.trace")
            self._propagate: Any = import_module("opentelemetry.propagate")
        except ModuleNotFoundError:
            raise MissingExtra("opentelemetry-api", "otel") from None
        self._tracer: Any = tracer or trace.get_tracer("toolsearch.server")
        self._kinds: Any = trace.SpanKind

    def __call__(self, scope: Scope, facts: Facts) -> None:
        """Make the span of one request."""
        search = "band" in facts
        attributes = {NAMES[key]: value for key, value in facts.items() if key in NAMES}
        if search:
            attributes["gen_ai.operation.name"] = "retrieval"
        if facts["status"] >= 500:
            attributes["error.type"] = str(facts["status"])
        end = time.time_ns()
        span = self._tracer.start_span(
            f"retrieval {facts['index']}" if search else f"{facts['method'][:16]} {facts['route']}",
            context=self._propagate.extract(dict(Headers(scope=scope))),
            kind=self._kinds.SERVER,
            attributes=attributes,
            start_time=end - int(facts["seconds"] * 1e9),
        )
        span.end(end)
