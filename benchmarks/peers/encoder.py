"""The built-in encoder as an OpenAI-compatible endpoint on loopback. GET tells the CPU spent on encoding, in ms.

What was encoded is kept in a file for the next run; a text from it counts as much CPU as it took when it was encoded.

python -m benchmarks.peers.encoder [FOLDER] [VECTORS]

VECTORS is a file of `filling` with the vectors of made-up tools, which are known by the number in their names.
"""

from __future__ import annotations

import hashlib
import json
import re
import sqlite3
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Protocol

import numpy as np

from toolsearch.encoders import open_encoder

if TYPE_CHECKING:
    from collections.abc import Sequence

    from toolsearch.protocols import Encoder, Floats, Role

ONE = Lock()
MEMORY = "vectors.sqlite3"
"""The file of what was encoded."""
_MARK = re.compile(r"[_ ]x ?(\d+) ?x\b")


class Timed(Protocol):
    """Gives vectors and the CPU that they took, in ms."""

    def encode(self, texts: Sequence[str], role: Role) -> tuple[list[Floats], float]:
        """A vector for each text, and the CPU."""
        ...


class Remembered:
    """Vectors of texts by an encoder, and the CPU that they take, in ms, now or when they were made."""

    def __init__(self, encoder: Encoder, file: Path | str = ":memory:") -> None:
        self._encoder = encoder
        self._base = sqlite3.connect(file, check_same_thread=False, isolation_level=None)
        self._base.execute("PRAGMA synchronous = OFF")
        self._base.execute("CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, vector BLOB, ms REAL)")

    def encode(self, texts: Sequence[str], role: Role) -> tuple[list[Floats], float]:
        """A vector for each text, and the CPU."""
        keys = [self._key(text, role) for text in texts]
        known = {key: row for key in keys if (row := self._row(key))}
        fresh = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
        started = time.process_time()
        made = self._encoder.encode(list(fresh.values()), role) if fresh else ()
        each = 1000 * (time.process_time() - started) / (len(fresh) or 1)
        rows = [(key, vector.astype(np.float32).tobytes(), each) for key, vector in zip(fresh, made, strict=True)]
        with self._base:
            self._base.execute("BEGIN")
            self._base.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?, ?)", rows)
        known |= {key: (vector, ms) for key, vector, ms in rows}
        return [np.frombuffer(known[key][0], np.float32) for key in keys], sum(known[key][1] for key in keys)

    def _row(self, key: bytes) -> tuple[bytes, float] | None:
        return self._base.execute("SELECT vector, ms FROM vectors WHERE key = ?", (key,)).fetchone()

    def _key(self, text: str, role: Role) -> bytes:
        return hashlib.sha256(f"{self._encoder.id}\0{role}\0{text}".encode()).digest()


class Filled:
    """An encoder that reads vectors of made-up tools from a file; they count no CPU."""

    def __init__(self, inner: Timed, file: Path) -> None:
        self._inner = inner
        self._rows: Floats = np.load(file, mmap_mode="r")

    def encode(self, texts: Sequence[str], role: Role) -> tuple[list[Floats], float]:
        """A vector for each text, and the CPU of those that were encoded."""
        marks = [_MARK.search(text) for text in texts]
        real = [text for text, mark in zip(texts, marks, strict=True) if mark is None]
        vectors, ms = self._inner.encode(real, role) if real else ([], 0.0)
        rest = iter(vectors)
        return [next(rest) if mark is None else np.array(self._rows[int(mark[1])]) for mark in marks], ms


class Handler(BaseHTTPRequestHandler):
    """Answers POST with vectors, one request at a time, so that the CPU is the request's."""

    protocol_version = "HTTP/1.1"
    source: Timed
    spent = 0.0

    def do_GET(self) -> None:
        self._answer({"cpu": Handler.spent})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        texts = [body["input"]] if isinstance(body["input"], str) else body["input"]
        with ONE:
            vectors, ms = Handler.source.encode(texts, "query" if len(texts) == 1 else "tool")
            Handler.spent += ms
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


def serve(folder: str = "", made: str = "") -> None:
    """Serve until the process ends; the first line on standard output is the port."""
    known = Remembered(open_encoder("builtin"), Path(folder) / MEMORY if folder else ":memory:")
    Handler.source = Filled(known, Path(made)) if made else known
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    print(server.server_port, flush=True)
    sys.stdout.close()
    server.serve_forever()


if __name__ == "__main__":
    serve(*sys.argv[1:])
