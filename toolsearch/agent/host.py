"""The agent: a model, its tools, a memory; runs the loop and waits where there is waiting."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Collection, Iterable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import KW_ONLY, dataclass, field
from typing import TYPE_CHECKING, Any, Self

from toolsearch.agent.approval import Decision, NeedsApproval
from toolsearch.agent.assembly import Assembly, assembled, check_search_names
from toolsearch.agent.choosing import HINT, Search, strategy_for
from toolsearch.agent.context import InvocationContext, Parameters
from toolsearch.agent.driver import Emit, tell
from toolsearch.agent.edge import finished
from toolsearch.agent.events import Event, Hook
from toolsearch.agent.exposing import Exposer
from toolsearch.agent.handlers import Handlers
from toolsearch.agent.limits import HiddenCalls, Limits
from toolsearch.agent.memory import ChatMemory
from toolsearch.agent.planning import UnknownTool
from toolsearch.agent.preparing import Request, Resumption, new_context, prepared, resumed
from toolsearch.agent.records import RunResult
from toolsearch.agent.showing import Show, chosen
from toolsearch.agent.sourced import Sourced
from toolsearch.agent.streaming import events_of
from toolsearch.agent.supply import check_pinned
from toolsearch.agent.threads import Workers
from toolsearch.chat import ChatModel, ChatOptions
from toolsearch.conversation import Content, UserMessage
from toolsearch.errors import InvalidInput
from toolsearch.protocols import Encoder

if TYPE_CHECKING:
    from toolsearch.llm.model import Model

Augment = Callable[[UserMessage, InvocationContext], Any]
Options = ChatOptions | None


@dataclass(slots=True, eq=False)
class Agent:
    """Runs a model with tools that it searches for. Safe to share: everything that a run changes is the run's own.

        agent = Agent("openai:gpt-5.4", tools=[ToolIndex.open("indexes/demo")], memory=ChatMemory(max_messages=30))
        result = agent.run_sync("Refund order 42 and tell the customer")

    Attributes:
        model: a chat model, or the name of one for `open_model`.
        tools: indexes, functions, definitions, (definition, executor) pairs, objects with decorated methods, providers.
        memory: None remembers nothing between runs.
        system: standing instructions. `hint` follows while tools are searched; {search} and {example} in it are the
            search tool's name and a call of it.
        search: "auto" searches unless all tools are few enough to be sent; a strategy; a retriever's name; or None.
        show: how found tools are shown: inline, native, proxy, or auto.
        always_visible: ids of further tools that need no search.
        hidden_calls: what a call of a tool that was not found does: show, execute or reject.
        approval: "destructive", "never", or a function of tool and arguments that says which calls must wait.
        concurrent: run the calls of one answer at once.
        compensate: undo what a run did when a later call fails, with `@compensates` functions among the tools.
        unknown_tool: text for a call of a name that no tool has; may raise to end the run.
        augment: what is sent in place of the question, such as with documents added; only this run sees it.
        mark_unsupported: content that the model cannot take becomes a marker instead of an error result.
        encoder: for tools outside of an index, when they are searched.

    Raises:
        InvalidInput: a setting or a tool is not acceptable.
    """

    model: ChatModel | str
    _: KW_ONLY
    tools: Iterable[object] = ()
    memory: ChatMemory | None = None
    system: str = ""
    search: Search = "auto"
    show: Show = "auto"
    hint: str | None = HINT
    always_visible: Collection[str] = ()
    hidden_calls: HiddenCalls = "show"
    limits: Limits = field(default_factory=Limits)
    handlers: Handlers = field(default_factory=Handlers)
    approval: str | NeedsApproval = "destructive"
    concurrent: bool = False
    compensate: bool = False
    unknown_tool: UnknownTool | None = None
    augment: Augment | None = None
    mark_unsupported: bool = False
    options: ChatOptions = field(default_factory=ChatOptions)
    hooks: Sequence[Hook] = ()
    name: str = "agent"
    encoder: Encoder | str | None = "builtin"
    assembly: Assembly = field(init=False, repr=False)
    expose: Exposer = field(init=False, repr=False)
    workers: Workers = field(init=False, repr=False)
    sourced: Sourced = field(init=False, repr=False, default_factory=Sourced)
    _opened: Model | None = field(init=False, repr=False, default=None)

    def __post_init__(self) -> None:
        self.assembly = assembled(self.tools, self.always_visible)
        for library in self.assembly.libraries:
            check_pinned(library, self.always_visible, self.sourced.executor)
        self.workers = Workers(self.limits.workers)
        model = self.chat_model
        self.expose = Exposer(model.features.names)
        chosen(self.show, model.features)
        if self.hidden_calls not in ("show", "execute", "reject"):
            raise InvalidInput(f"hidden_calls is {self.hidden_calls!r:.40}; it must be show, execute or reject")
        if not isinstance(self.search, str) and self.search is not None:
            check_search_names(self.search.search_tools(None), self.assembly.fixed.values())
        elif self.search is not None:
            strategy = strategy_for(self.search, self.show)
            check_search_names(strategy.search_tools(None) if strategy else (), self.assembly.fixed.values())

    @property
    def chat_model(self) -> ChatModel:
        """The model itself; a name is opened once."""
        if isinstance(self.model, str):
            from toolsearch.llm.opening import open_model

            self.model = self._opened = open_model(self.model)
        return self.model

    async def run(
        self,
        message: Content | UserMessage,
        *,
        memory_id: str | None = None,
        caller: Iterable[str] | None = None,
        parameters: Parameters = None,
        options: ChatOptions | None = None,
    ) -> RunResult:
        """Answer one message.

        `caller` is the groups of whoever asks, None for a trusted owner who sees every tool.

        Raises:
            ModelFailed: the model did not answer.
            RunStopped: a limit was reached; it carries the result so far.
            InvalidInput: the message, an option or a tool of a provider is not acceptable.
        """
        context = new_context(self, message, memory_id, caller, parameters)
        return await self._driven(Request(context=context, options=options), self._emit)

    def run_sync(
        self,
        message: Content | UserMessage,
        *,
        memory_id: str | None = None,
        caller: Iterable[str] | None = None,
        parameters: Parameters = None,
        options: ChatOptions | None = None,
    ) -> RunResult:
        """`run` for code that does not await. Raises as it does, and InvalidInput inside of a running event loop."""
        return finished(
            lambda: self.run(message, memory_id=memory_id, caller=caller, parameters=parameters, options=options)
        )

    async def stream(
        self,
        message: Content | UserMessage,
        *,
        memory_id: str | None = None,
        caller: Iterable[str] | None = None,
        parameters: Parameters = None,
        options: ChatOptions | None = None,
    ) -> AsyncGenerator[Event, None]:
        """The events of a run as they happen, the result in the last one. Raises as `run` does."""
        context = new_context(self, message, memory_id, caller, parameters)
        request = Request(context=context, options=options, streaming=True)
        async with aclosing(events_of(lambda emit: self._driven(request, emit), self._emit)) as events:
            async for event in events:
                yield event

    async def resume(
        self, paused: str, decisions: Mapping[str, Decision], *, parameters: Parameters = None, options: Options = None
    ) -> RunResult:
        """Go on with a run that waits for approval: `decisions` by the id of the call; a missing one refuses.

        The groups of the caller are those that the run was started with; options, and what it shares with its tools,
        are given anew.

        Raises:
            InvalidInput: the text is no paused run.
        """
        given = Resumption(paused=paused, decisions=decisions, parameters=parameters, options=options)
        return await resumed(self, given, self._emit)

    def resume_sync(
        self, paused: str, decisions: Mapping[str, Decision], *, parameters: Parameters = None, options: Options = None
    ) -> RunResult:
        """`resume` for code that does not await. Raises as it does, and InvalidInput inside of a running event loop."""
        return finished(lambda: self.resume(paused, decisions, parameters=parameters, options=options))

    async def stream_resumed(
        self, paused: str, decisions: Mapping[str, Decision], *, parameters: Parameters = None, options: Options = None
    ) -> AsyncGenerator[Event, None]:
        """`resume` as a stream: the events as they happen, the result in the last one. Raises as it does."""
        given = Resumption(paused=paused, decisions=decisions, parameters=parameters, options=options, streaming=True)
        async with aclosing(events_of(lambda emit: resumed(self, given, emit), self._emit)) as events:
            async for event in events:
                yield event

    async def close(self) -> None:
        """Let go of what the agent opened: connections to its model, sessions with servers. It opens them anew.

        What it was given stays open: an index, a toolset, a model of your own. Connections belong to the event loop
        that opened them; those of `run_sync` end with `close_sync`.
        """
        await self.sourced.close()
        if self._opened is not None:
            await self._opened.close()

    def close_sync(self) -> None:
        """`close` for code that does not await: ends what `run_sync` opened."""
        finished(self.close)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close_sync()

    async def _driven(self, request: Request, emit: Emit) -> RunResult:
        driver, steps = await prepared(self, request, emit)
        return await driver.drive(steps)

    async def _emit(self, event: Event) -> None:
        await tell(self.hooks, event)
