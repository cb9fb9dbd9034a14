"""Which found tools are visible: a fold over the conversation's window, never a second ledger."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from toolsearch.agent.exposing import exposed
from toolsearch.conversation import AssistantMessage, Message, found_in


@dataclass(slots=True)
class Found:
    """Tools found so far, in the order found; `used` tells when each was last found or called.

    Above `limit` the least recently used half leaves in one step, so that the list rarely changes.
    Tools in `kept` came otherwise and never leave; they do not count.
    """

    limit: int
    order: list[str] = field(default_factory=list[str])
    used: dict[str, int] = field(default_factory=dict[str, int])
    kept: set[str] = field(default_factory=set[str])
    clock: int = 0

    def take(self, message: Message) -> None:
        """What one message finds or calls."""
        if isinstance(message, AssistantMessage):
            names = {exposed(tool_id): tool_id for tool_id in self.order}
            for call in message.calls:
                if call.name in names:
                    self._touch(names[call.name])
        self.find(found_in(message))

    def find(self, tool_ids: Iterable[str]) -> None:
        """Tools found by one search."""
        for tool_id in tool_ids:
            if tool_id not in self.used and tool_id not in self.kept:
                self.order.append(tool_id)
            self._touch(tool_id)
        self.shrink()

    def keep(self, tool_ids: Iterable[str]) -> None:
        """Tools that are visible without a search, from now on to the end of the run."""
        for tool_id in tool_ids:
            self.kept.add(tool_id)
            if tool_id not in self.order:
                self.order.append(tool_id)

    def _touch(self, tool_id: str) -> None:
        self.clock += 1
        if tool_id not in self.kept:
            self.used[tool_id] = self.clock

    def shrink(self) -> None:
        """Let the least recently used half go, until no more than `limit` are left."""
        while len(self.used) > max(0, self.limit):
            oldest = sorted(self.used, key=self.used.__getitem__)[: max(1, len(self.used) // 2)]
            for tool_id in oldest:
                del self.used[tool_id]
            self.order = [one for one in self.order if one in self.used or one in self.kept]
