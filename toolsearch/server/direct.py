"""Routes that take one JSON body and are asked all the time: read in one step, described like all others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, get_type_hints

from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from pydantic import TypeAdapter, ValidationError

from toolsearch.server.service import caller_of, service_of

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from fastapi import Request, Response

JSON: Final = "application/json"


class Direct(APIRoute):
    """Calls `endpoint(asked, here, caller, request)` with what the request says, without solving dependencies.

    They would take a third of the time that a search spends outside of its thread.
    """

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """What answers a request."""
        endpoint: Any = self.endpoint
        shape: TypeAdapter[Any] = TypeAdapter(get_type_hints(endpoint)["asked"])

        async def answer(request: Request) -> Response:
            asked = read(shape, request.headers.get("content-type", ""), await request.body())
            here, caller = await service_of(request), await caller_of(request)
            return await endpoint(asked=asked, here=here, caller=caller, request=request)

        return answer


def read(shape: TypeAdapter[Any], kind: str, body: bytes) -> Any:
    """The value of a body.

    Raises:
        RequestValidationError: it is not JSON, or not of this shape.
    """
    if kind.partition(";")[0].strip().lower() != JSON:
        raise RequestValidationError([{"loc": ("header", "content-type"), "msg": f"the body must be {JSON}"}])
    try:
        return shape.validate_json(body)
    except ValidationError as error:
        found = error.errors(include_url=False, include_context=False, include_input=False)
        raise RequestValidationError([{**one, "loc": ("body", *one["loc"])} for one in found]) from None
