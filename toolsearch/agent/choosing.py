"""Whether a conversation searches for its tools or sees them all, and with which strategy."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Final

from toolsearch.agent.exposing import exposed, name_of
from toolsearch.agent.limits import Limits
from toolsearch.agent.toolbox import Toolbox
from toolsearch.chat import Features
from toolsearch.errors import ToolsUnsupported
from toolsearch.protocols import ToolSearchStrategy
from toolsearch.strategies.answering import TOOL, RetrieverStrategy
from toolsearch.strategies.retrievers import open_retriever
from toolsearch.strategies.simple import SimpleStrategy
from toolsearch.tool import Json, ToolSpec

Search = str | ToolSearchStrategy | None
"""A strategy, the name of a retriever, "auto", or None for no search at all."""

CHARACTERS: Final = 4
PROXY_TOOL: Final = replace(
    TOOL,
    name="search_tools",
    description=(
        "Finds the tool for a task. Most tools are not listed: call this first, and say in plain words what you want "
        "to do, one thing at a time. Look at a tool that was found with get_tool, and call it with call_tool."
    ),
)
THEN: Final = "If one of them fits, call it now; do not say how it could be called."
PROXY_THEN: Final = "If one of them fits, call it now with call_tool; do not say how it could be called."
"""What an answer of the search ends with: small models else describe the call instead of making it."""
HINT: Final = (
    "You have more tools than the ones listed. When no listed tool does what is asked, your first step is always to "
    "call {search}: say in a few plain words what the tool should do. Tools that were found can be called from the "
    "next message on, by their exact names. Never guess the name of a tool, and never explain how it could be done "
    "instead. Answer in words only when no tool fits.\n\n"
    "Example. User: Refund order 7\nYou call: {example}"
)
"""Where it says {search} and {example}, a model reads the name of the search tool and a call of it."""


def strategy_for(search: Search, show: str) -> ToolSearchStrategy | None:
    """The strategy; a name becomes a search tool over the retriever of that name, "simple" the reference one.

    Raises:
        InvalidInput: there is no such name.
    """
    if search is None or not isinstance(search, str):
        return search
    if search == "simple":
        return SimpleStrategy()
    retriever = open_retriever("hybrid" if search == "auto" else search)
    if show == "proxy":
        return RetrieverStrategy(retriever=retriever, name_of=name_of, tool=PROXY_TOOL, then=PROXY_THEN)
    return RetrieverStrategy(retriever=retriever, name_of=name_of, then=THEN)


def hinted(hint: str, search: ToolSpec) -> str:
    """The hint with the search tool's name, and a call of it as a model would write it."""
    properties: Json = search.parameters.get("properties") or {}
    first = next(iter(search.parameters.get("required") or properties), "query")
    many = isinstance(properties.get(first), dict) and properties[first].get("type") == "array"
    value: object = ["refund", "order"] if many else "refund an order"
    example = json.dumps({"name": exposed(search.id), "arguments": {first: value}})
    return hint.replace("{search}", exposed(search.id)).replace("{example}", example)


def sends_whole(search: Search, toolbox: Toolbox, limits: Limits) -> bool:
    """Whether all tools are sent and nothing is searched."""
    if search is None:
        return True
    if search != "auto" or toolbox.count() > limits.whole_tools:
        return False
    size = sum(len(spec.name) + len(spec.description) + len(str(spec.parameters)) for spec in toolbox.all())
    return size <= limits.whole_tokens * CHARACTERS


def most_tools(limits: Limits, features: Features) -> int:
    """Tools that one request may have."""
    return min(limits.max_visible_tools, features.max_tools)


def check_room(toolbox: Toolbox, search: int, limits: Limits, features: Features) -> None:
    """Refuse so many tools that are always visible that none that is found could be shown beside them.

    Raises:
        ToolsUnsupported: it says how many there are.
    """
    bound, fixed = most_tools(limits, features), sum(1 for _ in toolbox.pinned()) + search
    if fixed >= bound:
        raise ToolsUnsupported(
            f"{fixed} tools are in every request, those that search included, which leaves no room for one that is "
            f"found (at most {bound}); make fewer always visible, or raise max_visible_tools if the model takes more"
        )


def check_whole(toolbox: Toolbox, limits: Limits, features: Features) -> None:
    """Refuse more tools than one request may have when nothing can be searched.

    Raises:
        ToolsUnsupported: it says how many there are.
    """
    bound, count = most_tools(limits, features), toolbox.count()
    if count > bound:
        raise ToolsUnsupported(f"{count} tools cannot be sent in one request (at most {bound}); turn search on")
