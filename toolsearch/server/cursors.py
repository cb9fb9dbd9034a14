"""Cursors that tell nothing: a place in the catalog would tell how many hidden tools lie before it."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
from typing import Final

from toolsearch.server.problems import Problem

TAG: Final = 16
PLACE: Final = 8


def sealed(secret: bytes, place: str) -> str:
    """A place of the catalog, encrypted: its keyed hash is both its check and what its key stream is made from."""
    body = int(place).to_bytes(PLACE)
    tag = _tag(secret, body)
    return base64.urlsafe_b64encode(tag + _mixed(secret, tag, body)).decode()


def opened(secret: bytes, cursor: str) -> str:
    """The place that was sealed.

    Raises:
        Problem: this is no cursor of this service.
    """
    try:
        raw = base64.urlsafe_b64decode(cursor.encode("ascii"))
    except (binascii.Error, ValueError):
        raw = b""
    tag, body = raw[:TAG], _mixed(secret, raw[:TAG], raw[TAG:])
    if len(raw) != TAG + PLACE or not hmac.compare_digest(tag, _tag(secret, body)):
        raise Problem(422, f"{cursor[:80]!r} is no cursor; take next_cursor of the page before")
    return str(int.from_bytes(body))


def _tag(secret: bytes, body: bytes) -> bytes:
    return hmac.new(secret, b"cursor tag" + body, hashlib.sha256).digest()[:TAG]


def _mixed(secret: bytes, tag: bytes, body: bytes) -> bytes:
    stream = hmac.new(secret, b"cursor key" + tag, hashlib.sha256).digest()
    return bytes(one ^ other for one, other in zip(body, stream, strict=False))
