"""Calls that write, made again word for word: a model that has lost track would pay, send or delete twice.

Only who sets a limit is guarded: starting, stopping and starting again, or asking a service by POST how far it is, are
equal calls that are meant.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final, cast

from toolsearch.agent.planning import Planned
from toolsearch.agent.records import ToolExecution
from toolsearch.conversation import ToolResult
from toolsearch.tool import Json, ToolSpec

REPEATED: Final = "repeats"
"""Attribute that holds the id of the call that was made before."""
SHOWN: Final = 500
"""Characters of the earlier result that are shown again."""


def writes(spec: ToolSpec) -> bool:
    """Whether a tool says that it changes something, and not that doing it twice changes nothing more."""
    notes = spec.annotations
    marked = notes.get("readOnlyHint") is False or notes.get("destructiveHint") is True
    return marked and notes.get("idempotentHint") is not True


def once(planned: Planned, arguments: Json, earlier: Sequence[ToolExecution], limit: int) -> Planned:
    """What is planned; or an answer, when a call that writes was last run `limit` times with these arguments.

    A call in between that may have changed something else starts the count anew; tries that failed do not count.
    """
    spec = planned.spec
    wanted = _key(spec, arguments) if spec is not None and writes(spec) else None
    if spec is None or wanted is None:
        return planned
    same: list[ToolExecution] = []
    for one in reversed(earlier):
        if not one.executed or one.spec is None or one.spec.annotations.get("readOnlyHint") is True:
            continue
        if one.spec.id != spec.id or _key(spec, one.arguments) != wanted:
            break
        if not one.failed:
            same.append(one)
    if len(same) < limit:
        return planned
    last = same[0]
    text = (
        f"Not run again: this very call was run {len(same)} time(s) before in this run, and nothing else was changed "
        "since. The old result, which may no longer hold, was: "
        f"{last.result.text[:SHOWN]}\n"
        "If it has to be done once more, ask the user."
    )
    answer = ToolResult.for_call(planned.call, text, attributes={REPEATED: last.call.id})
    return Planned(call=planned.call, kind="answer", answer=answer)


def _key(spec: ToolSpec, arguments: Json) -> str | None:
    """Arguments as one text, with what the schema fills in for those that are missing; None when nested too deep."""
    properties: dict[str, Any] = spec.parameters.get("properties") or {}
    declared = {name: cast("Json", one) for name, one in properties.items() if isinstance(one, dict)}
    filled = {name: one["default"] for name, one in declared.items() if "default" in one}
    try:
        return json.dumps({**filled, **arguments}, sort_keys=True, default=str)
    except (RecursionError, TypeError):
        return None
