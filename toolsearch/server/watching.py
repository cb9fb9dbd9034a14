"""What is written down of every request: a line of log, numbers, spans; and an answer when something breaks."""

from __future__ import annotations

import json
import logging
import re
import secrets
import time
from typing import TYPE_CHECKING, Any, Final

from starlette.datastructures import Headers

from toolsearch.server.problems import of_error, printable, problem

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from toolsearch.server.callers import Caller

LOG: Final = logging.getLogger("toolsearch.server")
_GIVEN: Final = re.compile(r"[A-Za-z0-9._-]{1,64}")
Facts = dict[str, Any]


class Watched:
    """Gives every request an id, tells the watchers what became of it, and answers for errors nobody foresaw."""

    def __init__(self, app: ASGIApp, *watchers: Callable[[Scope, Facts], None]) -> None:
        self._app, self._watchers = app, watchers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        given = Headers(scope=scope).get("x-request-id", "")
        name = given if _GIVEN.fullmatch(given) else secrets.token_hex(8)
        scope.setdefault("state", {})["request_id"] = name
        watch = _Watch(send, name.encode())
        start = time.perf_counter()
        try:
            await self._app(scope, receive, watch.send)
        except Exception as error:  # the outermost handler: one request fails alone
            LOG.exception("request %s failed", name)
            if watch.status is None:
                await problem(scope, of_error(error))(scope, receive, watch.send)
        finally:
            self._tell(scope, watch, time.perf_counter() - start)

    def _tell(self, scope: Scope, watch: _Watch, seconds: float) -> None:
        caller: Caller | None = scope.get("caller")
        route: Any = scope.get("route")
        facts: Facts = {
            "request_id": scope["state"]["request_id"],
            "method": scope["method"],
            "route": str(getattr(route, "path", "")) or ("/mcp" if scope["path"].startswith("/mcp") else "none"),
            "status": watch.status or 499,
            "seconds": round(seconds, 6),
            "key": caller.name if caller else "",
            **scope["state"].get("facts", {}),
        }
        for watcher in self._watchers:
            watcher(scope, facts)


class _Watch:
    """Adds the request's id to the answer and keeps its status."""

    def __init__(self, send: Send, name: bytes) -> None:
        self._send, self._name = send, name
        self.status: int | None = None

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            message = {**message, "headers": [*message["headers"], (b"x-request-id", self._name)]}
        await self._send(message)


def log_line(scope: Scope, facts: Facts) -> None:
    """Write one line about a request, where somebody reads it; nothing of its query or body."""
    if not LOG.handlers:
        return
    LOG.info("request", extra={"facts": {**facts, "path": printable(str(scope["path"]))[:200]}})


class Lines(logging.Formatter):
    """Log records as one line each: JSON, or text for people. What would break a line is escaped."""

    def __init__(self, *, as_json: bool) -> None:
        super().__init__()
        self._as_json = as_json

    def format(self, record: logging.LogRecord) -> str:
        """The record's line."""
        facts: Facts = getattr(record, "facts", {})
        body = {
            "at": round(record.created, 3),
            "level": record.levelname.lower(),
            "event": record.getMessage(),
            **facts,
        }
        if record.exc_info:
            body["error"] = self.formatException(record.exc_info)[-4_000:]
        if self._as_json:
            return json.dumps(body, default=str)
        return " ".join(f"{key}={printable(str(value))}" for key, value in body.items())


def start_logging(form: str) -> None:
    """Send the service's own records to standard error."""
    handler = logging.StreamHandler()
    handler.setFormatter(Lines(as_json=form == "json"))
    LOG.handlers[:] = [] if form == "off" else [handler]
    LOG.setLevel(logging.INFO)
    LOG.propagate = False
