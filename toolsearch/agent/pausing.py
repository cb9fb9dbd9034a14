"""A paused run as text, so that it can be approved later and in another process."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

from toolsearch.agent.entries import Entry
from toolsearch.agent.records import ToolExecution
from toolsearch.agent.run import Run
from toolsearch.conversation import AssistantMessage, ToolCall, ToolResult, Usage, UserMessage
from toolsearch.tool import Json, ToolSpec, canonical
from toolsearch.transcript import message_json, message_of, stored

FORMAT: Final = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Paused:
    """A paused run, read back: everything that is not part of the agent itself. `pending` are ids of calls."""

    run_id: str
    memory_id: str | None
    caller: tuple[str, ...] | None
    pending: tuple[str, ...]
    waiting: AssistantMessage
    question: UserMessage
    augmented: UserMessage
    state: Mapping[str, Any]
    """Fields of the run, by their names."""
    found: Mapping[str, Any]
    """Fields of its found tools."""
    searches: Counter[str]

    def restore(self, run: Run) -> None:
        """Put the state into a run made by the same agent."""
        for name, value in self.state.items():
            setattr(run, name, value)
        for name, value in self.found.items():
            setattr(run.found, name, value)
        run.planner.searches = self.searches


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
        "window": [one.row for one in run.window],
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
        "cut": run.cut,
        "executions": [_execution_json(one) for one in run.executions],
    }
    return canonical(body, what="a paused run")


def load(text: str) -> Paused:
    """What `dump` wrote.

    Raises:
        InvalidInput: it is something else.
    """
    return stored(text, FORMAT, "a paused run", _paused)


def _paused(body: Json) -> Paused:
    caller = body["caller"]
    return Paused(
        run_id=str(body["run"]),
        memory_id=body["memory_id"],
        caller=None if caller is None else tuple(map(str, caller)),
        pending=tuple(map(str, body["pending"])),
        waiting=cast("AssistantMessage", message_of(body["waiting"])),
        question=cast("UserMessage", message_of(body["message"])),
        augmented=cast("UserMessage", message_of(body["augmented"])),
        state={
            "window": list(map(Entry.of, body["window"])),
            "gone": set(map(_key, body["gone"])),
            "question": _key(body["question_key"]),
            "numbers": int(body["numbers"]),
            "rounds": int(body["rounds"]),
            "asked": int(body["asked"]),
            "usage": Usage(**body["usage"]),
            "compensated": set(body["compensated"]),
            "cut": str(body.get("cut", "")),
            "executions": list(map(_execution, body["executions"])),
        },
        found={
            "order": list(body["order"]),
            "used": dict(body["used"]),
            "kept": set(body["kept"]),
            "clock": int(body["clock"]),
        },
        searches=Counter(body["searches"]),
    )


def _key(row: list[Any]) -> tuple[str, int]:
    return str(row[0]), int(row[1])


def _usage(usage: Usage) -> Json:
    return {name: getattr(usage, name) for name in Usage.__dataclass_fields__}


def _execution_json(done: ToolExecution) -> Json:
    call = [done.call.id, done.call.name, done.call.arguments]
    return {
        "call": call,
        "result": message_json(done.result),
        "arguments": json.dumps(done.arguments),
        "executed": done.executed,
        "spec": done.spec.to_json() if done.spec else None,
    }


def _execution(body: Json) -> ToolExecution:
    return ToolExecution(
        call=ToolCall(*body["call"]),
        result=cast("ToolResult", message_of(body["result"])),
        arguments=json.loads(body["arguments"]) if isinstance(body["arguments"], str) else body["arguments"],
        executed=body["executed"],
        spec=ToolSpec.from_json(body["spec"]) if body["spec"] else None,
    )
