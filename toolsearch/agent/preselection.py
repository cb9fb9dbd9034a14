"""The fitting tools in the very first request, without a search: a provider that selects from another one.

Follows LangChain4j's DecisionModelFilteringToolProvider; selecting by a retriever, selecting from a whole index, and
keeping what was selected with the conversation are ours.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, cast

from toolsearch.agent.assembly import tools_of
from toolsearch.agent.exposing import name_of
from toolsearch.agent.providers import ProviderRequest, ToolProvider
from toolsearch.agent.recent import Said, needs_of, recent, state_of
from toolsearch.agent.toolbox import Library, allowed_to
from toolsearch.conversation import PRESELECTED, AssistantMessage, preselected_in
from toolsearch.encoders.opening import open_encoder
from toolsearch.errors import InvalidInput, ToolSearchError
from toolsearch.protocols import Encoder, Retriever, ToolView
from toolsearch.questions import DecisionModel
from toolsearch.strategies.corpus import pinned, view
from toolsearch.strategies.deciding import TEMPLATE, Asking, chosen, judge
from toolsearch.strategies.retrievers import open_retriever
from toolsearch.strategies.small import small_corpus
from toolsearch.text import name_key
from toolsearch.tool import SearchBehavior, Tool, ToolSpec

Chooser = DecisionModel | Retriever | str
"""Who selects: a judge, a retriever, or a retriever's name."""
FOUND: Final = 10
"""Tools that a retriever selects when nothing else is said; it has no probability to go by."""
_log = logging.getLogger("toolsearch.agent")


