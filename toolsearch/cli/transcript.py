"""What happens in a chat, as lines for a terminal."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, cast

from toolsearch.agent.events import Event, ModelAnswered, ToolFinished, ToolStarted
from toolsearch.chat import TextDelta
from toolsearch.cli.formats import WIDTH, printable, shown
from toolsearch.conversation import found_in

if TYPE_CHECKING:
    from toolsearch.agent.records import PendingCall, RunResult, ToolExecution
    from toolsearch.conversation import ToolCall
    from toolsearch.tool import Json

SEARCHES: Final = frozenset({"tool_search_tool", "search_tools"})
"""Names that the search tool has; its calls are written as searches."""

MAX_ARGUMENT: Final = 10_000
"""Characters of one argument that a person is shown before it is approved."""

Write = Callable[..., None]


class Transcript:
    """A hook that writes searches, what they found, calls and their results, and the model's text as it comes."""

    def __init__(self, write: Write) -> None:
        self._write = write
        self._open = False
        """Whether a line of text is open."""

    def __call__(self, event: Event) -> None:
        """Write one event."""
        match event:
            case TextDelta(text):
                self._text(text)
            case ModelAnswered(response=response):
                if response.text and not self._open:
                    self._text(response.text)
                self._close()
            case ToolStarted(call=call):
                self._line("search" if call.name in SEARCHES else "call", _call(call))
            case ToolFinished(execution=done):
                self._finished(done)
            case _:
                return

    def end(self, result: RunResult) -> None:
        """The run is over: what the person has to know besides the text."""
        self._close()
        if result.content is None and result.tool_executions:
            self._write(shown(result.tool_executions[-1].result.text, 40 * WIDTH))
        elif not result.content:
            self._write("(no answer)")
        if result.finish not in ("stop", "tool"):
            self._line("ended", result.finish)

    def _finished(self, done: ToolExecution) -> None:
        if done.failed:
            self._line("error", shown(done.result.text))
        elif done.call.name in SEARCHES:
            self._line("found", shown(", ".join(found_in(done.result)) or "nothing", 4 * WIDTH))
        else:
            self._line("result", shown(done.result.text))

    def _text(self, text: str) -> None:
        for place, piece in enumerate(text.split("\n")):
            if place:
                self._write()
            if piece:
                self._write(printable(piece), end="", flush=True)
        self._open = True

    def _line(self, word: str, text: str) -> None:
        self._close()
        self._write(f"  {word:<7} {text}", flush=True)

    def _close(self) -> None:
        if self._open:
            self._write()
        self._open = False


def _call(call: ToolCall) -> str:
    """A search by its words, another call by its name and arguments."""
    words = _words(call.arguments) if call.name in SEARCHES else None
    return shown(words) if words else f"{shown(call.name, 64)} {shown(call.arguments)}"


def _words(arguments: str) -> str | None:
    """The one argument of a search; None when there are others."""
    try:
        given: object = json.loads(arguments)
    except (ValueError, RecursionError):
        return None
    values = list(cast("Json", given).values()) if isinstance(given, dict) else []
    return str(values[0]) if len(values) == 1 else None


def question(call: PendingCall) -> str:
    """A call that waits for approval: its tool, what that does, all its arguments."""
    values = {name: json.dumps(value, ensure_ascii=False) for name, value in call.arguments.items()}
    lines = [f"          {shown(name, 64)}: {shown(value, MAX_ARGUMENT)}" for name, value in values.items()]
    return "\n".join([f"  approve {shown(call.tool, 2 * WIDTH)} - {shown(call.description)}", *lines])
