"""Changing the catalog: one tool, or many with a result for each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Final

from fastapi import APIRouter, Header, Query, Request, Response
from pydantic import ValidationError

from toolsearch.errors import InvalidInput
from toolsearch.server import bodies
from toolsearch.server.callers import OWNER
from toolsearch.server.problems import Problem
from toolsearch.server.routes.tools import tag
from toolsearch.server.service import Here, Writer
from toolsearch.tool import ToolSpec

if TYPE_CHECKING:
    from collections.abc import Mapping

    from toolsearch.server.indexes import Served
    from toolsearch.server.service import Service

router = APIRouter(prefix="/v1/tools", tags=["tools"])
MAX_ITEMS: Final = 5_000
Index = Annotated[str | None, Query(max_length=200)]
Match = Annotated[str | None, Header(max_length=1_000)]
Token = Annotated[str | None, Header(alias="Idempotency-Key", min_length=1, max_length=200)]
SCHEMA: Final = {
    "requestBody": {"required": True, "content": {"application/json": {"schema": bodies.Batch.model_json_schema()}}}
}


@dataclass(frozen=True, slots=True)
class Conditions:
    """What must hold for a change: `If-Match` names what is there, `If-None-Match: *` says that nothing is."""

    match: str | None
    none: str | None

    def check(self, spec: ToolSpec | None) -> None:
        """Refuse a change of something else than was meant.

        Raises:
            Problem: a condition does not hold.
        """
        here = None if spec is None else tag(spec, OWNER)
        missing = self.match is not None and (here is None or (self.match != "*" and here not in self.match))
        if missing or (self.none is not None and here is not None and (self.none == "*" or here in self.none)):
            raise Problem(412, "the tool is not what the condition says; get it again")


@router.post("/batch", response_model=bodies.BatchAnswer, openapi_extra=SCHEMA)
async def batch(
    here: Here, caller: Writer, request: Request, index: Index = None, idempotency_key: Token = None
) -> Response:
    """Add, change and delete tools, with a result for each; broken ones are refused and the others done."""
    served, raw = here.indexes.named(index), await request.body()

    def work() -> Response:
        reply = here.replies.once(caller, idempotency_key, raw, lambda: _batch(here, served, raw))
        headers = {"Idempotent-Replayed": "true"} if reply.again else {}
        return Response(reply.body, media_type="application/json", headers=headers)

    return await here.change(work)


@router.put("/{tool_id:path}", response_model=bodies.ItemResult)
async def put(
    tool_id: str, body: bodies.ToolBody, here: Here, caller: Writer, request: Request, index: Index = None
) -> Response:
    """Add a tool, or change the one with this id."""
    served, conditions = here.indexes.named(index), _conditions(request)
    spec = _spec({"id": tool_id, **body.model_dump(exclude_unset=True)})
    if spec.id != tool_id:
        raise Problem(422, f"the body has the id {spec.id[:200]!r}, the path {tool_id[:200]!r}")

    def work() -> Response:
        with served.changing():
            conditions.check(served.index.get(tool_id))
            done = served.index.upsert([spec])
            here.ledger.add(served.name, [tool_id])
        status = "added" if done.added else "changed" if done.changed else "unchanged"
        result = bodies.ItemResult(id=tool_id, status=status)
        code = 201 if done.added else 200
        return Response(result.model_dump_json(), code, {"ETag": tag(spec, OWNER)}, "application/json")

    return await here.change(work)


@router.delete("/{tool_id:path}", status_code=204)
async def delete(tool_id: str, here: Here, caller: Writer, request: Request, index: Index = None) -> None:
    """Take a tool out."""
    served, conditions = here.indexes.named(index), _conditions(request)

    def work() -> None:
        with served.changing():
            conditions.check(served.index.get(tool_id))
            done = served.index.remove([tool_id])
            here.ledger.forget(served.name, [tool_id])
        if not done.removed:
            raise Problem(404, f"there is no tool {tool_id[:200]!r} here")

    await here.change(work)


def _conditions(request: Request) -> Conditions:
    return Conditions(request.headers.get("if-match"), request.headers.get("if-none-match"))


def _spec(body: Mapping[str, Any]) -> ToolSpec:
    spec = ToolSpec(**body)
    spec.to_json()
    return spec


def _batch(here: Service, served: Served, raw: bytes) -> bytes:
    try:
        asked = bodies.Batch.model_validate_json(raw)
    except ValidationError as error:
        raise Problem(422, f"not a batch: {error.errors()[0]['msg'][:300]}") from None
    if len(asked.upsert) + len(asked.delete) > MAX_ITEMS:
        raise Problem(413, f"a batch has at most {MAX_ITEMS} items")
    specs, results = _accepted(asked)
    with served.changing():
        done = served.index.upsert(specs)
        gone = served.index.remove(asked.delete) if asked.delete else done
        here.ledger.add(served.name, [spec.id for spec in specs])
        here.ledger.forget(served.name, asked.delete)
    words = {**dict.fromkeys(done.added, "added"), **dict.fromkeys(done.changed, "changed")}
    for one in results:
        one.status = one.status or words.get(one.id, "unchanged")
    results += [
        bodies.ItemResult(id=tool, status="removed" if tool in gone.removed else "absent") for tool in asked.delete
    ]
    return bodies.BatchAnswer(results=results, generation=gone.generation).model_dump_json().encode()


def _accepted(asked: bodies.Batch) -> tuple[list[ToolSpec], list[bodies.ItemResult]]:
    """The tools that can be taken, and a result for each item: refused, or not known yet."""
    specs: dict[str, ToolSpec] = {}
    results: list[bodies.ItemResult] = []
    for item in asked.upsert:
        named = str(item.get("id") or item.get("name") or "")[:200]
        try:
            spec = _spec(bodies.ToolBody.model_validate(item).model_dump(exclude_unset=True))
        except (InvalidInput, ValidationError) as error:
            results.append(bodies.ItemResult(id=named, status="refused", detail=_reason(error)))
            continue
        twice = spec.id in specs or spec.id in asked.delete
        detail = "its id stands twice in this batch" if twice else None
        results.append(bodies.ItemResult(id=spec.id, status="refused" if twice else "", detail=detail))
        if not twice:
            specs[spec.id] = spec
    return list(specs.values()), results


def _reason(error: InvalidInput | ValidationError) -> str:
    if isinstance(error, ValidationError):
        first = error.errors()[0]
        return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"[:300]
    return str(error)[:300]
