"""What requests and answers of reranking look like."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, Field, model_validator

from toolsearch.server.bodies import MAX_K, Body, Id, Name, Text


class Rerank(Body):
    """Texts or ids of tools to order by a query."""

    query: Text
    documents: Annotated[list[Text], Field(min_length=1, max_length=200)] | None = None
    tools: Annotated[list[Id], Field(min_length=1, max_length=200)] | None = None
    top_n: int | None = Field(None, ge=1, le=MAX_K)
    model: Name | None = None
    index: Name | None = None

    @model_validator(mode="after")
    def _one_kind(self) -> Rerank:
        if (self.documents is None) == (self.tools is None):
            raise ValueError("give either documents or tools")
        if self.tools is not None and len(set(self.tools)) < len(self.tools):
            raise ValueError("a tool stands twice in tools")
        return self


class RerankResult(BaseModel):
    """One text or tool: its place in what was given, and the chance that it helps."""

    index: int
    relevance_score: float
    id: str | None = None


class Reranked(BaseModel):
    """All that were judged, the likeliest first; what the judge refused is left out."""

    id: str
    results: list[RerankResult]
