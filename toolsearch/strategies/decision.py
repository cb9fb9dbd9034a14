"""A search tool whose hits a decision model chooses: every tool of a small list, a shortlist of a large catalog."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from toolsearch.errors import DecisionFailed, InvalidInput
from toolsearch.protocols import Retriever, ToolSearchRequest, ToolSearchResult, ToolView
from toolsearch.questions import DecisionModel
from toolsearch.strategies.calls import SearchTool, found_text
from toolsearch.strategies.deciding import TEMPLATE, Asking, chosen, judge
from toolsearch.tool import ToolSpec

TOOL: Final = SearchTool(
    description="Finds available tools that can help with a task",
    argument="query",
    argument_description="Natural language description of the task",
)

_log = logging.getLogger("toolsearch.strategies")


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionStrategy:
    """Asks a decision model, for each tool, whether it would help with the query.

    Without a `retriever` every searchable tool is asked about, as LangChain4j's DecisionModelToolSearchStrategy
    does; with one, only the `shortlist` best of it are. Tools with at least `min_probability` are found, the most
    likely first, ties in order. `batch` tools go into one request, None puts all into one; `concurrent` requests run
    at a time. With `choice` a request asks which one of its tools helps, see `Asking`. When the model fails,
    `on_failure` raises its error, or answers with the shortlist's order and says so, to the model in the text and to
    the host in the attribute `judge`. Put `Cached` around the model to keep decisions.

    Raises:
        InvalidInput: a number is out of range, the template is wrong, or there is no shortlist to fall back to.
    """

    model: DecisionModel
    retriever: Retriever | None = None
    tool: SearchTool = TOOL
    template: str = TEMPLATE
    max_results: int = 5
    min_probability: float = 0.5
    batch: int | None = None
    concurrent: int = 4
    choice: bool = False
    shortlist: int = 50
    on_failure: Literal["error", "shortlist"] = "error"
    result_text: Callable[[Sequence[ToolSpec]], str] = field(default=found_text)

    def __post_init__(self) -> None:
        self._asking()
        for name in ("max_results", "shortlist"):
            if getattr(self, name) < 1:
                raise InvalidInput(f"{name} is {getattr(self, name)}; it must be 1 or more")
        if not 0 <= self.min_probability <= 1:
            raise InvalidInput(f"min_probability is {self.min_probability}; it must be from 0 to 1")
        if self.on_failure == "shortlist" and self.retriever is None:
            raise InvalidInput("on_failure='shortlist' needs a retriever that makes one")

    def search_tools(self, context: Any = None) -> list[ToolSpec]:
        """The one search tool."""
        return [self.tool.spec()]

    async def search(self, request: ToolSearchRequest) -> ToolSearchResult:
        """The tools that the model takes for helpful.

        Raises:
            ToolExecutionError: the arguments are wrong.
            DecisionFailed: the model failed and `on_failure` is error.
        """
        query = self.tool.text(request.arguments)
        if not query.strip():
            raise self.tool.error(f"Missing required tool argument '{self.tool.argument}'")
        tools = await self._candidates(query, request.searchable)
        if not tools:
            return ToolSearchResult(found=(), text=self.result_text(()))
        try:
            judged, _ = await judge(self.model, query, tools, self._asking())
        except DecisionFailed as error:
            if self.on_failure == "error":
                raise
            return self._undecided(tools, error)
        found = [one.tool for one in chosen(judged, self.min_probability, self.max_results)]
        return ToolSearchResult(found=tuple(spec.id for spec in found), text=self.result_text(found))

    def _asking(self) -> Asking:
        return Asking(template=self.template, batch=self.batch, concurrent=self.concurrent, choice=self.choice)

    async def _candidates(self, query: str, view: ToolView) -> list[ToolSpec]:
        if self.retriever is None:
            return list(view)
        result = await asyncio.to_thread(self.retriever.search, [query], view, self.shortlist)
        return [hit.tool for hit in result]

    def _undecided(self, tools: list[ToolSpec], error: DecisionFailed) -> ToolSearchResult:
        found = tools[: self.max_results]
        note = f"Note: not checked by the decision model ({type(error).__name__}); best matches by search."
        _log.warning("the decision model failed, the shortlist's order stands: %.300s", error)
        return ToolSearchResult(
            found=tuple(spec.id for spec in found),
            text=f"{self.result_text(found)}\n{note}",
            attributes={"judge": f"failed: {type(error).__name__}"},
        )
