"""A transport that keeps one broken tool from losing a whole listing.

The SDK checks a page of `tools/list` as a whole. This wrapper keeps the page as it came, and hands the SDK only
what it takes.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Final, Self, cast

from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCResponse
from mcp_types.methods import validate_server_result

from toolsearch.tool import Json

METHOD: Final = "tools/list"
ASSUMED: Final = "2025-11-25"
"""Version of the protocol before one is agreed on."""


class Sieve:
    """Keeps the tools of pages. `version` tells the protocol's version, None before it is known.

    `ended` is called when the server says no more.
    """

    def __init__(self, version: Callable[[], str | None], ended: Callable[[], None]) -> None:
        self._version, self._ended = version, ended
        self._page: list[Any] = []

    def take(self) -> list[Any]:
        """The tools of the page received last, as they came."""
        page, self._page = self._page, []
        return page

    @asynccontextmanager
    async def around(self, transport: AbstractAsyncContextManager[Any]) -> AsyncGenerator[Any]:
        """The transport's streams, with pages sifted."""
        async with transport as (read, write):
            yield _Reader(read, self.sift, self._ended), write

    def sift(self, item: Any) -> Any:
        """A message whose listing holds only tools that the SDK takes; any other message as it is."""
        message = item.message if isinstance(item, SessionMessage) else None
        tools: object = message.result.get("tools") if isinstance(message, JSONRPCResponse) else None
        if not isinstance(message, JSONRPCResponse) or not isinstance(tools, list):
            return item
        self._page = cast("list[Any]", tools)
        result = dict(message.result)
        cursor: object = result.get("nextCursor")
        if cursor is not None and not isinstance(cursor, str):
            del result["nextCursor"]
        result["tools"] = [known for known in (self._digestible(tool, result) for tool in self._page) if known]
        return SessionMessage(message=message.model_copy(update={"result": result}), metadata=item.metadata)

    def _digestible(self, tool: Any, page: Json) -> Json | None:
        """The tool, or what of it the SDK takes, or nothing."""
        if not isinstance(tool, dict):
            return None
        known = cast(Json, tool)
        for form in (known, {"name": known.get("name"), "inputSchema": {"type": "object"}}):
            try:
                validate_server_result(METHOD, self._version() or ASSUMED, {**page, "tools": [form]})
            except ValueError:
                continue
            return form
        return None


@dataclass(slots=True)
class _Reader:
    """A read stream whose items are changed on the way."""

    inner: Any
    change: Callable[[Any], Any]
    ended: Callable[[], None]

    async def receive(self) -> Any:
        return self.change(await self.inner.receive())

    async def aclose(self) -> None:
        await self.inner.aclose()

    def close(self) -> None:
        self.inner.close()

    @property
    def last_context(self) -> Any:
        return getattr(self.inner, "last_context", None)

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Any:
        try:
            return self.change(await self.inner.__anext__())
        except StopAsyncIteration:
            self.ended()
            raise

    async def __aenter__(self) -> Self:
        await self.inner.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        return await self.inner.__aexit__(kind, error, trace)
