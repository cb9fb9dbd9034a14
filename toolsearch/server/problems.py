"""Errors as `application/problem+json` (RFC 9457), whoever raised them."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final, cast

from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response

from toolsearch import errors

if TYPE_CHECKING:
    from fastapi import FastAPI, Request
    from starlette.types import Scope

MEDIA: Final = "application/problem+json"
MAX_DETAIL: Final = 1_000
STATUSES: Final[dict[type[Exception], int]] = {
    errors.LimitExceeded: 413,
    errors.InvalidInput: 422,
    errors.IndexNotFound: 404,
    errors.IndexBusy: 409,
    errors.IndexReadOnly: 409,
    errors.IndexFault: 503,
    errors.EncoderFailed: 503,
    errors.DecisionFailed: 502,
    errors.MissingExtra: 501,
    sqlite3.OperationalError: 503,
}
"""Kind of error -> status; the first that fits."""
SHOWN: Final = (errors.InvalidInput, errors.MissingExtra)
"""Errors whose texts are for the caller; those of others may name paths and addresses, and are logged only."""

TEXTS: Final = {
    404: "the index is not there",
    409: "the index is being changed, or may only be read; try again in a moment",
    502: "the decision model gave no answer",
    503: "the index cannot be used now; try again in a moment",
}
WAIT: Final = {"Retry-After": "5"}


@dataclass(slots=True)
class Problem(Exception):
    """An answer that is an error; `more` are further members of its body."""

    status: int
    detail: str
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    more: Mapping[str, Any] = field(default_factory=dict[str, Any])


def problem(scope: Scope, told: Problem) -> Response:
    """The response that tells of a problem."""
    state = cast("Mapping[str, Any]", scope.get("state") or {})
    body = {
        "type": "about:blank",
        "title": HTTPStatus(told.status).phrase,
        "status": told.status,
        "detail": printable(told.detail)[:MAX_DETAIL],
        "instance": printable(str(scope.get("path", "")))[:200],
        "request_id": state.get("request_id", ""),
        **told.more,
    }
    return Response(json.dumps(body), told.status, {**told.headers, "Cache-Control": "no-store"}, MEDIA)


def printable(text: str) -> str:
    """The text without what would steer a terminal or break a line of a log."""
    return "".join(char if char.isprintable() else " " for char in text)


def of_error(error: Exception) -> Problem:
    """The problem that an error raised on purpose stands for; anything else is the service's own fault."""
    status = next((known for kind, known in STATUSES.items() if isinstance(error, kind)), 500)
    if isinstance(error, SHOWN):
        return Problem(status, str(error))
    return Problem(status, TEXTS.get(status, "the service failed; its log says more"), WAIT if status != 500 else {})


def install(app: FastAPI) -> None:
    """Let every error of an application be told as a problem."""

    async def told(request: Request, error: Exception) -> Response:
        return answer_to(request.scope, error)

    for kind in TOLD:
        app.add_exception_handler(kind, told)


def answer_to(scope: Scope, error: Exception) -> Response:
    """The response that tells of an error of one of the kinds in `TOLD`."""
    if isinstance(error, RequestValidationError):
        return problem(scope, _invalid(error))
    if isinstance(error, HTTPException):
        return problem(scope, Problem(error.status_code, str(error.detail), error.headers or {}))
    return problem(scope, error if isinstance(error, Problem) else of_error(error))


def _invalid(error: RequestValidationError) -> Problem:
    found = cast("Sequence[Mapping[str, Any]]", error.errors())[:20]
    told = [{"pointer": _pointer(one["loc"]), "detail": str(one["msg"])[:300]} for one in found]
    text = "; ".join(f"{one['pointer']}: {one['detail']}" for one in told[:3])
    return Problem(422, text, more={"errors": told})


def _pointer(place: Sequence[object]) -> str:
    return "#/" + "/".join(printable(str(part))[:80] for part in place)


TOLD: Final[tuple[type[Exception], ...]] = (
    *STATUSES,
    errors.ToolSearchError,
    Problem,
    HTTPException,
    RequestValidationError,
)
"""Kinds of errors that are answers; others are faults of the service."""
