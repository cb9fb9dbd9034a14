"""What to do with each call that a model wrote: run a tool, search, or answer at once."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, cast

from toolsearch.agent.arguments import parsed, with_schema
from toolsearch.agent.exposing import exposed, name_of
from toolsearch.agent.limits import HiddenCalls, Limits
from toolsearch.agent.showing import CALL_TOOL, GET_TOOL
from toolsearch.agent.toolbox import Toolbox
from toolsearch.conversation import FOUND_TOOLS, ToolCall, ToolResult
from toolsearch.errors import ToolArgumentsError
from toolsearch.tool import Json, ToolSpec

MAX_ANSWER: Final = 2_000
"""Longest answer about a name that no tool has, in characters."""
ERROR: Final = "error"
"""Attribute that says what kind of error a result is."""

_PARTING: Final = re.compile(r"""[\s"'\[\]{}(),.:;!?_。，、；：！？-]+""")
"""What is no difference between two searches; `c`, `c++` and `c#`, or two emoji, are."""

Kind = Literal["run", "search", "answer"]
UnknownTool = Callable[[ToolCall], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """One call and what is to be done with it. `raw` are the tool's own arguments, as text."""

    call: ToolCall
    kind: Kind
    spec: ToolSpec | None = None
    raw: str = ""
    answer: ToolResult | None = None


@dataclass(slots=True, kw_only=True)
class Planner:
    """Decides about the calls of one run; remembers which searches were made."""

    limits: Limits
    search: Mapping[str, ToolSpec]
    hidden: HiddenCalls = "show"
    proxied: bool = False
    unknown: UnknownTool | None = None
    searches: Counter[str] = field(default_factory=Counter[str])

    def plan(self, call: ToolCall, toolbox: Toolbox, visible: Collection[str]) -> Planned:
        """What to do with a call; `visible` are the ids of the tools that the model sees."""
        if call.name in self.search:
            return self._searching(call)
        if self.proxied and call.name in (GET_TOOL.name, CALL_TOOL.name):
            return self._proxied(call, toolbox, visible)
        spec = _called(call.name, toolbox, visible)
        if spec is None:
            return self._unknown(call, call.name, toolbox)
        if spec.id not in visible and self.hidden != "execute":
            return self._not_loaded(call, spec)
        return Planned(call=call, kind="run", spec=spec, raw=call.arguments)

    def refused(self, call: ToolCall) -> Planned:
        """The answer to a call beyond the bound of one message."""
        text = f"Not run: at most {self.limits.calls} calls are run at once. Call it again."
        return _answer(call, text, error="too_many_calls")

    def cut_off(self, call: ToolCall) -> Planned:
        """The answer to the call in which an answer of the model reached its bound."""
        text = "Not run: your answer reached the limit of its length in this call. Call it again, in a shorter answer."
        return _answer(call, text, error="cut_off")

    def forget(self, calls: Iterable[ToolCall]) -> None:
        """Do not count searches that were planned and wait; they are planned again."""
        self.searches.subtract(_key(call) for call in calls if call.name in self.search)

    def _searching(self, call: ToolCall) -> Planned:
        key = _key(call)
        self.searches[key] += 1
        if self.searches[key] <= self.limits.same_searches:
            return Planned(call=call, kind="search", spec=self.search[call.name], raw=call.arguments)
        text = "This search was made before; its answer stands above. Call a tool it found, or search in other words."
        return _answer(call, text, error="repeated_search", found=())

    def _proxied(self, call: ToolCall, toolbox: Toolbox, visible: Collection[str]) -> Planned:
        try:
            given = parsed(call.arguments, self.limits.arguments)
        except ToolArgumentsError as error:
            return _answer(call, str(error), error="invalid_arguments")
        name = given.get("name")
        if not isinstance(name, str):
            return _answer(call, f"{call.name} needs the name of a tool", error="invalid_arguments")
        spec = _called(name, toolbox, visible)
        if spec is None:
            return self._unknown(call, name, toolbox)
        if call.name == GET_TOOL.name:
            return Planned(call=call, kind="answer", answer=ToolResult.for_call(call, described(spec)))
        inner: Any = given.get("arguments", {})
        raw = inner if isinstance(inner, str) else json.dumps(inner, ensure_ascii=False)
        return Planned(call=call, kind="run", spec=spec, raw=raw)

    def _unknown(self, call: ToolCall, name: str, toolbox: Toolbox) -> Planned:
        if self.unknown:
            return _answer(call, self.unknown(call), error="unknown_tool")
        text = f"There is no tool {name[:100]!r}."
        meant = toolbox.meant(name) if self.hidden == "show" and not self.proxied else None
        if meant is not None:
            told = with_schema(f"{text} {name_of(meant)} is available now; call it by this name.", meant)
            return _answer(call, told, error="unknown_tool", found=(meant.id,))
        near = toolbox.near(name)
        text += f" Names that are near: {', '.join(near)}." if near else ""
        text += f" Call {next(iter(self.search))} first, and say what the tool should do." if self.search else ""
        return _answer(call, text[:MAX_ANSWER], error="unknown_tool")

    def _not_loaded(self, call: ToolCall, spec: ToolSpec) -> Planned:
        if self.hidden == "reject":
            how = f" Use {next(iter(self.search))} to find it first." if self.search else ""
            return _answer(
                call, f"The tool {call.name} was not run, for it is not loaded.{how}", error="tool_not_loaded"
            )
        text = (
            f"The tool {call.name} was not run, for you had not seen what it takes. It is available now; call it again."
        )
        return _answer(call, with_schema(text, spec), error="tool_not_loaded", found=(spec.id,))


def _called(name: str, toolbox: Toolbox, visible: Collection[str]) -> ToolSpec | None:
    """The tool of a name: one that the model sees, whatever its id became for the provider, or any other."""
    seen = (toolbox.get(tool_id) for tool_id in visible if exposed(tool_id) == name)
    return next((spec for spec in seen if spec is not None), None) or toolbox.called(name)


def described(spec: ToolSpec) -> str:
    """A tool as text for a model: its name, what it does, its parameters."""
    body: Json = {"name": name_of(spec), "description": spec.description, "parameters": spec.parameters}
    return json.dumps(body, ensure_ascii=False)


def _answer(call: ToolCall, text: str, *, error: str, found: Collection[str] | None = None) -> Planned:
    attributes: Json = {ERROR: error}
    if found is not None:
        attributes[FOUND_TOOLS] = list(found)
    return Planned(
        call=call, kind="answer", answer=ToolResult.for_call(call, text, is_error=True, attributes=attributes)
    )


def _key(call: ToolCall) -> str:
    """What a search is recognised by."""
    asked = _normal(call.arguments)
    whole = asked if len(asked) <= MAX_ANSWER else hashlib.sha256(asked.encode("utf-8", "replace")).hexdigest()
    return f"{call.name} {whole}"


def _normal(arguments: str) -> str:
    """A search's arguments without case, blanks, order of keys and what parts or ends sentences."""
    try:
        value: object = json.loads(arguments)
    except (ValueError, RecursionError):
        value = arguments
    pairs = sorted(cast("Json", value).items()) if isinstance(value, dict) else value
    return " ".join(_PARTING.split(json.dumps(pairs, ensure_ascii=False).casefold())).strip()
