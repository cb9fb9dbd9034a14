"""LangChain tools come in with what runs them, and go out again."""

from __future__ import annotations

import asyncio

import pytest

from toolsearch.catalog.langchain import from_langchain, to_langchain
from toolsearch.catalog.python import tools_of
from toolsearch.errors import InvalidTool
from toolsearch.tool import ReturnBehavior, SearchBehavior, Tool, ToolSpec

tools = pytest.importorskip("langchain_core.tools")


def add(a: int, b: int = 1) -> int:
    """Add two numbers."""
    return a + b


def test_a_tool_comes_in_and_runs() -> None:
    """Name, description, schema and behaviour are kept."""
    made = tools.StructuredTool.from_function(add, return_direct=True, tags=["sum"], extras={"defer_loading": False})
    tool = from_langchain(made)
    assert (tool.spec.name, tool.spec.description, tool.spec.tags) == ("add", "Add two numbers.", ("sum",))
    assert tool.spec.returns is ReturnBehavior.IMMEDIATE
    assert tool.spec.search is SearchBehavior.ALWAYS_VISIBLE
    assert tool.spec.parameters["required"] == ["a"]
    assert tool.execute is not None
    assert asyncio.run(tool.execute({"a": 2}, None)) == 3
    assert [one.spec.name for one in tools_of([made, add])] == ["add", "add"]


def test_a_tool_goes_out_and_runs() -> None:
    """The schema and the id go along; there and back nothing is lost."""
    spec = ToolSpec(
        name="add", namespace="math", description="d",
        parameters={"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]},
    )  # fmt: skip
    out = to_langchain(Tool(spec, lambda arguments, _: arguments["a"] + 1))
    assert (out.name, out.metadata) == ("math__add", {"toolsearch_id": "math/add"})
    assert asyncio.run(out.ainvoke({"a": 2})) == 3
    assert from_langchain(out).spec.parameters == spec.parameters


def test_what_is_no_tool() -> None:
    """Other objects and tools that nothing runs are refused."""
    with pytest.raises(InvalidTool, match="not a LangChain tool"):
        from_langchain(add)
    with pytest.raises(InvalidTool, match="nothing runs"):
        to_langchain(Tool(ToolSpec(name="x")))
