"""Tools, hits and explanations, written as the service's answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

from pydantic import BaseModel
from pydantic_core import to_json

from toolsearch.server.bodies import Explanation, ReasonBody, ToolBody, WordBody

if TYPE_CHECKING:
    from collections.abc import Sequence

    from toolsearch.protocols import Hit, Reason
    from toolsearch.server.callers import Caller
    from toolsearch.strategies.explain import Explanation as Told
    from toolsearch.tool import ToolSpec

T = TypeVar("T", bound=BaseModel | Mapping[str, Any])
CHARACTERS: Final = 4
"""Characters that are taken for one token."""
LISTED: Final = ("tags", "aliases", "examples", "groups")


def hit_body(hit: Hit, schemas: str, *, explain: bool) -> dict[str, Any]:
    """One hit with as much of its schema as is wanted, in the shape of a `HitBody`: making models costs too much."""
    spec = hit.tool
    body: dict[str, Any] = {
        "id": spec.id,
        "name": spec.name,
        "title": spec.title,
        "namespace": spec.namespace,
        "description": spec.description,
        "score": hit.score,
        "need": hit.need,
    }
    if schemas != "none":
        body["parameters"] = spec.parameters if schemas == "full" else parameter_names(spec)
    if explain:
        body["reasons"] = [{"kind": one.kind, "points": one.points, "detail": one.detail} for one in hit.reasons]
    return body


def parameter_names(spec: ToolSpec) -> list[str]:
    """Names of a tool's parameters; a question mark follows those that may be left out."""
    properties: object = spec.parameters.get("properties")
    required: object = spec.parameters.get("required")
    needed = cast("list[object]", required) if isinstance(required, list) else []
    names = list(cast("dict[str, Any]", properties)) if isinstance(properties, dict) else []
    return [name if name in needed else f"{name}?" for name in names]


def reason_bodies(reasons: Sequence[Reason]) -> list[ReasonBody]:
    """The parts of a score."""
    return [ReasonBody.model_construct(kind=one.kind, points=one.points, detail=one.detail) for one in reasons]


def as_json(body: BaseModel | Mapping[str, Any]) -> bytes:
    """A body as JSON; of a model only what was set."""
    if isinstance(body, BaseModel):
        return body.model_dump_json(exclude_unset=True).encode()
    return to_json(body, inf_nan_mode="null")


def within(bodies: Sequence[T], tokens: int | None) -> list[T]:
    """The first bodies that fit a budget of tokens."""
    if tokens is None:
        return list(bodies)
    left, kept = tokens * CHARACTERS, list[T]()
    for body in bodies:
        left -= len(as_json(body).decode())
        if left < 0:
            break
        kept.append(body)
    return kept


def explanation_body(told: Told) -> Explanation:
    """An explanation."""
    return Explanation(
        query=told.need,
        tool=told.tool_id,
        k=told.k,
        found=told.found,
        rank=told.rank,
        score=told.score,
        cut=told.cut,
        reasons=reason_bodies(told.reasons),
        words=[WordBody(word=word, fields=list(fields)) for word, fields in told.words],
        missing=list(told.missing),
        obstacle=told.obstacle,
        notes=list(told.notes),
        text=told.text(),
    )


def tool_body(spec: ToolSpec, caller: Caller) -> ToolBody:
    """A definition; the groups that may see it are told only to those who see everything."""
    body = {name: getattr(spec, name) for name in ToolBody.model_fields}
    body |= {name: list(body[name]) for name in LISTED}
    if not caller.sees_all:
        del body["groups"]
    return ToolBody.model_construct(**body)
