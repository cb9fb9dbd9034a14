"""The toolbox of a run: what the agent has, what providers give, and what this caller may see of it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field

from toolsearch.agent.assembly import Assembly, add, tools_of
from toolsearch.agent.context import InvocationContext
from toolsearch.agent.exposing import name_of
from toolsearch.agent.providers import ProviderRequest
from toolsearch.agent.toolbox import Library, Shelf, Toolbox, allowed_to
from toolsearch.conversation import Message
from toolsearch.errors import InvalidTool
from toolsearch.protocols import Encoder
from toolsearch.strategies.corpus import pinned
from toolsearch.tool import Executor, Tool, ToolSpec

Runner = Callable[[Library, ToolSpec], Executor | None]


def shelf(library: Library, caller: frozenset[str] | None, always_visible: Iterable[str]) -> Shelf:
    """A library as a caller sees it now: marked tools are always visible, and those with these ids."""
    own = library.view(caller=caller)
    corpus = own.corpus
    named = (corpus.row(tool_id) for tool_id in always_visible)
    rows = dict.fromkeys([*pinned(corpus), *(row for row in named if row is not None)])
    return Shelf(library, own, tuple(corpus.tool(row) for row in rows if own.holds(row)))


def check_pinned(library: Library, always_visible: Iterable[str], runner: Runner) -> None:
    """Refuse a library with an always visible tool that nothing runs.

    Raises:
        InvalidTool: it names the tool.
        InvalidSource: the tool's source names something that may not run.
    """
    for spec in shelf(library, None, always_visible).pinned:
        if library.executor(spec.id) is None and runner(library, spec) is None:
            raise InvalidTool(f"tool {spec.id[:200]!r} is always visible and has nothing that runs it")


@dataclass(slots=True, kw_only=True)
class Supply:
    """Gives the toolbox of one run, anew for every request; the caller's groups are looked at each time.

    Dynamic tools whose name is `taken`, such as by the search tool, are ignored, as those whose id is.
    """

    assembly: Assembly
    context: InvocationContext
    always_visible: Collection[str]
    encoder: Callable[[], Encoder | None]
    runner: Runner
    taken: Collection[str] = ()
    fixed: dict[str, Tool] = field(default_factory=dict[str, Tool])
    dynamic: dict[str, Tool] = field(default_factory=dict[str, Tool])

    async def start(self, messages: Iterable[Message]) -> None:
        """Ask the providers that are asked once.

        Raises:
            DuplicateTool: a provider's tool has the id of another one.
        """
        self.fixed = dict(self.assembly.fixed)
        for provider in self.assembly.providers:
            if not provider.dynamic:
                given = await provider.provide(self._asking(messages))
                for one in given or ():
                    add(self.fixed, tools_of(one))
        self.current().check()

    async def refreshed(self, messages: Iterable[Message]) -> Toolbox:
        """Ask the dynamic providers; what they gave before in this run stays."""
        for provider in self.assembly.providers:
            if provider.dynamic:
                given = await provider.provide(self._asking(messages))
                for tool in (tool for one in given or () for tool in tools_of(one)):
                    if tool.spec.id not in self.fixed and name_of(tool.spec) not in self.taken:
                        self.dynamic.setdefault(tool.spec.id, tool)
        return self.current()

    def _asking(self, messages: Iterable[Message]) -> ProviderRequest:
        return ProviderRequest(context=self.context, messages=list(messages), runner=self.runner)

    def current(self) -> Toolbox:
        """The tools as they are now, without asking a provider."""
        caller = self.context.caller
        return Toolbox(
            fixed={key: one for key, one in self.fixed.items() if allowed_to(one.spec, caller)},
            dynamic={key: one for key, one in self.dynamic.items() if allowed_to(one.spec, caller)},
            shelves=[shelf(library, caller, self.always_visible) for library in self.assembly.libraries],
            encoder=self.encoder,
            runner=self.runner,
        )
