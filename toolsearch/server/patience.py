"""The protocol of a connection, with an end to patience: requests come in time and are short, answers are read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Final, cast

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

if TYPE_CHECKING:
    import asyncio

    from uvicorn.protocols.http.httptools_impl import RequestResponseCycle

VERSIONS: Final = ("1.0", "1.1")
MAX_HEAD: Final = 32_768
"""Bytes of a request's line and headers."""


class Patient(HttpToolsProtocol):
    """HTTP/1.1 as uvicorn speaks it; a connection whose headers do not come in `seconds`, or are too long, is closed.

    So is one that takes nothing of an answer for `stuck` seconds. uvicorn bounds the time between requests, not that
    within one: connections that are half open, and clients that do not read, would stay for ever.
    """

    seconds: ClassVar[float] = 10.0
    stuck: ClassVar[float] = 60.0
    _timer: asyncio.TimerHandle | None = None
    _unread: asyncio.TimerHandle | None = None
    _open = 0

    def connection_made(self, transport: Any) -> None:
        """Begin to wait."""
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        """Take bytes in, and wait on unless they completed the headers."""
        super().data_received(data)
        if not self._between():
            self._rest()
            return
        self._open += len(data)
        if self._open > MAX_HEAD:
            self.send_400_response("The headers are too long.")
        self._wait()

    def on_headers_complete(self) -> None:
        """Begin a request, unless it is of another HTTP or its headers are too long: then the answer is 400.

        Raises:
            ValueError: it is; the parser makes it an error of the request.
        """
        self._open = 0
        if self.parser is None or self.parser.get_http_version() not in VERSIONS:
            raise ValueError("another version of HTTP")
        if len(self.url) + sum(len(name) + len(value) for name, value in self.headers) > MAX_HEAD:
            raise ValueError("the headers are too long")
        super().on_headers_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop waiting."""
        self._rest()
        self._read_on()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        """The client takes nothing more: wait for it, though not for ever."""
        super().pause_writing()
        self._read_on()
        self._unread = self.loop.call_later(self.stuck, self.transport.abort)

    def resume_writing(self) -> None:
        """It reads again."""
        self._read_on()
        super().resume_writing()

    def _read_on(self) -> None:
        if self._unread is not None:
            self._unread.cancel()
            self._unread = None

    def _wait(self) -> None:
        if self._timer is None:
            self._timer = self.loop.call_later(self.seconds, self._late)

    def _rest(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _late(self) -> None:
        self._timer = None
        if self._between():
            self.transport.close()

    def _between(self) -> bool:
        """Whether no request is being answered."""
        cycle = cast("RequestResponseCycle | None", self.cycle)
        return cycle is None or cycle.response_complete
