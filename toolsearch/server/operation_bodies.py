"""What requests and answers of operation look like: usage, sources, jobs."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, Field, StringConstraints, model_validator

from toolsearch.server.bodies import Body, Id, Ids, Name


class Call(Body):
    """A call that followed a search; `search_id` says which, by default the key's last that found the tool."""

    tool: Id
    search_id: Name | None = None


class Noted(BaseModel):
    """Whether something was written down."""

    noted: bool


class Deleted(BaseModel):
    """How many searches were deleted."""

    searches: int


class NewSource(Body):
    """A source: where it is, who may see its tools, and whether its later changes wait to be approved."""

    kind: Literal["mcp", "openapi"]
    url: Annotated[str, StringConstraints(min_length=1, max_length=2_000)]
    headers: dict[str, str] = Field(default_factory=dict[str, str], max_length=50)
    groups: list[Name] = Field(default_factory=list[str], max_length=100)
    hold_changes: bool = False

    @model_validator(mode="after")
    def _plain_headers(self) -> NewSource:
        for name, value in self.headers.items():
            if not (name.isascii() and name.replace("-", "").replace("_", "").isalnum() and value.isprintable()):
                raise ValueError("a header has a name of letters, digits and -, and a value on one line")
        return self


class HeldBody(BaseModel):
    """A change that waits to be approved, line by line."""

    id: str
    difference: list[str]


class SourceBody(BaseModel):
    """A source and how reading it went; of its headers only the names."""

    name: str
    kind: str
    url: str
    headers: list[str]
    groups: list[str]
    hold_changes: bool
    state: str
    tools: int
    synced_at: str | None
    age: float | None
    error: str
    held: list[HeldBody] = []


class SourceList(BaseModel):
    """All sources."""

    sources: list[SourceBody]


class BehindBody(BaseModel):
    """A source behind the gateway: starting, ready or down, and why; its tools stay findable when it is down."""

    name: str
    kind: str
    state: str
    reason: str
    tools: int
    problems: list[str]


class ChangeBody(BaseModel):
    """A known tool that its server changed or renamed; `held` says that it is kept back until approved."""

    id: str
    source: str
    kind: str
    diff: str
    since: str
    held: bool


class GatewayBody(BaseModel):
    """The sources behind the gateway, and changes of known tools."""

    sources: list[BehindBody]
    changes: list[ChangeBody]


class Approval(Body):
    """Which held tools to let in; none named means all."""

    tools: Ids | None = None


class SyncAnswer(BaseModel):
    """What changed, by id; `held` waits to be approved, `refused` are ids that something else has."""

    added: list[str]
    changed: list[str]
    removed: list[str]
    held: list[str]
    refused: list[str]
    problems: list[str]


class JobBody(BaseModel):
    """A rebuild: running, done or failed."""

    id: str
    index: str
    state: str
    stage: str
    done: int
    total: int
    error: str
