"""The built-in encoder as an OpenAI-compatible endpoint on loopback; answers tell the CPU they took, in ms."""

from __future__ import annotations

import json
import sys
import time
from http.server import BaseHTTPRequestHandler, HTTPServer

from toolsearch.encoders import open_encoder

ENCODER = open_encoder("builtin")


class Handler(BaseHTTPRequestHandler):
    """Answers POST with vectors; one thread, so that its CPU is the request's."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        texts = [body["input"]] if isinstance(body["input"], str) else body["input"]
        started = time.process_time()
        vectors = ENCODER.encode(texts, "query" if len(texts) == 1 else "tool")
        cpu = 1000 * (time.process_time() - started)
        rows = [{"object": "embedding", "index": i, "embedding": row.tolist()} for i, row in enumerate(vectors)]
        usage = {"prompt_tokens": 0, "total_tokens": 0}
        answer = json.dumps({"object": "list", "model": "builtin", "data": rows, "usage": usage, "cpu": cpu}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Nothing: the benchmark prints what matters."""


if __name__ == "__main__":
    server = HTTPServer(("127.0.0.1", 0), Handler)
    print(server.server_port, flush=True)
    sys.stdout.close()
    server.serve_forever()
