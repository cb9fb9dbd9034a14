"""The state of one run: its window, the tools found, what was counted. Plain values, no waiting."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from toolsearch.agent.approval import NeedsApproval, never
from toolsearch.agent.choosing import most_tools
from toolsearch.agent.compensation import Compensators
from toolsearch.agent.context import InvocationContext
from toolsearch.agent.entries import Entry
from toolsearch.agent.limits import Limits
from toolsearch.agent.memory import ChatMemory
from toolsearch.agent.planning import Planner
from toolsearch.agent.records import RunResult, ToolExecution
from toolsearch.agent.results import fitting
from toolsearch.agent.showing import SHOWINGS, Shown
from toolsearch.agent.toolbox import Toolbox
from toolsearch.agent.visible import Found
from toolsearch.chat import ChatOptions, ChatRequest, Features
from toolsearch.conversation import Message, Part, SystemMessage, ToolResult, Usage, UserMessage, found_in
from toolsearch.tool import ToolSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What stays the same for a whole run.

    `search` are the search tools, by the name they are called by; `expose` makes a tool fit for the provider.
    `system` is the whole system message. `show` is inline, native or proxy, or whole when nothing is searched.
    """

    context: InvocationContext
    features: Features
    limits: Limits
    expose: Callable[[ToolSpec], ToolSpec]
    system: str = ""
    show: str = "inline"
    search: Mapping[str, ToolSpec] = field(default_factory=dict[str, ToolSpec])
    memory: ChatMemory | None = None
    options: ChatOptions = field(default_factory=ChatOptions)
    needs_approval: NeedsApproval = never
    compensators: Compensators | None = None


@dataclass(slots=True, kw_only=True)
class Run:
    """One run. `window` is what is remembered now; `gone` names what left it, so that a store can follow.

    `forced` is the id of a tool that the model must call first, so it is visible from the start.
    """

    settings: Settings
    planner: Planner
    window: list[Entry]
    found: Found
    toolbox: Toolbox = field(default_factory=Toolbox)
    question: tuple[str, int] | None = None
    forced: str = ""
    gone: set[tuple[str, int]] = field(default_factory=set[tuple[str, int]])
    numbers: int = 0
    rounds: int = 0
    asked: int = 0
    usage: Usage = field(default_factory=Usage)
    executions: list[ToolExecution] = field(default_factory=list[ToolExecution])
    compensated: set[str] = field(default_factory=set[str])
    cut: str = ""
    """Id of the call in which the model's last answer was cut off."""
    fresh: list[ToolResult] = field(default_factory=list[ToolResult])
    """Results of the last round, whose finds are not yet among the found tools."""

    @property
    def memory_id(self) -> str:
        """The conversation's id."""
        return self.settings.context.memory_id or ""

    def entry(self, message: Message) -> Entry:
        """A new entry of this run."""
        self.numbers += 1
        return Entry(self.settings.context.run_id, self.numbers, message)

    def enter(self, toolbox: Toolbox) -> None:
        """Go on with these tools. Those that are always visible leave less room for found ones."""
        self.toolbox = toolbox
        limit = most_tools(self.settings.limits, self.settings.features)
        fixed = sum(1 for _ in toolbox.pinned()) + len(self.settings.search) + len(toolbox.dynamic)
        self.found.limit = limit - fixed
        self.found.keep(toolbox.dynamic)
        self.found.shrink()

    def take_fresh(self) -> None:
        """Make visible what the last round found."""
        for one in self.fresh:
            self.found.find(found_in(one))
        self.fresh = []

    def own(self) -> list[Entry]:
        """What this run wrote and still remembers."""
        return [one for one in self.window if one.run == self.settings.context.run_id]

    def evict(self) -> tuple[Message, ...]:
        """Let the oldest messages go when there are too many; gives those that left."""
        if self.settings.memory is None:
            return ()
        done = self.settings.memory.window(self.memory_id, self.settings.system, self.window)
        self.window = list(done.kept)
        self.gone.update(entry.key for entry in done.dropped)
        return tuple(entry.message for entry in done.dropped)

    def visible(self) -> list[ToolSpec]:
        """Tools of the next request besides search tools, as they are: always visible ones first, then as they came."""
        pinned = self._pinned()
        known = {spec.id for spec in pinned}
        came = (self.toolbox.get(tool_id) for tool_id in self.found.order if tool_id not in known)
        return [*pinned, *(spec for spec in came if spec is not None)]

    def request(self) -> ChatRequest:
        """The next request.

        Raises:
            UnsupportedContent: the question holds something that the model cannot take.
        """
        expose = self.settings.expose
        visible = self.visible()
        pinned = {spec.id for spec in self._pinned()}
        show = SHOWINGS["inline" if self.settings.show == "whole" else self.settings.show]
        return show(
            Shown(
                messages=tuple(self._messages()),
                pinned=[expose(spec) for spec in visible if spec.id in pinned],
                search=[expose(spec) for spec in self.settings.search.values()],
                found=[expose(spec) for spec in visible if spec.id not in pinned],
                options=self._options(),
            )
        )

    def result(self, content: str | None, finish: str) -> RunResult:
        """The result as things stand."""
        request = self.request()
        return RunResult(
            content=content,
            finish=finish,
            tool_executions=tuple(self.executions),
            usage=self.usage,
            visible_tools=tuple(spec.name for spec in (*request.tools, *request.deferred)),
            messages=tuple(entry.message for entry in self.window),
            rounds=self.rounds,
        )

    def _pinned(self) -> list[ToolSpec]:
        return list(self.toolbox.all() if self.settings.show == "whole" else self.toolbox.pinned())

    def _options(self) -> ChatOptions:
        """A forced choice holds for the first request only."""
        options = self.settings.options
        return (
            options
            if not self.asked or options.tool_choice in (None, "auto", "none")
            else replace(options, tool_choice=None)
        )

    def _messages(self) -> list[Message]:
        """The window as it is sent: the question is always there, in its augmented form."""
        context = self.settings.context
        found: list[Message] = [SystemMessage(self.settings.system)] if self.settings.system else []
        if self.question and all(entry.key != self.question for entry in self.window):
            found.append(self._fitted(context.augmented, mark=False))
        for entry in self.window:
            own = entry.key == self.question
            found.append(self._fitted(context.augmented if own else entry.message, mark=not own))
        return found

    def _fitted(self, message: Message, *, mark: bool) -> Message:
        features = self.settings.features
        if isinstance(message, UserMessage):
            content = fitting(message.content, features.media, mark=mark, model="this model")
            return UserMessage(content, summary=message.summary)
        if isinstance(message, ToolResult):
            content = fitting(message.content, features.result_media, mark=True, model="this model")
            return _with_content(message, content)
        return message


def _with_content(message: ToolResult, content: tuple[Part, ...]) -> ToolResult:
    if content == message.content:
        return message
    return ToolResult(message.call_id, message.name, content, is_error=message.is_error, attributes=message.attributes)
