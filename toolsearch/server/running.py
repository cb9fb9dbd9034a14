"""Running the service: one worker or several, stopped gracefully."""

from __future__ import annotations

import gc
import json
import os
import socket
import sys
from contextlib import ExitStack
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final

import uvicorn

from toolsearch.errors import InvalidInput
from toolsearch.server.keys import Keys
from toolsearch.server.metrics import FOLDER
from toolsearch.server.patience import Patient
from toolsearch.server.settings import Settings
from toolsearch.server.state import StateFile

if TYPE_CHECKING:
    from collections.abc import Mapping

HANDED: Final = "TOOLSEARCH_HANDED_SETTINGS"
"""Holds the settings for worker processes, as JSON."""


def check_open(settings: Settings) -> None:
    """Make sure that only this machine reaches a service without keys that work.

    Raises:
        InvalidInput: it would listen elsewhere, and there are none.
    """
    if settings.loopback:
        return
    state = StateFile(settings.state_file)
    try:
        if not Keys(state).any_works():
            raise InvalidInput(
                f"refusing to listen on {settings.host!r} without keys that work: anybody could come, or nobody; "
                "make one with: toolsearch keys create NAME --role admin"
            )
    finally:
        state.close()


def check_address(settings: Settings) -> None:
    """Make sure that there is somewhere to listen.

    Raises:
        InvalidInput: the address is not this machine's, or its port is taken.
    """
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    try:
        socket.create_server((settings.host, settings.port), family=family).close()
    except OSError as error:
        raise InvalidInput(
            f"cannot listen at {settings.host[:120]}:{settings.port} ({error.strerror or error}); "
            "choose another --port or --host"
        ) from None


def serve(settings: Settings, factory: str) -> None:
    """Serve until told to stop; `factory` is the `module:function` that makes a worker's application.

    Raises:
        InvalidInput: the service would be open to others without keys, or cannot listen.
    """
    check_open(settings)
    check_address(settings)
    print(f"toolsearch: serving {settings.indexes[0]} at http://{settings.host}:{settings.port}", file=sys.stderr)
    with ExitStack() as stack:
        handed_on = {HANDED: settings.model_dump_json()}
        if settings.workers > 1:
            handed_on[FOLDER] = stack.enter_context(TemporaryDirectory(prefix="toolsearch-"))
        os.environ.update(handed_on)
        stack.callback(lambda: [os.environ.pop(name, None) for name in handed_on])
        uvicorn.run(
            factory,
            factory=True,
            host=settings.host,
            port=settings.port,
            workers=settings.workers,
            log_config=None,
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=settings.stop_seconds,
            timeout_keep_alive=30,
            limit_concurrency=settings.connections,
            http=Patient,
        )


def settle() -> None:
    """Let garbage collection leave alone what is there for good: looking through all of it stops requests for 0.1 s."""
    gc.collect()
    gc.freeze()


def handed(environment: Mapping[str, str]) -> Settings:
    """The settings that `serve` left for this worker."""
    return Settings.model_validate(json.loads(environment[HANDED]))
