"""A paused run as text, so that it can be approved later and in another process."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final, cast

from toolsearch.agent.entries import Entry
from toolsearch.agent.records import ToolExecution
from toolsearch.agent.run import Run
from toolsearch.conversation import AssistantMessage, ToolCall, ToolResult, Usage, UserMessage
from toolsearch.errors import InvalidInput
from toolsearch.tool import Json, ToolSpec, canonical
from toolsearch.transcript import message_json, message_of

FORMAT: Final = 1


@dataclass(frozen=True, slots=True)
class Paused:
    """A paused run, read back: everything that is not part of the agent itself."""

    body: Json
    waiting: AssistantMessage
    question: UserMessage
    augmented: UserMessage

    def restore(self, run: Run) -> None:
        """Put the state into a run made by the same agent."""
        body = self.body
        run.window = [Entry(name, number, message_of(one)) for name, number, one in body["window"]]
        run.gone = {(name, number) for name, number in body["gone"]}
        run.question = (body["question_key"][0], body["question_key"][1])
        run.numbers, run.rounds, run.asked = body["numbers"], body["rounds"], body["asked"]
        run.usage = Usage(**body["usage"])
        run.found.order, run.found.used = list(body["order"]), dict(body["used"])
        run.found.kept, run.found.clock = set(body["kept"]), body["clock"]
        run.planner.searches = Counter(body["searches"])
        run.compensated = set(body["compensated"])
        run.executions = [_execution(one) for one in body["executions"]]


def dump(run: Run, waiting: AssistantMessage, pending: Iterable[str]) -> str:
    """A run whose calls wait, those with the ids `pending` for approval. It holds the conversation: keep it as that."""
    context, found = run.settings.context, run.found
    body: Json = {
        "v": FORMAT,
        "run": context.run_id,
        "memory_id": context.memory_id,
        "caller": None if context.caller is None else sorted(context.caller),
        "waiting": message_json(waiting),
        "pending": list(pending),
        "message": message_json(context.message),
        "augmented": message_json(context.augmented),
        "window": [[one.run, one.number, message_json(one.message)] for one in run.window],
        "gone": sorted(run.gone),
        "question_key": run.question,
        "numbers": run.numbers,
        "rounds": run.rounds,
        "asked": run.asked,
        "usage": _usage(run.usage),
        "order": found.order,
        "used": found.used,
        "kept": sorted(found.kept),
        "clock": found.clock,
        "searches": dict(run.planner.searches),
        "compensated": sorted(run.compensated),
        "executions": [_execution_json(one) for one in run.executions],
    }
    return canonical(body, what="a paused run")


def load(text: str) -> Paused:
    """What `dump` wrote.

    Raises:
        InvalidInput: it is something else.
    """
    try:
        body: Any = json.loads(text)
        if body["v"] != FORMAT:
            raise InvalidInput(f"a paused run of format {body['v']!r:.40}; this version reads {FORMAT}")
        waiting = cast("AssistantMessage", message_of(body["waiting"]))
        question = cast("UserMessage", message_of(body["message"]))
        return Paused(body, waiting, question, cast("UserMessage", message_of(body["augmented"])))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        if isinstance(error, InvalidInput):
            raise
        raise InvalidInput(f"not a paused run: {text[:80]!r}") from None


def _usage(usage: Usage) -> Json:
    return {name: getattr(usage, name) for name in Usage.__dataclass_fields__}


def _execution_json(done: ToolExecution) -> Json:
    call = [done.call.id, done.call.name, done.call.arguments]
    return {
        "call": call,
        "result": message_json(done.result),
        "arguments": done.arguments,
        "executed": done.executed,
        "spec": done.spec.to_json() if done.spec else None,
    }


def _execution(body: Json) -> ToolExecution:
    return ToolExecution(
        call=ToolCall(*body["call"]),
        result=cast("ToolResult", message_of(body["result"])),
        arguments=body["arguments"],
        executed=body["executed"],
        spec=ToolSpec.from_json(body["spec"]) if body["spec"] else None,
    )
