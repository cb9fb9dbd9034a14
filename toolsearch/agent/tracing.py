"""OpenTelemetry spans of a run, by the conventions for generative AI. A hook; needs the extra "otel"."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from toolsearch.agent.events import Event, ModelAnswered, ModelAsked, RunFailed, ToolFinished, ToolStarted
from toolsearch.agent.planning import ERROR
from toolsearch.errors import MissingExtra


class Tracing:
    """Spans `chat` and `execute_tool {name}`; arguments and results only with `contents`.

    Raises:
        MissingExtra: opentelemetry is not installed.
    """

    def __init__(self, tracer: Any = None, *, contents: bool = False) -> None:
        try:
            trace: Any = import_module("opentelemetry.trace")
        except ModuleNotFoundError:
            raise MissingExtra("opentelemetry-api", "otel") from None
        self._tracer: Any = tracer or trace.get_tracer("toolsearch")
        self._kinds: Any = trace.SpanKind
        self._contents = contents
        self._open: dict[tuple[str, str], Any] = {}

    def __call__(self, event: Event) -> None:
        """Open or close a span."""
        match event:
            case ModelAsked(context=context):
                attributes = {"gen_ai.operation.name": "chat", "gen_ai.agent.name": context.agent}
                self._start((context.run_id, ""), "chat", self._kinds.CLIENT, attributes)
            case ModelAnswered(response=response, context=context):
                usage = response.usage
                self._end(
                    (context.run_id, ""),
                    {
                        "gen_ai.response.model": response.model,
                        "gen_ai.usage.input_tokens": usage.input_tokens,
                        "gen_ai.usage.output_tokens": usage.output_tokens,
                    },
                )
            case ToolStarted(call=call, context=context):
                attributes = {
                    "gen_ai.operation.name": "execute_tool",
                    "gen_ai.tool.name": call.name[:128],
                    "gen_ai.tool.type": "function",
                    "gen_ai.tool.call.id": call.id,
                }
                key = (context.run_id, call.id)
                self._start(key, f"execute_tool {call.name[:128]}", self._kinds.INTERNAL, attributes)
            case ToolFinished(execution=done, context=context):
                more: dict[str, Any] = {}
                if done.failed:
                    more["error.type"] = str(done.result.attributes.get(ERROR, "_OTHER"))
                if self._contents:
                    more["gen_ai.tool.call.arguments"] = done.call.arguments
                    more["gen_ai.tool.call.result"] = done.result.text
                self._end((context.run_id, done.call.id), more)
            case RunFailed(error=error, context=context):
                for key in [key for key in self._open if key[0] == context.run_id]:
                    self._end(key, {"error.type": type(error).__name__})
            case _:
                return

    def _start(self, key: tuple[str, str], name: str, kind: Any, attributes: dict[str, Any]) -> None:
        self._open[key] = self._tracer.start_span(name, kind=kind, attributes=attributes)

    def _end(self, key: tuple[str, str], attributes: dict[str, Any]) -> None:
        span = self._open.pop(key, None)
        if span is not None:
            span.set_attributes(attributes)
            span.end()
