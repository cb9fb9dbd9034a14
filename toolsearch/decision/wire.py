"""One bounded JSON request over HTTP: total time, size of the answer, retries that a server asks for."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, cast

import httpx2

from toolsearch.errors import DecisionFailed, InvalidDecision
from toolsearch.retries import asked_wait, may_heal

MAX_ANSWER: Final = 16_000_000
"""Bytes of one answer."""
MAX_WAIT: Final = 30.0
"""Seconds that a Retry-After is waited for; who asks for more is not asked again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """Where to post. `timeout` bounds one try in seconds, connecting and slow answers included."""

    url: str
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    timeout: float = 60.0
    retries: int = 2

    def __repr__(self) -> str:
        return f"Endpoint(url={self.url!r})"


async def post(endpoint: Endpoint, body: Mapping[str, Any]) -> Mapping[str, Any]:
    """The JSON object that the endpoint answers.

    Raises:
        DecisionFailed: no connection, no answer in time, or a status that retries did not mend.
        InvalidDecision: the answer is not a JSON object, or too large.
    """
    reply = _Reply(0, b"not asked")
    async with httpx2.AsyncClient(timeout=endpoint.timeout) as client:
        for attempt in range(endpoint.retries + 1):
            reply = await _reply(client, endpoint, body)
            if reply.status == 200:
                return _object(reply.content, endpoint.url)
            wait = _delay(reply.headers, attempt)
            if (reply.status and not may_heal(reply.status)) or wait > MAX_WAIT:
                break
            if attempt < endpoint.retries:
                await asyncio.sleep(wait)
    said = f"answered {reply.status}: " if reply.status else "gave no answer: "
    asked = asked_wait(reply.headers)
    later = f" (it asks to wait {asked:.0f} seconds)" if asked and asked > MAX_WAIT else ""
    raise DecisionFailed(f"{_host(endpoint.url)} {said}{reply.content[:300].decode('utf-8', 'replace')}{later}")


@dataclass(frozen=True, slots=True)
class _Reply:
    """A status, or 0 and the name of the error when there was no answer."""

    status: int
    content: bytes
    headers: Mapping[str, str] = field(default_factory=dict[str, str])


async def _reply(client: httpx2.AsyncClient, endpoint: Endpoint, body: Mapping[str, Any]) -> _Reply:
    try:
        async with asyncio.timeout(endpoint.timeout):
            return await _once(client, endpoint, body)
    except (TimeoutError, httpx2.HTTPError) as error:
        return _Reply(0, type(error).__name__.encode())


async def _once(client: httpx2.AsyncClient, endpoint: Endpoint, body: Mapping[str, Any]) -> _Reply:
    async with client.stream("POST", endpoint.url, json=body, headers=dict(endpoint.headers)) as response:
        content = bytearray()
        async for chunk in response.aiter_bytes():
            content += chunk
            if len(content) > MAX_ANSWER:
                raise InvalidDecision(f"{_host(endpoint.url)} answered more than {MAX_ANSWER} bytes")
        return _Reply(response.status_code, bytes(content), response.headers)


def _delay(headers: Mapping[str, str], attempt: int) -> float:
    """Seconds to wait: what the server says, else growing ones with some chance in them."""
    asked = asked_wait(headers)
    if asked is not None:
        return asked
    return 0.25 * 2**attempt * (1 + random.random())  # noqa: S311 - spreads retries, protects nothing


def _object(content: bytes, url: str) -> Mapping[str, Any]:
    try:
        body: object = json.loads(content)
    except (ValueError, RecursionError):
        body = None
    if not isinstance(body, dict):
        raise InvalidDecision(f"{_host(url)} did not answer a JSON object but {content[:120]!r}")
    return cast("Mapping[str, Any]", body)


def has_host(url: str) -> bool:
    """Whether a URL can be read and names a host."""
    try:
        return bool(httpx2.URL(url).host)
    except httpx2.InvalidURL:
        return False


def _host(url: str) -> str:
    """Scheme, host, port and path: never a query or a password."""
    parsed = httpx2.URL(url)
    port = f":{parsed.port}" if parsed.port else ""
    return f"{parsed.scheme}://{parsed.host}{port}{parsed.path}"
