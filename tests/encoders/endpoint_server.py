"""A real embeddings endpoint on loopback whose behaviour a test chooses."""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np

Reply = tuple[int, dict[str, str], bytes]


def vector(text: str) -> list[float]:
    """Three numbers that tell texts apart; exact in float32."""
    return [float(len(text)), float(sum(map(ord, text)) % 97), 1.0]


def embeddings(request: dict[str, Any], *, order: int = 1, as_floats: bool = False) -> dict[str, Any]:
    """An honest answer; `order` -1 lists the vectors backwards."""
    data = []
    for index, text in enumerate(request["input"]):
        row: Any = vector(text)
        if request["encoding_format"] == "base64" and not as_floats:
            row = base64.b64encode(np.array(row, "<f4").tobytes()).decode()
        data.append({"object": "embedding", "index": index, "embedding": row})
    return {"object": "list", "data": data[::order], "model": request["model"], "usage": {"prompt_tokens": 1}}


def ok(value: object) -> Reply:
    return 200, {}, (value if isinstance(value, bytes) else json.dumps(value).encode())


@dataclass
class Served:
    """What was asked: bodies and headers in order; `stop` ends handlers that dawdle."""

    url: str = ""
    bodies: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    stop: threading.Event = field(default_factory=threading.Event)


Answer = Callable[[dict[str, Any], int], "Reply | Iterator[bytes]"]


@contextmanager
def endpoint(answer: Answer) -> Iterator[Served]:
    """Serves `answer(body, number of the request)`: a reply, or raw bytes of a whole response piece by piece."""
    served = Served()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            served.bodies.append(body)
            served.headers.append({"path": self.path} | {k.lower(): v for k, v in self.headers.items()})
            reply = answer(body, len(served.bodies))
            if isinstance(reply, tuple):
                self._send(*reply)
                return
            self.close_connection = True
            for piece in reply:
                try:
                    self.wfile.write(piece)
                except OSError:
                    return
                if served.stop.wait(0.02):
                    return

        def _send(self, status: int, headers: dict[str, str], content: bytes) -> None:
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            """Quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    served.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    try:
        yield served
    finally:
        served.stop.set()
        server.shutdown()
        thread.join()
        server.server_close()
