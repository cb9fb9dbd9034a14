"""Small things that all adapters write or read the same way."""

from __future__ import annotations

import json
import uuid
from collections.abc import Collection, Iterable
from typing import Any, cast

from toolsearch.chat import CallComplete, CallDelta, TokenChance
from toolsearch.conversation import Message, Part, Reference, SystemMessage, Text, ToolCall
from toolsearch.tool import Json, ToolSpec


def call_id(given: object) -> str:
    """An id for a call: the model's, or a new one where it gave none."""
    return given if isinstance(given, str) and given else f"call_{uuid.uuid4().hex[:24]}"


def as_object(arguments: str) -> Json:
    """A call's arguments as an object; broken ones are kept under one key, for providers that want an object."""
    try:
        value: object = json.loads(arguments or "{}")
    except (ValueError, RecursionError):
        return {"unparsed": arguments}
    return cast("Json", value) if isinstance(value, dict) else {"unparsed": arguments}


def chances(rows: Iterable[Json] | None) -> tuple[TokenChance, ...]:
    """Tokens of a text with the chances of their rivals; OpenAI and Ollama write them alike."""
    found: list[TokenChance] = []
    for row in rows or ():
        rivals = {str(one["token"]): float(one["logprob"]) for one in row.get("top_logprobs") or ()}
        found.append(TokenChance(str(row["token"]), {str(row["token"]): float(row["logprob"]), **rivals}))
    return tuple(found)


def as_text(value: object) -> str:
    """Arguments as JSON text."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def plain(content: Iterable[Part]) -> str:
    """Content as one text, with references as the names they are."""
    names = [part.name for part in content if isinstance(part, Reference)]
    texts = [part.text for part in content if isinstance(part, Text)]
    return "\n".join([*(["Tools found: " + ", ".join(names)] if names else []), *texts])


def extras(spec: ToolSpec, keys: Iterable[str]) -> Json:
    """The metadata of a tool that is to be sent."""
    return {key: spec.metadata[key] for key in keys if key in spec.metadata}


def function(spec: ToolSpec, keys: Iterable[str]) -> Json:
    """A tool as OpenAI's formats and Ollama's describe a function; `keys` of its metadata go with it."""
    body: Json = {"name": spec.name, "description": spec.description, "parameters": spec.parameters}
    return {**body, **extras(spec, keys)}


def given(body: Json) -> Json:
    """What was said; None leaves it to the server."""
    return {key: value for key, value in body.items() if value is not None}


def finish(said: str, calls: Collection[ToolCall]) -> str:
    """Why an answer ended: for its calls, whatever the provider says, but where it was cut off."""
    return "tool_calls" if calls and said != "length" else said


def names_a_tool(choice: str | None) -> bool:
    """Whether a tool choice is the name of one, not a word for a way to choose."""
    return choice not in (None, "auto", "none", "required")


def system_text(messages: Iterable[Message]) -> str:
    """The standing instructions, for providers that take them apart from the conversation."""
    return next((one.text for one in messages if isinstance(one, SystemMessage)), "")


class Calls:
    """Calls of a stream, put together from their pieces."""

    def __init__(self) -> None:
        self._parts: dict[int, dict[str, Any]] = {}

    def start(self, index: int, name: str, given_id: object = None) -> None:
        """A call begins."""
        self._parts[index] = {"name": name, "id": call_id(given_id), "arguments": ""}

    def add(self, index: int, arguments: str) -> CallDelta:
        """More of its arguments."""
        part = self._parts.setdefault(index, {"name": "", "id": call_id(None), "arguments": ""})
        part["arguments"] += arguments
        return CallDelta(list(self._parts).index(index), part["name"], arguments)

    def known(self, index: int) -> bool:
        """Whether it has begun."""
        return index in self._parts

    def done(self, index: int) -> CallComplete:
        """It is written to its end."""
        return CallComplete(self._call(self._parts[index]))

    def all(self) -> tuple[ToolCall, ...]:
        """Every call, in the order in which they began."""
        return tuple(self._call(part) for part in self._parts.values())

    @staticmethod
    def _call(part: Json) -> ToolCall:
        return ToolCall(part["id"], part["name"], part["arguments"] or "{}")
