"""What requests and answers look like. Every text, list and number has a bound."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

MAX_TEXT: Final = 20_000
"""Characters of one need; longer ones are refused, and from 2,000 on only both ends are read."""
MAX_NEEDS: Final = 20
MAX_K: Final = 200
MAX_IDS: Final = 2_000

Text = Annotated[str, StringConstraints(min_length=1, max_length=MAX_TEXT)]
Id = Annotated[str, StringConstraints(min_length=1, max_length=1_000)]
Name = Annotated[str, StringConstraints(min_length=1, max_length=200)]
Ids = Annotated[list[Id], Field(max_length=MAX_IDS)]
Filter = Annotated[str, StringConstraints(max_length=10_000)] | dict[str, Any] | None
Band = Literal["none", "low", "medium", "high"]


class Body(BaseModel):
    """A request's body: unknown fields are refused."""

    model_config = ConfigDict(extra="forbid")


class Query(Body):
    """One need or several."""

    query: Text | None = None
    needs: Annotated[list[Text], Field(max_length=MAX_NEEDS)] | None = None
    index: Name | None = None
    strategy: Name | None = None
    filter: Filter = None
    k: int = Field(5, ge=1, le=MAX_K)
    min_confidence: Band = "none"
    max_tokens: int | None = Field(None, ge=1, le=1_000_000)

    @model_validator(mode="after")
    def _one_way(self) -> Query:
        if (self.query is None) == (not self.needs):
            raise ValueError("give either query or needs")
        return self

    @property
    def asked(self) -> list[str]:
        """All needs."""
        return [self.query] if self.query is not None else list(self.needs or [])


class Search(Query):
    """A search. `visible` are tools that the model sees already: they are told and take no place."""

    exclude: Ids = Field(default_factory=list)
    visible: Ids = Field(default_factory=list)
    schemas: Literal["none", "short", "full"] = "short"
    explain: bool = False


class Explain(Body):
    """A question why a tool is found for a query, or why not."""

    query: Text
    tool: Id
    k: int = Field(5, ge=1, le=MAX_K)
    strategy: Name | None = None
    filter: Filter = None
    index: Name | None = None


class ReasonBody(BaseModel):
    """One part of a score."""

    kind: str
    points: float
    detail: str


class HitBody(BaseModel):
    """A tool that was found; `parameters` are names (`?` marks those that may be left out) or a JSON Schema."""

    id: str
    name: str
    title: str | None
    namespace: str
    description: str
    score: float
    need: int
    parameters: list[str] | dict[str, Any] | None = None
    reasons: list[ReasonBody] | None = None


class SearchAnswer(BaseModel):
    """Hits best first; none is an answer too. `more` counts those that the token budget left out."""

    search_id: str
    hits: list[HitBody]
    available: list[str]
    confidence: float | None
    band: str
    shortfall: int
    more: int
    notes: list[str]
    index: str
    strategy: str
    version: str
    generation: int | None = None
    needs: list[str] = Field(default=[], description="What a hit's `need` counts: needs asked for, or one's clauses.")


class WordBody(BaseModel):
    """A word of the request and the fields of the tool that have it."""

    word: str
    fields: list[str]


class Explanation(BaseModel):
    """Why a tool is where it is."""

    query: str
    tool: str
    k: int
    found: bool
    rank: int | None
    score: float | None
    cut: float | None
    reasons: list[ReasonBody]
    words: list[WordBody]
    missing: list[str]
    obstacle: str | None
    notes: list[str]
    text: str


class ToolBody(BaseModel):
    """A tool's definition."""

    model_config = ConfigDict(extra="forbid")

    name: str
    id: str = ""
    description: str = ""
    parameters: dict[str, Any] = Field(default_factory=lambda: {"type": "object", "properties": {}})
    title: str | None = None
    output_schema: dict[str, Any] | None = None
    annotations: dict[str, Any] = {}
    namespace: str = ""
    tags: list[str] = []
    aliases: list[str] = []
    examples: list[str] = []
    groups: list[str] = []
    search: Literal["searchable", "always_visible"] = "searchable"
    returns: Literal["to_llm", "immediate", "immediate_if_last"] = "to_llm"
    source: str = ""
    metadata: dict[str, Any] = {}


class ToolsPage(BaseModel):
    """Tools in catalog order."""

    tools: list[ToolBody]
    next_cursor: str | None
    total: int
    version: str


class Count(BaseModel):
    """A value and how many tools have it."""

    value: str
    tools: int


class Facets(BaseModel):
    """What tools can be narrowed by, most frequent first."""

    namespaces: list[Count]
    tags: list[Count]
    sources: list[Count]


class IndexBody(BaseModel):
    """An index, as its caller sees it."""

    name: str
    default: bool
    tools: int
    version: str
    strategy: str
    strategies: list[str]
    encoder: str
    generation: int | None = None
    notes: list[str] | None = None


class IndexList(BaseModel):
    """All indexes."""

    indexes: list[IndexBody]


class Me(BaseModel):
    """Who the caller is."""

    key: str | None
    role: str
    groups: list[str] | None


class ProblemBody(BaseModel):
    """An error (RFC 9457)."""

    type: str
    title: str
    status: int
    detail: str
    instance: str
    request_id: str
    errors: list[dict[str, str]] | None = None
    near: list[str] | None = None


class NewSession(Body):
    """Where a session searches."""

    index: Name | None = None


class SessionBody(BaseModel):
    """A session: what was found, in order."""

    id: str
    index: str
    found: list[str]
    expires_at: str


class Batch(Body):
    """Tools to add or change, and ids to delete."""

    upsert: list[dict[str, Any]] = []
    delete: Ids = []


class ItemResult(BaseModel):
    """What became of one item: added, changed, unchanged, removed, absent or refused."""

    id: str
    status: str
    detail: str | None = None


class BatchAnswer(BaseModel):
    """A result for each item, in order: first what was written, then what was deleted."""

    results: list[ItemResult]
    generation: int
