"""What people hand in as tools: definitions, tools with their executor, functions."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from toolsearch.index.feeds import Feed, GivenTools, SourceTools
from toolsearch.tool import Tool, ToolSpec

Given = ToolSpec | Tool | Callable[..., Any]


def tools_of(given: Iterable[Given]) -> list[Tool]:
    """The tools, in order, with what runs them where it came with them.

    Raises:
        InvalidTool: something is neither a tool nor a function that can become one.
    """
    return [Tool(one) if isinstance(one, ToolSpec) else _from_function(one) for one in given]


def _from_function(one: Tool | Callable[..., Any]) -> Tool:
    if isinstance(one, Tool):
        return one
    # Reading signatures and docstrings loads pydantic: only for those who hand in functions.
    from toolsearch.catalog.functions import as_tool

    return as_tool(one)


def feed_of(tools: Iterable[Given] | None) -> tuple[Feed | None, list[Tool]]:
    """What a build reads its tools from, and those of them that were handed in; sources are left to be read later.

    Raises:
        InvalidTool: something is neither a tool nor a function that can become one.
    """
    if tools is None or isinstance(tools, SourceTools):
        return tools, []
    given = tools_of(tools)
    return GivenTools(one.spec for one in given), given
