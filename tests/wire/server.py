"""A local server that answers from a script in four vendors' formats, and is as strict as they are."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.wire import answers, rules

Said = str | list[tuple[str, dict[str, Any]]] | int
"""A text, calls as (name, arguments), or a status to fail with."""
ROUTES = {
    "/v1/chat/completions": "chat",
    "/v1/responses": "responses",
    "/v1/messages": "anthropic",
    "/api/chat": "ollama",
}


class Vendor:
    """What the server was asked, and what it will answer. A request that breaks a rule gets 400 and the reason."""

    def __init__(self, *script: Said) -> None:
        self.script = list(script)
        self.bodies: list[dict[str, Any]] = []
        self.raw: list[bytes] = []
        self.refused: list[str] = []
        self.url = ""

    def answer(self, route: str, raw: bytes) -> tuple[int, str, bytes]:
        body = json.loads(raw)
        self.bodies.append(body)
        self.raw.append(raw)
        faults = rules.RULES[route](body)
        if faults:
            self.refused += faults
            return 400, "application/json", json.dumps({"error": {"message": "; ".join(faults)}}).encode()
        said = self.script.pop(0)
        if isinstance(said, int):
            return said, "application/json", json.dumps({"error": {"message": f"status {said}"}}).encode()
        return (200, *answers.ANSWERS[route](said, body, len(self.bodies)))


@contextmanager
def serving(*script: Said, keep_alive: bool = False) -> Iterator[Vendor]:
    """A vendor on a free port of this machine."""
    vendor = Vendor(*script)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1" if keep_alive else "HTTP/1.0"

        def do_POST(self) -> None:
            raw = self.rfile.read(int(self.headers["Content-Length"]))
            status, kind, body = vendor.answer(ROUTES[self.path.split("?")[0]], raw)
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    vendor.url = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield vendor
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
