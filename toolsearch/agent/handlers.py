"""What the model is told when a tool fails: ready-made handlers, or your own function.

A handler gets the error (its cause, where it was raised from one) and the context, and returns the text for the
model, or raises to end the run.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from toolsearch.agent.context import InvocationContext
from toolsearch.conversation import ToolCall
from toolsearch.errors import ToolArgumentsError, ToolErrorForModel, ToolTimeout

GENERIC: Final = "The tool could not do this. Try something else, or tell the user."
MAX_TEXT: Final = 4_000
"""Longest error text that the model sees, in characters."""
_log = logging.getLogger("toolsearch.agent")


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorContext:
    """Where an error came from; `raw` is the error as it was raised, before its cause was taken."""

    call: ToolCall
    context: InvocationContext
    raw: BaseException


Handler = Callable[[BaseException, ErrorContext], str]


def send_message(error: BaseException, context: ErrorContext) -> str:
    """The error's own text, or the name of its class."""
    return _text_for_model(context.raw) or str(error).strip() or type(error).__name__


def fail_run(error: BaseException, context: ErrorContext) -> str:
    """End the run with the error as it was raised."""
    raise context.raw


def fail_run_unless_for_model(error: BaseException, context: ErrorContext) -> str:
    """The text of an error that is meant for the model; any other ends the run."""
    text = _text_for_model(context.raw)
    if text is None:
        raise context.raw
    return text


def generic_unless_for_model(text: str = GENERIC) -> Handler:
    """The text of an error that is meant for the model; for any other this text, and the error is logged."""

    def handler(error: BaseException, context: ErrorContext) -> str:
        shown = _text_for_model(context.raw)
        if shown is None:
            _log.warning("tool %s failed: %s: %s", context.call.name[:80], type(error).__name__, str(error)[:500])
        return text if shown is None else shown

    return handler


@dataclass(frozen=True, slots=True, kw_only=True)
class Handlers:
    """What happens to wrong arguments, and to everything else that a tool raises."""

    arguments: Handler = send_message
    execution: Handler = field(default_factory=generic_unless_for_model)

    def text(self, raw: BaseException, call: ToolCall, context: InvocationContext) -> str:
        """What the model is told; raises when a handler does."""
        where = ErrorContext(call=call, context=context, raw=raw)
        handler = self.arguments if isinstance(raw, ToolArgumentsError) else self.execution
        text = handler(raw.__cause__ or raw, where)
        return text if len(text) <= MAX_TEXT else text[:MAX_TEXT] + " ..."


def _text_for_model(raw: BaseException) -> str | None:
    """The text of an error that may be shown; its cause never is."""
    return str(raw) if isinstance(raw, ToolErrorForModel | ToolArgumentsError | ToolTimeout) else None
