"""OpenTelemetry spans of a run, by the conventions for generative AI. A hook; needs the extra "otel".

The conventions are still in development (semantic-conventions-genai 0.1), so their names are constants here.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any, Final

from toolsearch.agent.context import InvocationContext
from toolsearch.agent.events import (
    Event,
    ModelAnswered,
    ModelAsked,
    RunFailed,
    RunFinished,
    ToolFinished,
    ToolStarted,
)
from toolsearch.agent.planning import ERROR
from toolsearch.agent.records import ToolExecution
from toolsearch.conversation import Usage
from toolsearch.errors import MissingExtra

MAX_TEXT: Final = 10_000
"""Characters of arguments, results and descriptions that a span carries."""

Values = dict[str, Any]
_CALL: Final = "call "
_SUBJECTS: Final = ("gen_ai.tool.name", "gen_ai.request.model", "gen_ai.agent.name")
_Key = tuple[str, str]


@dataclass(frozen=True, slots=True)
class _Open:
    span: Any
    token: Any


class Tracing:
    """Spans `invoke_agent {agent}`, and within it `chat {model}` and `execute_tool {name}`.

    While a tool runs its span is the current one, so that what it traces itself lies within. Arguments and results
    are recorded only with `contents`.

    Raises:
        MissingExtra: opentelemetry is not installed.
    """

    def __init__(self, tracer: Any = None, *, contents: bool = False) -> None:
        try:
            self._trace: Any = import_module("opentelemetry.trace")
            self._context: Any = import_module("opentelemetry.context")
        except ModuleNotFoundError:
            raise MissingExtra("opentelemetry-api", "otel") from None
        self._tracer: Any = tracer or self._trace.get_tracer("toolsearch")
        self._contents = contents
        self._open: dict[_Key, _Open] = {}

    def __call__(self, event: Event) -> None:
        """Open or close a span."""
        match event:
            case ModelAsked(context=context):
                self._root(context)
                self._start((context.run_id, "chat"), _asked(event), client=True)
            case ModelAnswered(context=context):
                self._end((context.run_id, "chat"), _answered(event))
            case ToolStarted(call=call, context=context):
                self._root(context)
                self._start((context.run_id, _CALL + call.id), _started(event))
            case ToolFinished(execution=done, context=context):
                self._end((context.run_id, _CALL + done.call.id), self._done(done), _error_of(done))
            case RunFinished(result=result, context=context):
                self._end((context.run_id, ""), _usage(result.usage))
            case RunFailed(error=error, context=context):
                for key in [key for key in reversed(self._open) if key[0] == context.run_id]:
                    self._end(key, {}, type(error).__name__, here=not key[1].startswith(_CALL))
            case _:
                return

    def _root(self, context: InvocationContext) -> None:
        """The span of the whole run, opened by the first thing that happens in it."""
        if (context.run_id, "") in self._open:
            return
        values: Values = {
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.agent.name": context.agent,
            "gen_ai.conversation.id": context.memory_id,
        }
        self._start((context.run_id, ""), values)

    def _start(self, key: _Key, values: Values, *, client: bool = False) -> None:
        subject = next((values[name] for name in _SUBJECTS if values.get(name)), None)
        operation = str(values["gen_ai.operation.name"])
        kind = self._trace.SpanKind.CLIENT if client else self._trace.SpanKind.INTERNAL
        span = self._tracer.start_span(
            f"{operation} {subject}" if subject else operation,
            kind=kind,
            attributes={name: value for name, value in values.items() if value not in (None, "")},
        )
        token = self._context.attach(self._trace.set_span_in_context(span))
        self._open[key] = _Open(span, token)

    def _end(self, key: _Key, values: Values, error: str = "", *, here: bool = True) -> None:
        """Close a span; `here` says that it was opened in this task, so that the one before is current again."""
        opened = self._open.pop(key, None)
        if opened is None:
            return
        opened.span.set_attributes({name: value for name, value in values.items() if value not in (None, "")})
        if error:
            opened.span.set_attribute("error.type", error)
            opened.span.set_status(self._trace.StatusCode.ERROR)
        if here:
            self._context.detach(opened.token)
        opened.span.end()

    def _done(self, done: ToolExecution) -> Values:
        if not self._contents:
            return {}
        return {
            "gen_ai.tool.call.arguments": done.call.arguments[:MAX_TEXT],
            "gen_ai.tool.call.result": done.result.text[:MAX_TEXT],
        }


def _asked(event: ModelAsked) -> Values:
    return {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": event.provider,
        "gen_ai.request.model": event.model,
        "gen_ai.conversation.id": event.context.memory_id,
        "gen_ai.request.max_tokens": event.request.options.max_tokens,
        "gen_ai.request.temperature": event.request.options.temperature,
    }


def _answered(event: ModelAnswered) -> Values:
    response = event.response
    values = {"gen_ai.response.model": response.model, "gen_ai.response.finish_reasons": [response.finish]}
    return {**values, **_usage(response.usage)}


def _usage(usage: Usage) -> Values:
    return {
        "gen_ai.usage.input_tokens": usage.input_tokens,
        "gen_ai.usage.output_tokens": usage.output_tokens,
        "gen_ai.usage.cache_read.input_tokens": usage.cached_tokens,
        "gen_ai.usage.cache_creation.input_tokens": usage.written_tokens,
    }


def _started(event: ToolStarted) -> Values:
    return {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": event.call.name[:128],
        "gen_ai.tool.type": "function",
        "gen_ai.tool.call.id": event.call.id,
        "gen_ai.tool.description": event.spec.description[:1_000] if event.spec else None,
    }


def _error_of(done: ToolExecution) -> str:
    return str(done.result.attributes.get(ERROR, "_OTHER")) if done.failed else ""
