"""Numbers for Prometheus. No text of a request and no tool is ever a label."""

from __future__ import annotations

import os
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from toolsearch.errors import MissingExtra

if TYPE_CHECKING:
    from starlette.types import Scope

    from toolsearch.server.indexes import Indexes
    from toolsearch.server.watching import Facts

METHODS: Final = frozenset({"GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS"})
BUCKETS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)
FOLDER: Final = "PROMETHEUS_MULTIPROC_DIR"
"""Where workers put their numbers for each other."""


class Metrics:
    """Counts what happens; does nothing without the package `prometheus-client`."""

    def __init__(self) -> None:
        try:
            self._client: Any = import_module("prometheus_client")
        except ModuleNotFoundError:
            self._client = None
            return
        client: Any = self._client
        self._known: dict[tuple[Any, ...], Any] = {}
        self._registry: Any = client.CollectorRegistry()
        own: dict[str, Any] = {"registry": self._registry}
        labels = ("route", "method", "status")
        self._requests: Any = client.Counter("toolsearch_requests", "Requests answered", labels, **own)
        self._seconds: Any = client.Histogram(
            "toolsearch_request_duration_seconds", "Time to answer", ("route",), buckets=BUCKETS, **own
        )
        bands = ("index", "strategy", "band")
        self._searches: Any = client.Counter("toolsearch_searches", "Searches by confidence", bands, **own)
        gauge: dict[str, Any] = {"multiprocess_mode": "mostrecent", **own}
        self._tools: Any = client.Gauge("toolsearch_index_tools", "Tools in an index", ("index",), **gauge)
        self._generation: Any = client.Gauge("toolsearch_index_generation", "Its generation", ("index",), **gauge)

    def count(self, scope: Scope, facts: Facts) -> None:
        """Take in one request."""
        if self._client is None:
            return
        method = scope["method"] if scope["method"] in METHODS else "other"
        self._of(self._requests, facts["route"], method, str(facts["status"])).inc()
        self._of(self._seconds, facts["route"]).observe(facts["seconds"])
        if "band" in facts:
            self._of(self._searches, facts["index"], facts["strategy"], facts["band"]).inc()

    def _of(self, numbers: Any, *labels: str) -> Any:
        """The number of some labels. They are few, so they are kept: looking them up at the client takes longer."""
        key = (numbers, *labels)
        if key not in self._known:
            self._known[key] = numbers.labels(*labels)
        return self._known[key]

    def text(self, indexes: Indexes) -> tuple[bytes, str]:
        """All numbers as Prometheus reads them, and their media type.

        Raises:
            MissingExtra: prometheus-client is not installed.
        """
        if self._client is None:
            raise MissingExtra("prometheus-client", "metrics")
        for served in indexes:
            status = served.index.status
            self._tools.labels(served.name).set(status.tools)
            self._generation.labels(served.name).set(status.generation)
        registry = self._registry
        if os.environ.get(FOLDER):
            registry = self._client.CollectorRegistry()
            import_module("prometheus_client.multiprocess").MultiProcessCollector(registry)
        return self._client.generate_latest(registry), str(self._client.CONTENT_TYPE_LATEST)
