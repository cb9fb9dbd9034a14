"""`toolsearch chat`: talk to a model that searches the tools of an index."""

from __future__ import annotations

import sys
from contextlib import aclosing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from toolsearch.cli import one_line, options
from toolsearch.errors import InvalidInput, ToolSearchError

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Iterator

    from toolsearch import ToolIndex
    from toolsearch.agent.approval import Decision
    from toolsearch.agent.events import Event
    from toolsearch.agent.host import Agent
    from toolsearch.agent.records import PendingCall, RunResult

PROMPT: Final = "> "
REMEMBERED: Final = 60
"""Messages of the conversation that the model is sent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatOptions:
    """What `chat` is given."""

    index: options.Index
    model: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            envvar="TOOLSEARCH_MODEL",
            help="openai:MODEL, anthropic:MODEL, ollama:MODEL, or openai-chat:URL#MODEL.",
            show_default=False,
        ),
    ]
    message: Annotated[
        list[str] | None,
        typer.Argument(metavar="MESSAGE", help="Answer this and end; without, a line each.", show_default=False),
    ] = None
    system: Annotated[str, typer.Option(help="Standing instructions.")] = ""
    show: Annotated[str, typer.Option(help="How found tools are shown: auto, inline, native or proxy.")] = "auto"
    strategy: options.Strategy = None
    caller: options.Caller = None
    memory: Annotated[Path | None, typer.Option(help="File that keeps the conversation.")] = None
    seconds: Annotated[float, typer.Option(min=1, help="Time for one answer of the model.")] = 300.0


@options.taking(ChatOptions)
def chat(given: ChatOptions) -> None:
    """Talk to a model that searches the tools of an index; see its searches, finds and calls as they happen.

    Calls that change or delete things wait until you approve them.
    """
    from toolsearch import ToolIndex

    with ToolIndex.open(given.index, read_only=True) as index, _agent(given, index) as agent:
        talk = _Talk(agent, given)
        if given.message:
            talk.say(" ".join(given.message))
            return
        for line in _lines():
            try:
                talk.say(line)
            except ToolSearchError as error:
                print(f"toolsearch: {one_line(error)}", file=sys.stderr)


def _agent(given: ChatOptions, index: ToolIndex) -> Agent:
    from toolsearch.agent.choosing import HINT
    from toolsearch.agent.host import Agent
    from toolsearch.agent.memory import ChatMemory
    from toolsearch.agent.stores import MemoryStore, SQLiteStore
    from toolsearch.llm.opening import open_model

    if given.show not in ("auto", "inline", "native", "proxy"):
        raise InvalidInput(f"--show is {given.show!r:.40}; it must be auto, inline, native or proxy")
    store = MemoryStore() if given.memory is None else SQLiteStore(given.memory)
    return Agent(
        open_model(given.model, timeout=given.seconds),
        tools=[index],
        memory=ChatMemory(max_messages=REMEMBERED, store=store),
        system=given.system,
        search=given.strategy or "auto",
        show=given.show,
        hint=HINT,
    )


def _lines() -> Iterator[str]:
    """What is typed, without blank lines; at the end of the input the chat ends."""
    while True:
        try:
            line = input(PROMPT)
        except EOFError:
            print()
            return
        if line.strip():
            yield line


class _Talk:
    """One conversation with an agent, written down as it happens."""

    def __init__(self, agent: Agent, given: ChatOptions) -> None:
        from toolsearch.cli.transcript import Transcript

        self._agent, self._caller = agent, given.caller or None
        self._transcript = Transcript(print)
        agent.hooks = [*agent.hooks, self._transcript]

    def say(self, message: str) -> None:
        """One message and all that comes of it."""
        from toolsearch.agent.edge import finished

        result = finished(partial(_read, partial(self._agent.stream, message, caller=self._caller)))
        while result.finish == "approval":
            decisions = {one.call.id: _decided(one) for one in result.pending}
            events = partial(self._agent.stream_resumed, result.paused, decisions)
            result = finished(partial(_read, events))
        self._transcript.end(result)


async def _read(events: Callable[[], AsyncGenerator[Event, None]]) -> RunResult:
    """A stream to its end, which holds the result; hooks show what happens meanwhile."""
    from toolsearch.agent.events import RunFinished

    last: Any = None
    async with aclosing(events()) as happening:
        async for event in happening:
            last = event
    if not isinstance(last, RunFinished):
        raise InvalidInput("the run ended without a result")
    return last.result


def _decided(call: PendingCall) -> Decision:
    """What the person says: y runs the call, anything else is the reason why it is not run."""
    from toolsearch.cli.transcript import question

    print(question(call))
    try:
        said = input("  run it? y, or why not: ").strip()
    except EOFError:
        return False
    return True if said.casefold() in ("y", "yes") else said[:500]
