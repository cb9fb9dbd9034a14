"""Let a language model find the right tool among thousands.

Importing this package loads no engine, no encoder and no provider SDK: names are resolved at first use.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from toolsearch.errors import ToolSearchError
from toolsearch.protocols import Hit, SearchResult, ToolSearchRequest, ToolSearchResult, ToolView
from toolsearch.tool import ReturnBehavior, SearchBehavior, Tool, ToolSpec

if TYPE_CHECKING:
    from toolsearch.agent.host import Agent
    from toolsearch.agent.memory import ChatMemory
    from toolsearch.catalog.functions import tool, tools_from
    from toolsearch.catalog.injection import Injected
    from toolsearch.decision import open_decision_model
    from toolsearch.encoders import open_encoder
    from toolsearch.index.definition import Definition
    from toolsearch.index.tool_index import ToolIndex
    from toolsearch.llm.opening import open_model
    from toolsearch.strategies.answering import RetrieverStrategy
    from toolsearch.strategies.decision import DecisionStrategy
    from toolsearch.strategies.simple import SimpleStrategy
    from toolsearch.strategies.vector import VectorStrategy

__version__ = "0.1.0"

_LAZY: dict[str, str] = {
    "Agent": "toolsearch.agent.host",
    "ChatMemory": "toolsearch.agent.memory",
    "DecisionStrategy": "toolsearch.strategies.decision",
    "Definition": "toolsearch.index.definition",
    "Injected": "toolsearch.catalog.injection",
    "RetrieverStrategy": "toolsearch.strategies.answering",
    "SimpleStrategy": "toolsearch.strategies.simple",
    "ToolIndex": "toolsearch.index.tool_index",
    "VectorStrategy": "toolsearch.strategies.vector",
    "open_decision_model": "toolsearch.decision",
    "open_encoder": "toolsearch.encoders",
    "open_model": "toolsearch.llm.opening",
    "tool": "toolsearch.catalog.functions",
    "tools_from": "toolsearch.catalog.functions",
}
globals().pop("tool", None)  # the module was bound to this name when it was loaded; here it is the decorator's

__all__ = [
    "Agent",
    "ChatMemory",
    "DecisionStrategy",
    "Definition",
    "Hit",
    "Injected",
    "RetrieverStrategy",
    "ReturnBehavior",
    "SearchBehavior",
    "SearchResult",
    "SimpleStrategy",
    "Tool",
    "ToolIndex",
    "ToolSearchError",
    "ToolSearchRequest",
    "ToolSearchResult",
    "ToolSpec",
    "ToolView",
    "VectorStrategy",
    "open_decision_model",
    "open_encoder",
    "open_model",
    "tool",
    "tools_from",
]


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module 'toolsearch' has no attribute {name!r}")
    return getattr(import_module(_LAZY[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
