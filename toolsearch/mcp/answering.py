"""Answers calls of the gateway's tools: search, look at, call; and of listed tools by their own names."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Final

from mcp_types import CallToolResult

from toolsearch.agent.arguments import parsed, with_schema
from toolsearch.agent.exposing import name_of
from toolsearch.catalog.validation import check_arguments
from toolsearch.errors import (
    InvalidInput,
    ToolArgumentsError,
    ToolErrorForModel,
    ToolExecutionError,
    ToolSearchError,
)
from toolsearch.mcp.calling import Back, Caller
from toolsearch.mcp.doors import CALL, DOORS, GET, SEARCH
from toolsearch.mcp.finding import MORE
from toolsearch.mcp.gateway import Gateway
from toolsearch.mcp.results import answered, failed
from toolsearch.mcp.showing import NOTICE, whole, within
from toolsearch.protocols import SearchResult
from toolsearch.tool import Json

MAX_ARGUMENTS: Final = 1_000_000
"""Characters of arguments that came as JSON text."""
NAMED: Final = 5
"""Tools that are only named: those that did not get a place."""


class Answers:
    """Answers calls for one gateway. Every failure is an answer that says why."""

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway
        self._doors: dict[str, Callable[[Json, Caller, Back | None], Awaitable[CallToolResult]]] = {
            SEARCH: self._search,
            GET: self._get,
            CALL: self._call,
        }

    async def answer(self, name: str, arguments: Json, caller: Caller, back: Back | None = None) -> CallToolResult:
        """The answer to a call of one of our tools, or of a tool behind us by the name it is listed under."""
        try:
            if name in self._doors:
                return await self._doors[name](_checked(name, arguments), caller, back)
            await self._gateway.settled()
            return await self._gateway.call(name, arguments, caller, back)
        except (ToolExecutionError, InvalidInput) as error:
            return failed(str(error))

    async def _search(self, arguments: Json, caller: Caller, _: Back | None) -> CallToolResult:
        await self._gateway.settled()
        options = self._gateway.options
        k = int(arguments.get("limit") or options.results)
        try:
            found = await asyncio.to_thread(self._gateway.finder.search, arguments["query"], k, caller)
        except InvalidInput:
            raise
        except ToolSearchError as error:
            raise ToolErrorForModel("the search does not work now") from error
        return answered(await asyncio.to_thread(self._found, found, k, caller))

    def _found(self, result: SearchResult, k: int, caller: Caller) -> Json:
        options = self._gateway.options
        hits = [hit.tool for hit in result.hits]
        tools = within(hits[:k], self._gateway.unavailable, options.budget, options.description)
        rest = hits[len(tools) :]
        more = f"{len(rest)} or more" if len(hits) >= k + MORE else len(rest)
        body: Json = {"tools": tools, "more": more, "near": [name_of(spec) for spec in rest[:NAMED]]}
        notes = list(result.notes)
        if not hits or result.band == "none":
            notes += ["none of these may fit" if hits else "no tool fits; say it in other words"]
            notes += self._gateway.lacking(caller)
        return {**body, **({"notes": notes} if notes else {}), "notice": NOTICE}

    async def _get(self, arguments: Json, caller: Caller, _: Back | None) -> CallToolResult:
        await self._gateway.settled()
        return answered(await asyncio.to_thread(self._shown, list(dict.fromkeys(arguments["names"])), caller))

    def _shown(self, names: list[str], caller: Caller) -> Json:
        """Found ones in the order asked for, and the others with names that are near."""
        tools: list[Json] = []
        missing: list[Json] = []
        for name in names:
            try:
                spec = self._gateway.finder.tool(name, caller)
            except ToolErrorForModel:
                missing.append({"name": name[:120], "near": self._gateway.finder.near(name, caller)})
            else:
                tools.append(whole(spec, self._gateway.unavailable(spec)))
        return {"tools": tools, **({"notFound": missing} if missing else {}), "notice": NOTICE}

    async def _call(self, arguments: Json, caller: Caller, back: Back | None) -> CallToolResult:
        await self._gateway.settled()
        return await self._gateway.call(arguments["name"], arguments.get("arguments") or {}, caller, back)


def _checked(door: str, arguments: Json) -> Json:
    """The arguments of one of our tools, slips that models make mended.

    Raises:
        ToolArgumentsError: they do not fit.
    """
    given = dict(arguments)
    if door == GET:
        names: Any = given.pop("name", None) if "names" not in given else given["names"]
        given["names"] = [names] if isinstance(names, str) else names
    text: object = given.get("arguments")
    if door == CALL and isinstance(text, str):
        given["arguments"] = parsed(text, MAX_ARGUMENTS)
    if door == CALL and given.get("arguments", 0) is None:
        del given["arguments"]
    faults = check_arguments(DOORS[door], given)
    if faults:
        raise ToolArgumentsError(with_schema(f"the arguments do not fit: {'; '.join(faults)}", DOORS[door]))
    return given
