"""Search by similarity of vectors, by the rules of LangChain4j's VectorToolSearchStrategy."""

from __future__ import annotations

import asyncio
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from toolsearch.errors import InvalidInput
from toolsearch.products import products
from toolsearch.protocols import Encoder, ToolSearchRequest, ToolSearchResult
from toolsearch.strategies.calls import SearchTool, check_results, found_text
from toolsearch.tool import ToolSpec

if TYPE_CHECKING:
    from toolsearch.protocols import Floats

MAX_CACHED: Final = 50_000
"""Texts whose vectors a strategy keeps."""

TOOL: Final = SearchTool(
    description="Finds available tools using semantic vector search",
    argument="query",
    argument_description="Natural language query describing desired tool",
)


def tool_text(spec: ToolSpec) -> str:
    """The text that stands for a tool: "name: description", or the name alone."""
    return f"{spec.name}: {spec.description}" if spec.description.strip() else spec.name


class VectorCache:
    """Vectors by text, the least recently used out first; safe under threads."""

    def __init__(self, size: int = MAX_CACHED) -> None:
        self._size = size
        self._vectors: OrderedDict[str, Floats] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, texts: Sequence[str], encode: Callable[[list[str]], Floats]) -> Floats:
        """Vectors of the texts; those that are missing are encoded in one call, each once."""
        with self._lock:
            known = {text: self._vectors[text] for text in texts if text in self._vectors}
        missing = [text for text in dict.fromkeys(texts) if text not in known]
        if missing:
            known.update(zip(missing, encode(missing), strict=True))
        with self._lock:
            for text in texts:
                self._vectors[text] = known[text]
                self._vectors.move_to_end(text)
            while len(self._vectors) > self._size:
                self._vectors.popitem(last=False)
        return np.stack([known[text] for text in texts])

    def clear(self) -> None:
        """Forget all vectors."""
        with self._lock:
            self._vectors.clear()


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorStrategy:
    """Compares the request's vector with the vector of each tool's text.

    A tool's score is (cosine + 1) / 2; those with `min_score` or more are found, at most `max_results`, the best
    first, ties in catalog order. Vectors of tools are kept unless `cache_embeddings` is off; a request's never is.
    The request and the tools' texts that are not kept are encoded in one call each, for an encoder may treat the
    two differently.

    Raises:
        InvalidInput: max_results is not positive.
    """

    encoder: Encoder
    tool: SearchTool = TOOL
    max_results: int = 5
    min_score: float = 0.0
    cache_embeddings: bool = True
    format: Callable[[ToolSpec], str] = tool_text
    result_text: Callable[[Sequence[ToolSpec]], str] = found_text
    cache: VectorCache = field(default_factory=VectorCache)

    def __post_init__(self) -> None:
        check_results(self.max_results)

    def search_tools(self, context: Any = None) -> list[ToolSpec]:
        """The one search tool."""
        return [self.tool.spec()]

    async def search(self, request: ToolSearchRequest) -> ToolSearchResult:
        """The tools most similar to the query.

        Raises:
            ToolExecutionError: the arguments are wrong (see SearchTool).
            EncoderFailed: the texts could not be encoded.
        """
        query = self.tool.text(request.arguments)
        specs = list(request.searchable)
        found = [specs[place] for place in await asyncio.to_thread(self._ranked, query, specs)]
        return ToolSearchResult(found=tuple(spec.id for spec in found), text=self.result_text(found))

    def clear_embeddings_cache(self) -> None:
        """Forget the vectors of all tools.

        Raises:
            InvalidInput: vectors are not kept.
        """
        if not self.cache_embeddings:
            raise InvalidInput("Not caching embeddings, nothing to clear")
        self.cache.clear()

    def _ranked(self, query: str, specs: Sequence[ToolSpec]) -> list[int]:
        """Places of the best tools."""
        asked = self.encoder.encode([query], "query")[0]
        if not specs:
            return []
        texts = [self.format(spec) for spec in specs]
        vectors = self.cache.get(texts, self._encode) if self.cache_embeddings else self._encode(texts)
        relevance = (products(vectors, asked) + 1) / 2
        order = np.argsort(-relevance, kind="stable")
        return [int(place) for place in order if relevance[place] >= self.min_score][: self.max_results]

    def _encode(self, texts: list[str]) -> Floats:
        return self.encoder.encode(texts, "tool")
