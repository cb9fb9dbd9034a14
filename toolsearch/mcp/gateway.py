"""The gateway without a transport: a catalog fed by sources, searched by callers, and its calls."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

from mcp_types import CallToolResult

from toolsearch.agent.arguments import with_schema
from toolsearch.catalog.validation import check_arguments
from toolsearch.errors import InvalidInput, ToolArgumentsError, ToolErrorForModel
from toolsearch.index.tool_index import ToolIndex
from toolsearch.mcp.approvals import Book, Change
from toolsearch.mcp.calling import Back, Call, Caller
from toolsearch.mcp.config import Config
from toolsearch.mcp.finding import Finder
from toolsearch.mcp.fixed import fixed_sources
from toolsearch.mcp.running import Running
from toolsearch.mcp.shelf import Shelf
from toolsearch.mcp.upstream import SourceStatus, Upstream
from toolsearch.tool import Json, ToolSpec

SHOWN: Final = 10
"""Problems of one source that are logged."""
SECONDS: Final = 300.0
"""Time for a call of a tool that is no server's."""
_log = logging.getLogger("toolsearch.mcp")


class Gateway:
    """Tools of an index and of the sources of a configuration. `memory` is a file that remembers approved tools.

    `own` says that the index is only for this gateway: what no source of the configuration gives any more leaves it.

    Raises:
        InvalidSource: what was remembered cannot be read.
    """

    def __init__(
        self, index: ToolIndex, config: Config | None = None, *, memory: Path | None = None, own: bool = False
    ) -> None:
        self.index, self.config, self._own = index, config or Config(), own
        self.options = self.config.options
        self.shelf = Shelf(index, Book(memory, hold=self.options.changes == "hold"))
        self.finder = Finder(index)
        self._running = Running(index, SECONDS)
        self._fixed = list(fixed_sources(self.config))
        self._upstreams = {one.server.name: Upstream(one, self.shelf, self.options.poll) for one in self.config.servers}
        self._statuses = {one.name: SourceStatus(name=one.name, kind=one.kind, state="starting") for one in self._fixed}
        self._read, self._started = asyncio.Event(), 0.0

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        """Start the sources, without waiting for them, and end them afterwards."""
        self._started = asyncio.get_running_loop().time()
        task = asyncio.create_task(self._keep_fresh())
        try:
            yield
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            await asyncio.gather(*(one.close() for one in self._upstreams.values()))

    async def settled(self) -> None:
        """Wait until every source was read once, or could not be: soon after the start, not for remembered tools."""
        if self.is_settled:
            return
        try:
            async with asyncio.timeout_at(self._started + self.options.start):
                await asyncio.gather(*(event.wait() for event in self._awaited))
        except TimeoutError:
            return

    @property
    def is_settled(self) -> bool:
        """Whether there is nothing to wait for."""
        return all(event.is_set() for event in self._awaited)

    @property
    def _awaited(self) -> list[asyncio.Event]:
        return [self._read, *(one.settled for one in self._upstreams.values())]

    @property
    def servers(self) -> list[Upstream]:
        """The servers behind, in the order of the configuration."""
        return list(self._upstreams.values())

    def sources(self) -> list[SourceStatus]:
        """How each source is."""
        return [*self._statuses.values(), *(one.status for one in self._upstreams.values())]

    async def sync(self, name: str) -> SourceStatus:
        """List a server again now.

        Raises:
            InvalidInput: there is no server of this name.
        """
        if name not in self._upstreams:
            raise InvalidInput(f"there is no server {name[:80]!r} behind this gateway")
        return await self._upstreams[name].sync()

    def changes(self) -> list[Change]:
        """Known tools that changed, those approved left out. Reads a file."""
        return self.shelf.changes()

    def approve(self, ids: Iterable[str]) -> None:
        """Let changed tools in from the next listing on. Writes a file.

        Raises:
            InvalidInput: a tool has no change that waits.
        """
        self.shelf.approve(list(ids))

    def summary(self, caller: Caller) -> str:
        """What the caller may find here, in a few words; blocks. Servers are named before they were listed, too."""
        return self.finder.summary(caller, [one.name for one in self._upstreams.values() if one.may_be_seen_by(caller)])

    def lacking(self, caller: Caller) -> list[str]:
        """What a caller may have to know when nothing fits: sources that gave no tools yet, or cannot."""
        seen = [one for one in self._upstreams.values() if one.may_be_seen_by(caller)]
        reading = not self._read.is_set() or not all(one.settled.is_set() for one in seen)
        down = [one.name[:80] for one in seen if one.status.state == "down" and not one.status.tools]
        return [
            *(["some sources are still being read: search again in a moment"] if reading else []),
            *([f"these servers are down: {', '.join(down[:10])}"] if down else []),
        ]

    def unavailable(self, spec: ToolSpec) -> str:
        """Why a tool cannot be called now; "" when it can."""
        kind, _, name = spec.source.partition(":")
        if kind != "mcp":
            return ""
        if name not in self._upstreams:
            return f"the server {name[:80]!r} is not connected here"
        status = self._upstreams[name].status
        return f"the server {name[:80]!r} is down" if status.state == "down" else ""

    async def call(self, name: str, arguments: Json, caller: Caller, back: Back | None = None) -> CallToolResult:
        """Call any tool that the caller may use.

        Raises:
            ToolExecutionError: there is no such tool for this caller, the arguments do not fit, or it failed; the text
                is for the model.
        """
        spec = await self._allowed(name, caller)
        faults = await asyncio.to_thread(check_arguments, spec, arguments)
        if faults:
            raise ToolArgumentsError(with_schema(f"the arguments do not fit: {'; '.join(faults)}", spec))
        if caller.record is not None:
            caller.record(spec.id)
        return await self._runner(spec).run(Call(spec=spec, arguments=arguments, caller=caller, back=back or Back()))

    async def _allowed(self, name: str, caller: Caller) -> ToolSpec:
        """The tool of a name; when changes are held back, as its server has it in this run, not as it is remembered."""
        try:
            spec = await asyncio.to_thread(self.finder.tool, name, caller)
        except ToolErrorForModel as error:
            raise ToolErrorForModel("; ".join([str(error), *self.lacking(caller)])) from error
        upstream = self._upstreams.get(spec.source.removeprefix("mcp:"))
        if self.options.changes != "hold" or upstream is None or upstream.listed.is_set():
            return spec
        await upstream.listed.wait()
        return await asyncio.to_thread(self.finder.tool, name, caller)

    def _runner(self, spec: ToolSpec) -> Upstream | Running:
        kind, _, name = spec.source.partition(":")
        if kind != "mcp" or self.index.executor(spec.id) is not None:
            return self._running
        if name not in self._upstreams:
            raise ToolErrorForModel(f"the tool cannot be called now: {self.unavailable(spec)}")
        return self._upstreams[name]

    async def _keep_fresh(self) -> None:
        """Read what is read once, first, so that no server can take its ids; then follow the servers."""
        for problem in self.config.problems:
            _log.warning("left out: %s", problem)
        for one in self._fixed:
            self._statuses[one.name] = status = await asyncio.to_thread(one.put, self.shelf)
            if status.state == "down":
                _log.warning("source %s cannot be read: %s", one.name[:80], status.reason)
            for problem in status.problems[:SHOWN]:
                _log.warning("source %s: %s", one.name[:80], problem)
        if self._own:
            await asyncio.to_thread(self.shelf.keep_only, [one.source for one in self._upstreams.values()])
        await asyncio.gather(*(one.recall() for one in self._upstreams.values()))
        self._read.set()
        await asyncio.gather(*(self._followed(one) for one in self._upstreams.values()))

    async def _followed(self, upstream: Upstream) -> None:
        """Follow a server; what goes wrong with it is logged, and it is tried again."""
        while True:
            try:
                await upstream.follow()
            except Exception:  # noqa: BLE001 - one server must not end the others, whatever it does
                _log.exception("server %s cannot be followed; it is tried again", upstream.name[:80])
                await asyncio.sleep(self.options.poll)
