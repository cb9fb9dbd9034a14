"""Answering a call of a search tool: what was found, checked against what the caller has."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from toolsearch.agent.exposing import name_of
from toolsearch.agent.planning import Planned
from toolsearch.agent.toolbox import Toolbox
from toolsearch.conversation import FOUND_TOOLS, ToolResult
from toolsearch.protocols import ToolSearchRequest, ToolSearchResult, ToolSearchStrategy
from toolsearch.tool import ToolSpec

CHARACTERS: Final = 4
"""Characters that are taken for one token."""
MAX_NAMES: Final = 10
_log = logging.getLogger("toolsearch.agent")


@dataclass(frozen=True, slots=True, kw_only=True)
class Searching:
    """One search: the strategy, what there is, and what the model sees already."""

    strategy: ToolSearchStrategy
    toolbox: Toolbox
    visible: Sequence[ToolSpec]
    tokens: int | None
    expose: Callable[[ToolSpec], ToolSpec]

    async def answer(self, planned: Planned, context: object) -> tuple[ToolSearchResult, ToolResult]:
        """The strategy's own result, and what the model gets: its text, and notes on what became of the tools.

        Raises:
            ToolExecutionError: the strategy cannot answer.
        """
        hidden = {spec.id for spec in self.visible}
        request = ToolSearchRequest(
            tool_name=planned.spec.name if planned.spec else planned.call.name,
            arguments=planned.raw,
            searchable=self.toolbox.searchable(hidden),
            visible=self.visible,
            context=context,
        )
        result = await self.strategy.search(request)
        specs, notes = self._known(result.found)
        fitting, more = self._within(specs, hidden)
        notes += more + self._renamed(fitting)
        attributes = {**result.attributes, FOUND_TOOLS: [spec.id for spec in fitting]}
        text = "\n".join([result.text, *notes])
        return result, ToolResult.for_call(planned.call, text, attributes=attributes)

    def _known(self, found: Sequence[str]) -> tuple[list[ToolSpec], list[str]]:
        specs: list[ToolSpec] = []
        missing: list[str] = []
        for tool_id in dict.fromkeys(found):
            spec = self.toolbox.get(tool_id)
            if spec is None:
                missing.append(tool_id)
            else:
                specs.append(spec)
        if missing:
            _log.warning("a search found tools that do not exist: %s", ", ".join(missing[:MAX_NAMES])[:500])
            return specs, [f"Not available: {_listed(missing)}"]
        return specs, []

    def _within(self, specs: Sequence[ToolSpec], seen: set[str]) -> tuple[list[ToolSpec], list[str]]:
        """The first tools whose definitions fit the budget of one search, at least one."""
        if self.tokens is None:
            return list(specs), []
        kept: list[ToolSpec] = []
        left, out = self.tokens * CHARACTERS, list[str]()
        for spec in specs:
            cost = 0 if spec.id in seen else _size(self.expose(spec))
            if out or (cost > left and kept):
                out.append(name_of(spec))
            else:
                left -= cost
                kept.append(spec)
        return kept, [f"Not loaded, for their definitions are long: {_listed(out)}"] if out else []

    def _renamed(self, specs: Sequence[ToolSpec]) -> list[str]:
        """How tools are called whose name the strategy's text cannot have known."""
        other = [f"{spec.name} as {name_of(spec)}" for spec in specs if name_of(spec) != spec.name]
        told = other and not getattr(self.strategy, "name_of", None)
        return [f"Call {_listed(other)}"] if told else []


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - MAX_NAMES} more" if len(names) > MAX_NAMES else ""
    return ", ".join(name[:100] for name in names[:MAX_NAMES]) + more


def _size(spec: ToolSpec) -> int:
    return len(spec.name) + len(spec.description) + len(json.dumps(spec.parameters, ensure_ascii=False))
