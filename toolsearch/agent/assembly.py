"""What an agent was given, sorted: fixed tools, libraries, providers, and what undoes them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, cast

from toolsearch.agent.compensation import ATTRIBUTE
from toolsearch.agent.exposing import exposed, name_of
from toolsearch.agent.providers import ToolProvider
from toolsearch.agent.toolbox import Library
from toolsearch.catalog.functions import as_tool, tools_from
from toolsearch.errors import DuplicateTool, InvalidTool
from toolsearch.tool import SearchBehavior, Tool, ToolSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class Assembly:
    """Tools by id, and where the others come from. `owners` may hold functions that undo tools."""

    fixed: Mapping[str, Tool] = field(default_factory=dict[str, Tool])
    libraries: tuple[Library, ...] = ()
    providers: tuple[ToolProvider, ...] = ()
    owners: tuple[object, ...] = ()


def assembled(given: Iterable[object], always_visible: Collection[str] = ()) -> Assembly:
    """Sort what was given.

    Raises:
        InvalidTool: something is not a tool; or an always visible one has nothing that runs it.
        DuplicateTool: two tools have one id, or would be called by one name.
    """
    if not isinstance(cast("object", given), Iterable) or isinstance(given, str | Library | ToolProvider):
        raise InvalidTool(f"tools must be a list, not one {type(given).__name__}; put it into [...]")
    fixed: dict[str, Tool] = {}
    libraries: list[Library] = []
    providers: list[ToolProvider] = []
    owners: list[object] = []
    for one in _flat(given):
        if isinstance(one, Library):
            libraries.append(one)
        elif isinstance(one, ToolProvider):
            providers.append(one)
        else:
            owners.append(one)
            add(fixed, () if hasattr(one, ATTRIBUTE) else tools_of(one))
    fixed = {tool_id: _pinned(tool, always_visible) for tool_id, tool in fixed.items()}
    for tool in fixed.values():
        if tool.execute is None and tool.spec.search is SearchBehavior.ALWAYS_VISIBLE:
            raise InvalidTool(f"tool {tool.spec.id[:200]!r} is always visible and has nothing that runs it")
    return Assembly(fixed=fixed, libraries=tuple(libraries), providers=tuple(providers), owners=tuple(owners))


def tools_of(one: object) -> list[Tool]:
    """The tools that one thing is: a definition, a pair, a function, or an object with decorated methods.

    Raises:
        InvalidTool: it is none of them.
    """
    if _is_pair(one):
        spec, executor = cast("tuple[ToolSpec, Any]", one)
        return [Tool(spec, executor)]
    named = callable(one) and hasattr(one, "__name__") and not isinstance(one, type)
    if isinstance(one, Tool | ToolSpec) or named:
        return [as_tool(one)]
    return list(tools_from(cast("object", one)))


def add(tools: dict[str, Tool], more: Iterable[Tool]) -> None:
    """Add tools; ids and the names that models use must differ.

    Raises:
        DuplicateTool: it names the tools.
    """
    for tool in more:
        if tool.spec.id in tools:
            raise DuplicateTool(f"Duplicated definition for tool: {tool.spec.id[:200]}")
        tools[tool.spec.id] = tool


def check_search_names(search: Iterable[ToolSpec], fixed: Iterable[Tool]) -> None:
    """Refuse a search tool that has a tool's name.

    Raises:
        DuplicateTool: it names both.
    """
    names = {name_of(tool.spec): tool.spec.id for tool in fixed}
    for spec in search:
        other = names.get(exposed(spec.id))
        if other is not None:
            raise DuplicateTool(
                f"the search tool {spec.name[:100]!r} has the name of the tool {other[:100]!r}; rename one"
            )


def _flat(given: Iterable[object]) -> Iterator[object]:
    for one in given:
        if isinstance(one, list | set | frozenset | tuple) and not _is_pair(cast("object", one)):
            yield from _flat(cast("Iterable[object]", one))
        else:
            yield one


def _is_pair(one: object) -> bool:
    pair = cast("tuple[object, ...]", one) if isinstance(one, tuple) else ()
    return len(pair) == 2 and isinstance(pair[0], ToolSpec)


def _pinned(tool: Tool, always_visible: Collection[str]) -> Tool:
    if tool.spec.id not in always_visible:
        return tool
    return replace(tool, spec=tool.spec.with_(search=SearchBehavior.ALWAYS_VISIBLE, id=tool.spec.id))
