"""Spans by the conventions for generative AI, exported in memory."""

from __future__ import annotations

from typing import Any

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode

from tests.agent.tools import SEARCH, add, agent, getTime, getWeather, search
from toolsearch.agent.agents import agent_tool
from toolsearch.agent.tracing import Tracing
from toolsearch.errors import ModelFailed
from toolsearch.llm.model import Model
from toolsearch.testing.models import ScriptedModel, call


class Exported:
    """A hook, and the spans that it made."""

    def __init__(self, **more: Any) -> None:
        self._kept, provider = InMemorySpanExporter(), TracerProvider()
        provider.add_span_processor(SimpleSpanProcessor(self._kept))
        self.tracer = provider.get_tracer("test")
        self.hook = Tracing(self.tracer, **more)

    @property
    def spans(self) -> list[Any]:
        return list(self._kept.get_finished_spans())

    def named(self, name: str) -> Any:
        [one] = [one for one in self.spans if one.name == name]
        return one

    def parent(self, name: str) -> str:
        above = self.named(name).parent
        return next(one.name for one in self.spans if above and one.context.span_id == above.span_id)


@pytest.mark.parametrize("concurrent", [False, True])
def test_spans_of_a_run(concurrent: bool) -> None:
    """The run is one span; model and tool calls lie within it, with the conventions' names and attributes."""
    seen = Exported()
    model = ScriptedModel([search("weather"), call("ad")], "ok")
    host = agent(model, [getWeather, getTime], hooks=[seen.hook], name="clerk", concurrent=concurrent)
    host.run_sync("?", memory_id="m1")
    names = [one.name for one in seen.spans]
    assert sorted(names) == ["chat", "chat", "execute_tool ad", f"execute_tool {SEARCH}", "invoke_agent clerk"]
    run = seen.named("invoke_agent clerk")
    assert run.parent is None
    assert all(one.parent.span_id == run.context.span_id for one in seen.spans if one is not run)
    assert {"gen_ai.operation.name": "invoke_agent", "gen_ai.conversation.id": "m1"}.items() <= run.attributes.items()
    assert run.attributes["gen_ai.usage.input_tokens"] > 0
    tool = seen.named(f"execute_tool {SEARCH}")
    assert tool.attributes["gen_ai.tool.type"] == "function"
    assert tool.attributes["gen_ai.tool.description"].startswith("Finds available tools")
    assert tool.kind is SpanKind.INTERNAL


def test_a_chat_names_model_and_provider() -> None:
    """Its span is the client's, and says what was asked and how it ended."""
    seen = Exported()
    inner = ScriptedModel("ok")
    inner.model = "m-1"  # type: ignore[attr-defined]
    agent(Model(adapter=inner), [add], hooks=[seen.hook]).run_sync("?")  # type: ignore[arg-type]
    chat = seen.named("chat m-1")
    wanted = {
        "gen_ai.request.model": "m-1",
        "gen_ai.provider.name": "openai",
        "gen_ai.response.finish_reasons": ("stop",),
    }
    assert wanted.items() <= chat.attributes.items()
    assert chat.kind is SpanKind.CLIENT


def test_errors_are_marked() -> None:
    """A call by its kind of error, a broken run by its error's class, with nothing left open."""
    seen = Exported()
    with pytest.raises(ModelFailed):
        agent(ScriptedModel(call("ad"), ModelFailed("down")), [add], search=None, hooks=[seen.hook]).run_sync("?")
    types = {one.name: one.attributes.get("error.type") for one in seen.spans}
    assert types == {"chat": "ModelFailed", "execute_tool ad": "unknown_tool", "invoke_agent agent": "ModelFailed"}
    assert seen.named("invoke_agent agent").status.status_code is StatusCode.ERROR
    assert not seen.hook._open


@pytest.mark.parametrize("contents", [False, True])
def test_contents_only_on_request(contents: bool) -> None:
    """Arguments and results are private unless they are asked for."""
    seen = Exported(contents=contents)
    agent(ScriptedModel(call("add", a=1, b=2), "ok"), [add], search=None, hooks=[seen.hook]).run_sync("?")
    attributes = seen.named("execute_tool add").attributes
    assert ("gen_ai.tool.call.arguments" in attributes, attributes.get("gen_ai.tool.call.result") == "3") == (
        contents,
        contents,
    )


def test_what_happens_inside_lies_inside() -> None:
    """An agent that is a tool, and spans of a tool's own, lie within the span of the call."""
    seen = Exported()

    def own() -> str:
        with seen.tracer.start_as_current_span("query"):
            return "done"

    inner = agent(ScriptedModel(call("own"), "yes"), [own], search=None, hooks=[seen.hook], name="inner")
    tool = agent_tool(inner, "Asks the other one")
    agent(ScriptedModel(call("inner", request="go"), "ok"), [tool], search=None, hooks=[seen.hook]).run_sync("?")
    assert seen.parent("query") == "execute_tool own"
    assert seen.parent("execute_tool own") == "invoke_agent inner"
    assert seen.parent("invoke_agent inner") == "execute_tool inner"
    assert seen.parent("execute_tool inner") == "invoke_agent agent"
