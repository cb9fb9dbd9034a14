"""LangChain tools. Needs the extra `langchain`; only `to_langchain` imports it."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from typing import Any, cast

from toolsearch.catalog.definitions import described, spec_of
from toolsearch.catalog.names import exposed_name
from toolsearch.catalog.schema import repair
from toolsearch.errors import InvalidTool, MissingExtra
from toolsearch.tool import Json, ReturnBehavior, SearchBehavior, Tool


def is_langchain(thing: object) -> bool:
    """Whether something is a LangChain tool; imports nothing."""
    tools = sys.modules.get("langchain_core.tools")
    return tools is not None and isinstance(thing, cast("Any", tools).BaseTool)


def from_langchain(thing: Any) -> Tool:
    """A LangChain tool, with what runs it. Injected arguments are hidden; `extras` may ask to be always visible.

    Raises:
        InvalidTool: it is no LangChain tool.
    """
    if not is_langchain(thing):
        raise InvalidTool(f"{thing!r:.80} is not a LangChain tool")
    extras: Json = dict(thing.extras or {})
    spec = spec_of(
        {"name": thing.name, "description": thing.description},
        _schema(thing.tool_call_schema),
        tags=tuple(thing.tags or ()),
        returns=ReturnBehavior.IMMEDIATE if thing.return_direct else ReturnBehavior.TO_LLM,
        search=SearchBehavior.ALWAYS_VISIBLE if extras.get("defer_loading") is False else SearchBehavior.SEARCHABLE,
        source=f"langchain:{thing.name}",
    )
    spec.to_json()

    async def execute(arguments: Json, context: Any = None) -> Any:
        return await thing.ainvoke(dict(arguments))

    return Tool(spec, execute)


def to_langchain(tool: Tool) -> Any:
    """A `StructuredTool` that runs the tool, under the name that every provider takes.

    Raises:
        MissingExtra: langchain-core is not installed.
        InvalidTool: nothing runs the tool, or its schema cannot be repaired.
    """
    try:
        from langchain_core.tools import StructuredTool
    except ImportError:
        raise MissingExtra("langchain-core", "langchain") from None
    spec = tool.spec
    if tool.execute is None:
        raise InvalidTool(f"nothing runs tool {spec.id[:120]!r}; bind an executor first")
    repaired = repair(spec.parameters, "openai")
    return StructuredTool(
        name=exposed_name(spec.id),
        description=described(spec, repaired) or spec.name,
        args_schema=repaired.schema,
        coroutine=_coroutine(tool.execute),
        tags=list(spec.tags) or None,
        return_direct=spec.returns is not ReturnBehavior.TO_LLM,
        metadata={"toolsearch_id": spec.id},
    )


def _coroutine(execute: Callable[..., Any]) -> Callable[..., Any]:
    async def run(**arguments: Any) -> Any:
        answer = execute(arguments, None)
        return await answer if inspect.isawaitable(answer) else answer

    return run


def _schema(schema: Any) -> Json:
    """The schema without what LangChain repeats at its root."""
    body = cast(Json, schema if isinstance(schema, dict) else schema.model_json_schema())
    return {key: item for key, item in body.items() if key not in ("title", "description")}
