"""A search tool for a model over any retriever."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple

from toolsearch.errors import InvalidInput, ToolErrorForModel
from toolsearch.protocols import Hit, Retriever, SearchResult, ToolSearchRequest, ToolSearchResult, ToolView
from toolsearch.strategies.calls import SEARCH_TOOL, SearchTool
from toolsearch.tool import ToolSpec

MORE: Final = 20
"""How many hits beyond those returned are counted."""
LINE: Final = 160
"""Longest description of one tool in the answer, in characters."""
CHARACTERS: Final = 4
"""Characters that are taken for one token."""

TOOL: Final = SearchTool(
    name=SEARCH_TOOL,
    description=(
        "Finds the tool for a task. Most tools are not listed: call this first, and say in plain words what you want "
        "to do, one thing at a time. The tools found can be called from the next message on."
    ),
    argument="query",
    argument_description="What the tool should do, such as 'refund a payment'; or the exact name of a tool",
)


class _Answer(NamedTuple):
    hits: tuple[Hit, ...]
    available: tuple[Hit, ...]
    more: int
    result: SearchResult


def own_name(spec: ToolSpec) -> str:
    """The name that a tool goes by."""
    return spec.name


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrieverStrategy:
    """Lets a model search through any retriever.

    The answer names each tool found with a line on what it does, and says how many more there are. Tools that the
    model already sees are named as available and take none of the `max_results` places. `max_tokens` bounds the
    answer, four characters counted as a token; tools that do not fit are not found. `name_of` gives the name that
    the model knows a tool by. `then` ends an answer that found something, such as by saying what to do next.

    Raises:
        InvalidInput: max_results or max_tokens is not positive.
    """

    retriever: Retriever
    tool: SearchTool = TOOL
    max_results: int = 5
    max_tokens: int = 1_000
    name_of: Callable[[ToolSpec], str] = own_name
    then: str = ""

    def __post_init__(self) -> None:
        for name, value in (("max_results", self.max_results), ("max_tokens", self.max_tokens)):
            if value < 1:
                raise InvalidInput(f"{name} is {value}; it must be 1 or more")

    def search_tools(self, context: Any = None) -> list[ToolSpec]:
        """The one search tool."""
        return [self.tool.spec()]

    async def search(self, request: ToolSearchRequest) -> ToolSearchResult:
        """The tools that fit the query.

        Raises:
            ToolExecutionError: the arguments are wrong, or the query is empty.
        """
        query = self.tool.text(request.arguments)
        if not query.strip():
            raise self.tool.error(f"Missing required tool argument '{self.tool.argument}'")
        answer = await asyncio.to_thread(self._answer, query, request)
        found, text = self._written(answer)
        return ToolSearchResult(found=tuple(hit.id for hit in found), text=text)

    def _answer(self, query: str, request: ToolSearchRequest) -> _Answer:
        view, seen = _with_visible(request.searchable, request.visible)
        try:
            result = self.retriever.search([query], view, self.max_results + len(seen) + MORE)
        except InvalidInput as error:
            raise ToolErrorForModel(str(error)) from error
        fresh = [hit for hit in result.hits if hit.id not in seen]
        hits = fresh[: self.max_results]
        last = hits[-1].score if len(hits) == self.max_results else float("-inf")
        best = result.hits[: self.max_results]
        available = tuple(hit for hit in best if hit.id in seen and hit.score >= last)
        return _Answer(tuple(hits), available, len(fresh) - len(hits), result)

    def _written(self, answer: _Answer) -> tuple[list[Hit], str]:
        """The hits that fit the budget, and the text."""
        lines: list[str] = []
        found: list[Hit] = []
        left = self.max_tokens * CHARACTERS
        for hit in answer.hits:
            line = f"- {self._line(hit.tool)}"
            left -= len(line) + 1
            if left < 0 and found:
                break
            found.append(hit)
            lines.append(line)
        return found, "\n".join([*self._head(answer, found), *lines, *self._foot(answer, found)])

    def _line(self, spec: ToolSpec) -> str:
        told = " ".join(spec.description.split())
        told = told if len(told) <= LINE else told[: LINE - 3].rstrip() + "..."
        return f"{self.name_of(spec)}: {told}" if told else self.name_of(spec)

    def _head(self, answer: _Answer, found: Sequence[Hit]) -> list[str]:
        lines: list[str] = []
        if answer.available:
            lines.append("Already available: " + ", ".join(self.name_of(hit.tool) for hit in answer.available))
        if found:
            doubt = " (none of them may fit)" if answer.result.band == "none" else ""
            lines.append(f"Tools found{doubt}:")
        elif not answer.available:
            lines.append("No matching tools found")
        return lines

    def _foot(self, answer: _Answer, found: Sequence[Hit]) -> list[str]:
        lines = [f"Note: {note}" for note in answer.result.notes]
        more = answer.more + len(answer.hits) - len(found)
        if more:
            count = f"{more} or more" if answer.more >= MORE else str(more)
            lines.append(f"{count} other tools match less well; search again in other words if none of these fits.")
        return [*lines, self.then] if self.then and (found or answer.available) else lines


def _with_visible(view: ToolView, visible: Sequence[ToolSpec]) -> tuple[ToolView, frozenset[str]]:
    """The view with its visible tools put back, and the ids of those that it has."""
    rows = {spec.id: view.corpus.row(spec.id) for spec in visible}
    back = {name: row for name, row in rows.items() if row is not None and row in view.excluded}
    return replace(view, excluded=view.excluded - frozenset(back.values())), frozenset(back)
