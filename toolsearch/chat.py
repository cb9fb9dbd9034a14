"""What a chat model is asked and what it answers, streaming or not; the seam to every provider."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from toolsearch.conversation import AssistantMessage, Message, ToolCall, Usage
from toolsearch.tool import Json, ToolSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatOptions:
    """How a model should answer; None leaves it to the model.

    `tool_choice` is "auto", "none", "required", or the name of a tool. `metadata_keys` names the keys of a
    tool's metadata that are sent with it; none are by default. `logprobs` asks for so many rivals of each token,
    where the model's features say that it tells them. `more` goes into the request as it is.
    """

    tool_choice: str | None = None
    parallel_tool_calls: bool | None = None
    max_tokens: int | None = None
    temperature: float | None = None
    metadata_keys: tuple[str, ...] = ()
    logprobs: int | None = None
    more: Json = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatRequest:
    """One request. Tools are sent in this order, under the names that they have here.

    `deferred` are tools that results refer to: a provider with native search gets them without changing what
    it has cached of `tools`. `search` is the name of the tool whose calls are searches, for such a provider.
    """

    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...] = ()
    deferred: tuple[ToolSpec, ...] = ()
    search: str = ""
    options: ChatOptions = field(default_factory=ChatOptions)


@dataclass(frozen=True, slots=True)
class TokenChance:
    """One token of the text, and the logarithm of the probability of each token that could have stood there."""

    text: str
    logprobs: Mapping[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatResponse:
    """One answer. `finish` is stop, tool_calls, length, refusal or other; `chances` are the text's, when asked for.

    With "length" the last call may be cut off, and is not to be run.
    """

    message: AssistantMessage
    usage: Usage = field(default_factory=Usage)
    finish: str = "stop"
    model: str = ""
    chances: tuple[TokenChance, ...] = ()

    @property
    def text(self) -> str:
        """What the model says."""
        return self.message.text

    @property
    def tool_calls(self) -> tuple[ToolCall, ...]:
        """What it wants to be run."""
        return self.message.calls


@dataclass(frozen=True, slots=True)
class TextDelta:
    """More of the text."""

    text: str


@dataclass(frozen=True, slots=True)
class CallDelta:
    """More of a call's arguments; `index` counts the calls of this answer. The name comes with the first one."""

    index: int
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class CallComplete:
    """A call is written to its end."""

    call: ToolCall


ChatEvent = TextDelta | CallDelta | CallComplete | ChatResponse
"""What a stream gives; the whole response comes last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Features:
    """What a model can take. `names` is the provider's rule for names and schemas.

    `media` are the kinds of content that users may send, such as image, and `result_media` those of results.
    `native_search` says that found tools can be referred to. `max_tools` bounds the list. `forced` are the tool
    choices beyond auto and none. `logprobs` says that the chances of the text's tokens are told when asked for.
    """

    names: str = "openai"
    tools: bool = True
    media: tuple[str, ...] = ()
    result_media: tuple[str, ...] = ()
    native_search: bool = False
    max_tools: int = 128
    forced: tuple[str, ...] = ("required", "tool")
    logprobs: bool = False


class ChatModel(Protocol):
    """A model that can be asked. What adapters implement, and your own models too."""

    @property
    def features(self) -> Features:
        """What it can take."""
        ...

    async def ask(self, request: ChatRequest) -> ChatResponse:
        """One answer.

        Raises:
            ModelFailed: the provider did not answer, or refused the request.
            InvalidInput: the request has something that this model cannot take.
        """
        ...

    def stream(self, request: ChatRequest) -> AsyncIterator[ChatEvent]:
        """The same answer, as it is written; raises as `ask` does."""
        ...
