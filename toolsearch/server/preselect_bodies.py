"""What requests and answers of preselection look like."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, Field, model_validator

from toolsearch.server.bodies import MAX_K, Band, Body, Ids, Query, Text, ToolBody

MAX_MESSAGES = 200


class Message(Body):
    """One text of a conversation."""

    role: Literal["user", "assistant"]
    text: Text


class Preselect(Query):
    """What tools to show from the start of a conversation, or of its next turn.

    Instead of a query or needs there may be `messages`, the question last; the last `max_messages` are looked at.
    `always` (ids or names), tools `called` before (as the model knows them) and those `selected` for earlier turns are
    given in any case. With `judge` the one that the settings name chooses of the `shortlist` best those with at least
    `min_probability`; when it fails, `on_failure` gives the shortlist, none of it, or an error.
    """

    k: int = Field(10, ge=1, le=MAX_K)
    min_confidence: Band = "low"
    messages: Annotated[list[Message], Field(min_length=1, max_length=MAX_MESSAGES)] | None = None
    max_messages: int = Field(3, ge=1, le=MAX_MESSAGES)
    always: Ids = Field(default_factory=list)
    called: Ids = Field(default_factory=list)
    selected: Ids = Field(default_factory=list)
    judge: bool = False
    shortlist: int = Field(50, ge=1, le=MAX_K)
    min_probability: float = Field(0.5, ge=0, le=1)
    on_failure: Literal["all", "none", "error"] = "all"

    @model_validator(mode="after")
    def _one_way(self) -> Preselect:
        if sum((self.query is not None, bool(self.needs), self.messages is not None)) != 1:
            raise ValueError("give either query, needs or messages")
        if self.messages is not None and self.messages[-1].role != "user":
            raise ValueError("the last of messages must be the person's")
        return self


class Preselected(BaseModel):
    """Whole tools: those given in any case, then the best for the request; `more` did not fit the budget.

    `selected` are ids to send with the next turn, so that what was shown stays and the list keeps its start.
    """

    tools: list[ToolBody]
    selected: list[str]
    band: str
    more: int
    version: str
    notes: list[str]
