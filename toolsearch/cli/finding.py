"""A tool by the id that somebody typed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from toolsearch.errors import InvalidInput

if TYPE_CHECKING:
    from toolsearch import ToolIndex
    from toolsearch.tool import ToolSpec


def known_tool(index: ToolIndex, tool_id: str, caller: Iterable[str] | None) -> ToolSpec:
    """The tool with this id.

    Raises:
        InvalidInput: this caller sees none; the text names ids that are near.
    """
    spec = index.get(tool_id, caller)
    if spec is not None:
        return spec
    near = index.search(tool_id, k=3, strategy="lexical", caller=caller).ids if tool_id.strip() else []
    hint = f"; near are {', '.join(one[:100] for one in near)}" if near else "; find ids with: toolsearch search"
    raise InvalidInput(f"there is no tool {tool_id[:200]!r} here{hint}")
