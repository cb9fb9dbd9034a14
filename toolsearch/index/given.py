"""What people hand in as tools: definitions, tools with their executor, decorated functions."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib import import_module
from typing import Any, cast

from toolsearch.tool import Executor, Tool, ToolSpec

Given = ToolSpec | Tool | Callable[..., Any]


def specs_of(given: Iterable[Given]) -> list[ToolSpec]:
    """The definitions, in order.

    Raises:
        InvalidTool: something is neither a tool nor a function that can become one.
    """
    return [one if isinstance(one, ToolSpec) else as_tool(one).spec for one in given]


def executors_of(given: Iterable[Given]) -> dict[str, Executor]:
    """What runs the tools, by id, where it came with them."""
    tools = [as_tool(one) for one in given if not isinstance(one, ToolSpec)]
    return {tool.spec.id: tool.execute for tool in tools if tool.execute is not None}


def as_tool(one: Tool | Callable[..., Any]) -> Tool:
    """A tool, or the one that a function describes."""
    if isinstance(one, Tool):
        return one
    return cast("Tool", import_module("toolsearch.catalog.functions").as_tool(one))
