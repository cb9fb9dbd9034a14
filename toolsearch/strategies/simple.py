"""Word search by substrings, by the rules of LangChain4j's SimpleToolSearchStrategy."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from toolsearch.protocols import ToolSearchRequest, ToolSearchResult
from toolsearch.strategies.calls import SearchTool, check_results, found_text
from toolsearch.tool import ToolSpec

NAME_POINTS: Final = 2
DESCRIPTION_POINTS: Final = 1
_BLANKS = re.compile(r"[ \t\n\v\f\r]+")

TOOL: Final = SearchTool(
    description="Finds available tools whose name or description contains given search terms",
    argument="terms",
    argument_description="A list of individual search terms (single words) used to find relevant tools",
    many=True,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SimpleStrategy:
    """Counts the words that a tool's name (2 points each) and description (1 point each) contain.

    Words are parted by blanks, in lower case, each once; a part of a longer word matches too. Tools with at least
    `min_score` points are found, at most `max_results`, the best first, ties in catalog order.

    Raises:
        InvalidInput: max_results is not positive.
    """

    tool: SearchTool = TOOL
    max_results: int = 5
    min_score: int = 1
    result_text: Callable[[Sequence[ToolSpec]], str] = field(default=found_text)

    def __post_init__(self) -> None:
        check_results(self.max_results)

    def search_tools(self, context: Any = None) -> list[ToolSpec]:
        """The one search tool."""
        return [self.tool.spec()]

    async def search(self, request: ToolSearchRequest) -> ToolSearchResult:
        """The tools whose texts contain the terms.

        Raises:
            ToolExecutionError: the arguments are wrong (see SearchTool).
        """
        wanted = search_words(self.tool.terms(request.arguments))
        scored = ((simple_score(spec, wanted), spec) for spec in request.searchable)
        fitting = [pair for pair in scored if pair[0] >= self.min_score]
        found = [spec for _, spec in sorted(fitting, key=_points, reverse=True)[: self.max_results]]
        return ToolSearchResult(found=tuple(spec.id for spec in found), text=self.result_text(found))


def _points(pair: tuple[int, ToolSpec]) -> int:
    return pair[0]


def search_words(terms: Iterable[str]) -> list[str]:
    """The distinct words of the terms in lower case, in order."""
    return list(dict.fromkeys(word for term in terms for word in _words(term)))


def _words(term: str) -> Iterator[str]:
    return (word.lower() for word in _BLANKS.split(term) if word)


def simple_score(spec: ToolSpec, wanted: Sequence[str]) -> int:
    """Points of one tool for words in lower case."""
    name, description = spec.name.lower(), spec.description.lower()
    return sum(NAME_POINTS * (word in name) + DESCRIPTION_POINTS * (word in description) for word in wanted)
