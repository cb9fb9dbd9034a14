"""Clients of the SDKs, one for each event loop: their connections cannot be used from another one."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from threading import Lock
from typing import Any
from weakref import WeakKeyDictionary

from toolsearch.errors import ModelFailed


class Clients:
    """Makes a client when an event loop first needs one, and keeps it as long as the loop is there.

    `errors` are what making one raises, such as for a missing key.
    """

    def __init__(self, make: Callable[[], Any], errors: tuple[type[Exception], ...] = ()) -> None:
        self._make, self._errors = make, errors
        self._kept: WeakKeyDictionary[asyncio.AbstractEventLoop, Any] = WeakKeyDictionary()
        self._lock = Lock()

    def here(self) -> Any:
        """The client of the running loop.

        Raises:
            ModelFailed: it cannot be made.
        """
        loop = asyncio.get_running_loop()
        with self._lock:
            if loop not in self._kept:
                try:
                    self._kept[loop] = self._make()
                except self._errors as error:
                    raise ModelFailed(f"no client for this model: {str(error)[:300]}", retry=False) from error
            return self._kept[loop]

    async def close(self) -> None:
        """Close the client of the running loop; the next use makes another one."""
        with self._lock:
            client = self._kept.pop(asyncio.get_running_loop(), None)
        close: Any = getattr(client, "close", None)
        if close is not None:
            await close()


def here(client: Any) -> Any:
    """The client to use now: one of `Clients`, or a client of your own as it is."""
    return client.here() if isinstance(client, Clients) else client
