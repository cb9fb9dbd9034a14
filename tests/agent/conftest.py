"""A server of tools, and a small service."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

SERVER = '''
import os, sys
from mcp.server.mcpserver import MCPServer, Image
server = MCPServer("s", version="1")

@server.tool()
def weigh(parcel: str) -> str:
    """Weigh a parcel"""
    return f"{parcel} weighs 3 kg"

@server.tool()
def picture() -> Image:
    """Show a parcel"""
    return Image(data=b"dot", format="png")

@server.tool()
def broken() -> str:
    """Break"""
    raise ValueError("inside")

@server.tool()
def die() -> str:
    """Die at once"""
    os._exit(3)

server.run()
'''


@pytest.fixture
def service() -> Iterator[tuple[str, list[Any]]]:
    """A small service that keeps what it was asked."""
    asked: list[Any] = []

    class Handler(BaseHTTPRequestHandler):
        def answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
            asked.append((self.command, self.path, body, self.headers.get("X-Key")))
            status = 404 if "missing" in self.path else 302 if "away" in self.path else 200
            data = b"x" * 2_000_000 if "big" in self.path else b'{"ok": true}'
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            if status == 302:
                self.send_header("Location", "http://127.0.0.1:1/")
            self.end_headers()
            self.wfile.write(data)

        do_GET = do_POST = answer

        def log_message(self, *_: object) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}/v1", asked
    server.shutdown()
    thread.join()
    server.server_close()