@dataclass(kw_only=True)
class PreselectingToolProvider:
    """Gives those of a provider's tools, or of an index's, that fit what was said last; they are always visible.

    Always given, without being asked about: `always_include` (names or ids), tools that are always visible, tools
    called earlier in the conversation, and those selected for its earlier messages. The last come first and in their
    old order, so that the start of the list stays as it was; the others keep the provider's order.

    Attributes:
        tools: a provider, or an index; of an index only the `shortlist` best are looked at.
        chooser: a decision model, a retriever, or the name of one.
        max_results: most tools selected for one message; None is all that are likely enough, or 10 by a retriever.
        min_probability: what a judge must give a tool, inclusive.
        max_messages: how many of the last texts are looked at, the question among them.
        on_failure: when the chooser fails, give "all" tools (the shortlist of an index), "none" but those that are
            always given, or raise the "error".
        encoder: makes a provider's tools searchable by meaning; "" or None leaves it to words.
        failed: is told when the chooser failed and its error is not raised.
        retriever: finds the shortlist of an index for a judge; a retriever, or the name of one.
        thread: runs what computes where the event loop does not wait for it.
    """

    tools: ToolProvider | Library
    chooser: Chooser = "hybrid"
    max_results: int | None = None
    min_probability: float = 0.5
    batch: int | None = None
    template: str = TEMPLATE
    always_include: Collection[str] = ()
    max_messages: int = 3
    on_failure: Literal["all", "none", "error"] = "all"
    shortlist: int = 50
    encoder: Encoder | str | None = "builtin"
    failed: Callable[[ToolSearchError], object] | None = None
    retriever: Retriever | str = "hybrid"
    thread: Callable[[Callable[[], Any]], Awaitable[Any]] = asyncio.to_thread

    def __post_init__(self) -> None:
        """Check the settings.

        Raises:
            InvalidInput: there is no provider, or a setting is out of range.
        """
        given = cast("object", self.tools)
        if not isinstance(given, ToolProvider | Library):
            raise InvalidInput(f"tools must be a provider or an index, not {type(given).__name__}")
        for name in ("max_messages", "max_results", "shortlist"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise InvalidInput(f"{name} is {value}; it must be 1 or more")
        if not 0 <= self.min_probability <= 1:
            raise InvalidInput(f"min_probability is {self.min_probability}; it must be from 0 to 1")
        if self.on_failure not in ("all", "none", "error"):
            raise InvalidInput(f"on_failure is {self.on_failure!r:.40}; it must be all, none or error")
        self._asking = Asking(template=self.template, batch=self.batch)
        if isinstance(self.chooser, str):
            self.chooser = open_retriever(self.chooser)
        if isinstance(self.retriever, str):
            self.retriever = open_retriever(self.retriever)

    @property
    def dynamic(self) -> bool:
        """As the provider that it selects from; an index is asked once a run."""
        return bool(getattr(self.tools, "dynamic", False))

    async def provide(self, request: ProviderRequest) -> Iterable[Tool] | None:
        """The tools that fit; None when the provider gives none.

        Raises:
            ToolSearchError: the chooser failed, and `on_failure` is error.
        """
        said = recent(request, self.max_messages)
        before = earlier(request)
        offered = await self._offered(request, said, before)
        if not offered:
            return None
        if not said:
            return await self._shown(offered.values(), request)
        given = {tool_id for tool_id, tool in offered.items() if self._always(tool.spec, before, request)}
        candidates = [tool.spec for tool_id, tool in offered.items() if tool_id not in given]
        settled = not self.dynamic and PRESELECTED in request.context.message.attributes
        selected = () if settled or not candidates else await self._selected(candidates, said)
        if selected is None:
            return await self._shown(offered.values(), request)
        wanted = given | set(selected)
        added = [spec.id for spec in candidates if spec.id in wanted]
        kept = (*preselected_in(request.context.message), *added)
        request.context.message.attributes[PRESELECTED] = list(dict.fromkeys(kept))
        order = dict.fromkeys([*(one for one in before if one in offered), *offered])
        return await self._shown([offered[tool_id] for tool_id in order if tool_id in wanted], request)

    async def _shown(self, given: Iterable[Tool], request: ProviderRequest) -> list[Tool]:
        """Tools that are shown from the first request on, whether or not there is a search as well."""
        library = self.tools
        if isinstance(library, Library):
            given = await self.thread(lambda: [_runnable(library, tool.spec, request) for tool in given])
        shown = SearchBehavior.ALWAYS_VISIBLE
        return [Tool(tool.spec.with_(search=shown, id=tool.spec.id), tool.execute) for tool in given]

    async def _offered(self, request: ProviderRequest, said: Sequence[Said], before: Sequence[str]) -> dict[str, Tool]:
        """Tools by id that this caller may see, in the provider's order."""
        library = self.tools
        if isinstance(library, Library):
            return await self.thread(lambda: self._of_library(library, request, said, before))
        given = await library.provide(request)
        tools = [tool for one in given or () for tool in tools_of(one)]
        return {tool.spec.id: tool for tool in tools if allowed_to(tool.spec, request.context.caller)}

    def _of_library(
        self, library: Library, request: ProviderRequest, said: Sequence[Said], before: Sequence[str]
    ) -> dict[str, Tool]:
        """The shortlist of an index, and what is always given from it."""
        own = library.view(caller=request.context.caller)
        kept = [spec for one in (*before, *self.always_include) if (spec := own.get(one))]
        names = (*(one for one in self.always_include if own.get(one) is None), *called(request))
        rows = [*pinned(own.corpus), *(row for name in names for row in _rows_called(own, name))]
        kept += [own.corpus.tool(row) for row in rows if own.holds(row)]
        retriever = cast("Retriever", self.retriever if _is_judge(self.chooser) else self.chooser)
        most = self.shortlist if _is_judge(self.chooser) else self.max_results or FOUND
        found = [hit.tool for hit in retriever.search(needs_of(said), own, most)] if said else []
        return {spec.id: Tool(spec) for spec in (*kept, *found)}

    def _always(self, spec: ToolSpec, before: Sequence[str], request: ProviderRequest) -> bool:
        named = spec.name in self.always_include or spec.id in self.always_include
        shown = spec.search is SearchBehavior.ALWAYS_VISIBLE or spec.id in before
        return named or shown or bool({spec.name, name_of(spec)} & called(request).keys())

    async def _selected(self, candidates: Sequence[ToolSpec], said: Sequence[Said]) -> Sequence[str] | None:
        """Ids of those that fit; None when all are given because the chooser failed."""
        try:
            if _is_judge(self.chooser):
                judged, _ = await judge(
                    cast("DecisionModel", self.chooser), state_of(said, self.max_messages), candidates, self._asking
                )
                return [one.tool.id for one in chosen(judged, self.min_probability, self.max_results)]
            if isinstance(self.tools, Library):
                return [spec.id for spec in candidates]
            return await self.thread(lambda: self._found(candidates, said))
        except ToolSearchError as error:
            if self.on_failure == "error":
                raise
            _log.warning("selecting tools failed, %s are given: %.300s", self.on_failure, error)
            if self.failed:
                self.failed(error)
            return None if self.on_failure == "all" else ()

    def _found(self, candidates: Sequence[ToolSpec], said: Sequence[Said]) -> list[str]:
        most = self.max_results or FOUND
        return cast("Retriever", self.chooser).search(needs_of(said), self._view(candidates), most).ids

    def _view(self, candidates: Sequence[ToolSpec]) -> ToolView:
        if isinstance(self.encoder, str):
            self.encoder = open_encoder(self.encoder) if self.encoder else None
        return view(small_corpus(candidates, self.encoder))


def earlier(request: ProviderRequest) -> list[str]:
    """Ids selected for the messages of the conversation so far, the current one too, in the order selected."""
    messages = (*request.messages, request.context.message)
    return list(dict.fromkeys(tool_id for message in messages for tool_id in preselected_in(message)))


def called(request: ProviderRequest) -> dict[str, None]:
    """Names of all tools that the model called in the conversation so far, in the order of their first calls."""
    messages = [one for one in request.messages if isinstance(one, AssistantMessage)]
    return dict.fromkeys(call.name for message in messages for call in message.calls)


def _rows_called(own: ToolView, name: str) -> list[int]:
    """Rows of the tool that a model knows by a name, which may end in a mark for what was altered in it."""
    keys = dict.fromkeys(name_key(text) for text in (name, name.rpartition("_")[0]))
    rows = [row for key in keys if key for row in own.corpus.named(key)]
    return [row for row in rows if name in (name_of(own.corpus.tool(row)), own.corpus.tool(row).name)]


def _is_judge(chooser: Chooser) -> bool:
    return hasattr(chooser, "decide")


def _runnable(library: Library, spec: ToolSpec, request: ProviderRequest) -> Tool:
    return Tool(spec, library.executor(spec.id) or request.runner(library, spec))
