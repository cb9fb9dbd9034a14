"""Finds tools for a caller: by a need, by the name it was told, and names that are near.

All of it goes through the caller's view, so a tool that the caller may not see is the same as one that is not there.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from toolsearch.agent.exposing import exposed, name_of
from toolsearch.errors import ToolErrorForModel
from toolsearch.index.tool_index import ToolIndex
from toolsearch.mcp.calling import Caller
from toolsearch.mcp.summary import summary
from toolsearch.protocols import SearchResult
from toolsearch.tool import ToolSpec

MORE: Final = 20
"""How many tools beyond those returned are counted."""
NEAR: Final = 3
MAX_NAME: Final = 1_000
SUMMARIES: Final = 64
_HASHED: Final = re.compile(r".*_[0-9a-f]{10}")


@dataclass(frozen=True, slots=True)
class _Names:
    corpus: Any
    table: dict[str, str]


class Finder:
    """Searches one index. Its methods block."""

    def __init__(self, index: ToolIndex) -> None:
        self._index = index
        self._names = _Names(None, {})
        self._summaries: dict[tuple[Any, frozenset[str] | None], str] = {}

    def search(self, need: str, k: int, caller: Caller) -> SearchResult:
        """Tools for a need, k and MORE of them. What only concerns the index's operator is left out of its notes.

        Raises:
            InvalidInput: the need is blank.
        """
        return self._index.retriever().search([need], self._index.view(caller=caller.groups), k + MORE)

    def tool(self, name: str, caller: Caller) -> ToolSpec:
        """The tool with this name, as it was told or by its id.

        Raises:
            ToolErrorForModel: this caller can find none; the text names tools that are near.
        """
        view = self._index.view(caller=caller.groups)
        for tool_id in self._ids(name):
            spec = view.get(tool_id)
            if spec is not None:
                return spec
        near = self.near(name, caller)
        hint = f"; near are {', '.join(near)}" if near else "; find tools with search_tools"
        raise ToolErrorForModel(f"there is no tool {name[:120]!r} here{hint}")

    def near(self, name: str, caller: Caller) -> list[str]:
        """Names of tools that this caller might mean."""
        words = " ".join(re.findall(r"\w+", name[:200]))
        if not words:
            return []
        found = self._index.search(words, k=NEAR, strategy="lexical", caller=caller.groups)
        return [name_of(hit.tool) for hit in found]

    def summary(self, caller: Caller, places: Sequence[str]) -> str:
        """What this caller may find here, in a few words; `places` are named even if there is nothing yet."""
        view = self._index.view(caller=caller.groups)
        key = (view.corpus, caller.groups)
        if key not in self._summaries:
            kept = [(one, told) for one, told in self._summaries.items() if one[0] is view.corpus][: SUMMARIES - 1]
            self._summaries = {**dict(kept), key: summary(view, places)}
        return self._summaries[key]

    def _ids(self, name: str) -> list[str]:
        if len(name) > MAX_NAME:
            return []
        plain = name.replace("__", "/")
        ids = [name, plain] if exposed(plain) == name else [name]
        if _HASHED.fullmatch(name):
            ids += [one for one in [self._altered(name)] if one is not None]
        return ids

    def _altered(self, name: str) -> str | None:
        """The id behind a name that had to be altered, of all tools: what a caller may use is looked at afterwards.

        A name never changes its id, so what was read once is kept; each generation is read at most once.
        """
        view = self._index.view()
        if name not in self._names.table and self._names.corpus is not view.corpus:
            altered = {exposed(spec.id): spec.id for spec in view}
            self._names = _Names(view.corpus, {told: one for told, one in altered.items() if _HASHED.fullmatch(told)})
        return self._names.table.get(name)
