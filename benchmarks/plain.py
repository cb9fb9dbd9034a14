"""Requests as bytes on a bare connection: a client that costs next to nothing beside the service it measures."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Asked:
    """One request as bytes, and the status of a right answer."""

    raw: bytes
    status: int


def post(path: str, body: dict[str, Any], status: int = 200, more: str = "") -> Asked:
    """A request with a JSON body."""
    sent = json.dumps(body).encode()
    accepted = "Accept: application/json, text/event-stream\r\n"
    told = head("POST", path, f"{accepted}{more}Content-Type: application/json\r\nContent-Length: {len(sent)}\r\n")
    return Asked(told + sent, status)


def head(method: str, path: str, more: str = "") -> bytes:
    """Line and headers of a request; `more` are lines of headers."""
    return f"{method} {path} HTTP/1.1\r\nHost: localhost\r\n{more}\r\n".encode()


async def answer(reading: asyncio.StreamReader) -> tuple[int, bytes]:
    """Status and body of the next answer of a connection: HTTP/1.1 as this service speaks it."""
    head = (await reading.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
    fields = dict(line.split(": ", 1) for line in head.split("\r\n")[1:] if ": " in line)
    if "chunked" not in fields.get("transfer-encoding", ""):
        return int(head.split(" ", 2)[1]), await reading.readexactly(int(fields.get("content-length", 0)))
    body = b""
    while size := int(await reading.readline(), 16):
        body += (await reading.readexactly(size + 2))[:-2]
    await reading.readline()
    return int(head.split(" ", 2)[1]), body
