"""The built-in encoder as an OpenAI-compatible endpoint on loopback. GET tells the CPU spent on encoding, in ms."""

from __future__ import annotations

import json
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock

from toolsearch.encoders import open_encoder

ENCODER = open_encoder("builtin")
ONE = Lock()


class Handler(BaseHTTPRequestHandler):
    """Answers POST with vectors, one request at a time, so that the CPU is the request's."""

    protocol_version = "HTTP/1.1"
    spent = 0.0

    def do_GET(self) -> None:
        self._answer({"cpu": Handler.spent})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        texts = [body["input"]] if isinstance(body["input"], str) else body["input"]
        with ONE:
            started = time.process_time()
            vectors = ENCODER.encode(texts, "query" if len(texts) == 1 else "tool")
            Handler.spent += 1000 * (time.process_time() - started)
        rows = [{"object": "embedding", "index": i, "embedding": row.tolist()} for i, row in enumerate(vectors)]
        usage = {"prompt_tokens": 0, "total_tokens": 0}
        self._answer({"object": "list", "model": "builtin", "data": rows, "usage": usage})

    def _answer(self, body: dict[str, object]) -> None:
        answer = json.dumps(body).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Nothing: the benchmark prints what matters."""


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    print(server.server_port, flush=True)
    sys.stdout.close()
    server.serve_forever()
