"""One POST to an embeddings endpoint: bounded in time, size and tries."""

from __future__ import annotations

import json
import os
import time
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from typing import Any, Final
from weakref import finalize

from toolsearch.encoders.deadline import Watch
from toolsearch.errors import EncoderFailed, InvalidInput
from toolsearch.retries import asked_wait, may_heal

ERROR_BYTES: Final = 4_000
"""What is read of an answer that is an error."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Seconds for one request with all its tries, tries, and the first and the longest pause between them."""

    seconds: float = 60.0
    tries: int = 5
    first_pause: float = 0.5
    longest_pause: float = 20.0


@dataclass(frozen=True, slots=True)
class _Answer:
    status: int
    body: bytes
    pause: float | None


def key_variable(host: str) -> str:
    """The environment variable that holds the key for a host, and for no other host."""
    if host == "api.openai.com":
        return "OPENAI_API_KEY"
    return "TOOLSEARCH_KEY_" + host.upper().replace("-", "__").replace(".", "_").replace(":", "_")


class Endpoint:
    """An embeddings endpoint at `url`, without user or password in it. May be shared between threads.

    Raises:
        InvalidInput: the URL is malformed.
    """

    def __init__(self, url: str, limits: Limits) -> None:
        self._http: Any = import_module("httpx2")
        self._url = url
        try:
            self._host: str = self._http.URL(url).host
        except self._http.InvalidURL as error:
            raise InvalidInput(f"not the URL of an endpoint: {url[:80]!r} ({error})") from None
        self._limits = limits
        self._watch = Watch(limits.seconds)

    @cached_property
    def _client(self) -> Any:
        client = self._http.Client(timeout=self._limits.seconds, headers={"Accept-Encoding": "identity"})
        finalize(self, client.close)
        return client

    def post(self, body: dict[str, Any], largest: int) -> object:
        """The JSON value that answers `body`, read from at most `largest` bytes.

        Raises:
            EncoderFailed: no usable answer came within the limits. The text never holds the key.
        """
        key = self._key()
        content = self._watch.run(lambda: self._persist(json.dumps(body).encode(), largest, key), self._host)
        try:
            return json.loads(content)
        except (ValueError, RecursionError):
            raise EncoderFailed(f"{self._host} answered with something that is not JSON: {content[:80]!r}") from None

    def _key(self) -> str:
        key = os.environ.get(key_variable(self._host), "").strip()
        if not (key.isascii() and key.isprintable()):
            raise EncoderFailed(f"the key in {key_variable(self._host)} holds characters that no key has")
        return key

    def _persist(self, content: bytes, largest: int, key: str) -> bytes:
        """Asks until there is an answer, the tries are used up, or the time would be over after the next pause."""
        end = time.monotonic() + self._limits.seconds
        pause, problem = self._limits.first_pause, "was not asked"
        for tries_left in reversed(range(self._limits.tries)):
            answer, problem = self._try(content, largest, key)
            if answer is not None and answer.status == 200:
                return answer.body
            if answer is not None:
                problem = self._complaint(answer, key)
            wanted = pause if answer is None or answer.pause is None else answer.pause
            again = answer is None or may_heal(answer.status)
            hopeless = wanted > self._limits.longest_pause or time.monotonic() + wanted > end
            if not again or not tries_left or hopeless:
                break
            time.sleep(wanted)
            pause = min(pause * 2, self._limits.longest_pause)
        raise EncoderFailed(f"{self._host} {problem}")

    def _try(self, content: bytes, largest: int, key: str) -> tuple[_Answer | None, str]:
        """One request: an answer, or what went wrong on the way."""
        headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {key}"} if key else {})
        try:
            with self._client.stream("POST", self._url, content=content, headers=headers) as response:
                return self._read(response, largest), ""
        except self._http.TimeoutException:
            return None, "did not answer in time"
        except self._http.TransportError as error:
            return None, f"cannot be reached or broke off: {type(error).__name__} {str(error)[:120]}".rstrip()

    def _read(self, response: Any, largest: int) -> _Answer:
        good = response.status_code == 200
        if good and response.headers.get("content-encoding", "identity") != "identity":
            raise EncoderFailed(f"{self._host} answered compressed, which it was asked not to")
        end = time.monotonic() + self._limits.seconds
        body = bytearray()
        for piece in response.iter_raw():
            body += piece
            if len(body) > (largest if good else ERROR_BYTES):
                break
            if time.monotonic() > end:
                raise EncoderFailed(f"{self._host} did not end its answer within {self._limits.seconds:g} s")
        if good and len(body) > largest:
            raise EncoderFailed(f"{self._host} answered with more than {largest} bytes for one request")
        return _Answer(response.status_code, bytes(body), asked_wait(response.headers))

    def _complaint(self, answer: _Answer, key: str) -> str:
        said = " ".join(answer.body[:ERROR_BYTES].decode("utf-8", "replace").split())
        said = (said.replace(key, "***") if key else said)[:200]
        way_out = f"; set {key_variable(self._host)} to its key" if answer.status in (401, 403) else ""
        return f"answered {answer.status}{way_out}: {said}"
