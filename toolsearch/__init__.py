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
    from toolsearch.agent.agents import agent_tool
    from toolsearch.agent.compensation import compensates
    from toolsearch.agent.context import InvocationContext, InvocationParameters, MemoryId
    from toolsearch.agent.handlers import Handlers
    from toolsearch.agent.host import Agent
    from toolsearch.agent.http_tools import HTTPTools
    from toolsearch.agent.limits import Limits
    from toolsearch.agent.mcp_tools import MCPToolset
    from toolsearch.agent.memory import ChatMemory
    from toolsearch.agent.preselection import PreselectingToolProvider
    from toolsearch.agent.results import ToolReturn
    from toolsearch.agent.skills import SkillToolset
    from toolsearch.agent.statistics import Statistics
    from toolsearch.agent.stores import SQLiteStore
    from toolsearch.agent.wrappers import cached, retrying
    from toolsearch.catalog.functions import tool, tools_from
    from toolsearch.catalog.injection import Injected
    from toolsearch.chat import ChatOptions
    from toolsearch.conversation import AssistantMessage, Media, SystemMessage, ToolCall, ToolResult, UserMessage
    from toolsearch.decision import open_decision_model
    from toolsearch.decision.chat import ChatDecisionModel
    from toolsearch.encoders import open_encoder
    from toolsearch.errors import ToolErrorForModel
    from toolsearch.index.definition import Definition
    from toolsearch.index.tool_index import ToolIndex
    from toolsearch.llm.opening import open_model
    from toolsearch.strategies.answering import RetrieverStrategy
    from toolsearch.strategies.decision import DecisionStrategy
    from toolsearch.strategies.judges import open_judge
    from toolsearch.strategies.simple import SimpleStrategy
    from toolsearch.strategies.vector import VectorStrategy

__version__ = "0.1.0"

_LAZY: dict[str, str] = {
    "Agent": "toolsearch.agent.host",
    "AssistantMessage": "toolsearch.conversation",
    "ChatDecisionModel": "toolsearch.decision.chat",
    "ChatMemory": "toolsearch.agent.memory",
    "ChatOptions": "toolsearch.chat",
    "DecisionStrategy": "toolsearch.strategies.decision",
    "Definition": "toolsearch.index.definition",
    "HTTPTools": "toolsearch.agent.http_tools",
    "Handlers": "toolsearch.agent.handlers",
    "Injected": "toolsearch.catalog.injection",
    "InvocationContext": "toolsearch.agent.context",
    "InvocationParameters": "toolsearch.agent.context",
    "Limits": "toolsearch.agent.limits",
    "MCPToolset": "toolsearch.agent.mcp_tools",
    "Media": "toolsearch.conversation",
    "MemoryId": "toolsearch.agent.context",
    "PreselectingToolProvider": "toolsearch.agent.preselection",
    "RetrieverStrategy": "toolsearch.strategies.answering",
    "SQLiteStore": "toolsearch.agent.stores",
    "SimpleStrategy": "toolsearch.strategies.simple",
    "SkillToolset": "toolsearch.agent.skills",
    "Statistics": "toolsearch.agent.statistics",
    "SystemMessage": "toolsearch.conversation",
    "ToolCall": "toolsearch.conversation",
    "ToolErrorForModel": "toolsearch.errors",
    "ToolIndex": "toolsearch.index.tool_index",
    "ToolResult": "toolsearch.conversation",
    "ToolReturn": "toolsearch.agent.results",
    "UserMessage": "toolsearch.conversation",
    "VectorStrategy": "toolsearch.strategies.vector",
    "agent_tool": "toolsearch.agent.agents",
    "cached": "toolsearch.agent.wrappers",
    "compensates": "toolsearch.agent.compensation",
    "open_decision_model": "toolsearch.decision",
    "open_encoder": "toolsearch.encoders",
    "open_judge": "toolsearch.strategies.judges",
    "open_model": "toolsearch.llm.opening",
    "retrying": "toolsearch.agent.wrappers",
    "tool": "toolsearch.catalog.functions",
    "tools_from": "toolsearch.catalog.functions",
}
globals().pop("tool", None)  # the module was bound to this name when it was loaded; here it is the decorator's

__all__ = [
    "Agent",
    "AssistantMessage",
    "ChatDecisionModel",
    "ChatMemory",
    "ChatOptions",
    "DecisionStrategy",
    "Definition",
    "HTTPTools",
    "Handlers",
    "Hit",
    "Injected",
    "InvocationContext",
    "InvocationParameters",
    "Limits",
    "MCPToolset",
    "Media",
    "MemoryId",
    "PreselectingToolProvider",
    "RetrieverStrategy",
    "ReturnBehavior",
    "SQLiteStore",
    "SearchBehavior",
    "SearchResult",
    "SimpleStrategy",
    "SkillToolset",
    "Statistics",
    "SystemMessage",
    "Tool",
    "ToolCall",
    "ToolErrorForModel",
    "ToolIndex",
    "ToolResult",
    "ToolReturn",
    "ToolSearchError",
    "ToolSearchRequest",
    "ToolSearchResult",
    "ToolSpec",
    "ToolView",
    "UserMessage",
    "VectorStrategy",
    "agent_tool",
    "cached",
    "compensates",
    "open_decision_model",
    "open_encoder",
    "open_judge",
    "open_model",
    "retrying",
    "tool",
    "tools_from",
]


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module 'toolsearch' has no attribute {name!r}")
    return getattr(import_module(_LAZY[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
