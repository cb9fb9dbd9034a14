"""A real service on loopback, in a thread of its own."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import uvicorn

from toolsearch import ToolIndex
from toolsearch.server.application import Mounted, create_app
from toolsearch.server.patience import Patient
from toolsearch.server.settings import Settings
from toolsearch.tool import ToolSpec

REFUND = ToolSpec(
    name="refund_payment",
    namespace="payments",
    title="Refund payment",
    description="Gives the money of a captured payment back to the customer",
    parameters={
        "type": "object",
        "properties": {"payment_id": {"type": "string"}, "reason": {"type": "string"}},
        "required": ["payment_id"],
    },
    tags=("money",),
)
WEATHER = ToolSpec(name="get_forecast", namespace="weather", description="Weather forecast of the coming days")
SECRET = ToolSpec(name="void_refund", namespace="payments", description="Voids a refund", groups=("finance",))
TOOLS = (REFUND, WEATHER, SECRET)


def build(folder: Path, tools: Sequence[ToolSpec] = TOOLS) -> Path:
    """An index of words in a folder."""
    ToolIndex.build(folder, tools, encoder="").close()
    return folder


def settings(index: Path, **more: Any) -> Settings:
    """Settings of a quiet service over an index."""
    return Settings.model_validate({"indexes": (index,), "port": 0, "log": "off", **more})


@contextmanager
def serving(
    chosen: Settings,
    mcp: Mounted | None = None,
    http: type[Patient] = Patient,
    stopping: Callable[[], object] = bool,
) -> Iterator[httpx2.Client]:
    """A client of a running service; `stopping` is called after that was told to stop."""
    app = create_app(chosen, mcp)
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_config=None, access_log=False, http=http))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    for _ in range(6_000):
        if server.started or not thread.is_alive():
            break
        time.sleep(0.01)
    assert server.started, "the service did not start"
    port = server.servers[0].sockets[0].getsockname()[1]
    try:
        with httpx2.Client(base_url=f"http://127.0.0.1:{port}", timeout=20, trust_env=False) as client:
            yield client
            server.should_exit = True
            stopping()
    finally:
        server.should_exit = True
        thread.join(20)
