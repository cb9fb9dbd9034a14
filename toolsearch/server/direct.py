"""Routes that take one JSON body and are asked all the time: read in one step, described like all others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, get_type_hints

from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from pydantic import TypeAdapter, ValidationError
from starlette.requests import Request

from toolsearch.server.intake import WHOLE
from toolsearch.server.problems import TOLD, answer_to
from toolsearch.server.service import caller_of, service_of

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterable

    from fastapi import APIRouter, FastAPI, Response
    from starlette.types import Receive, Scope, Send

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
            asked = read(shape, request.headers.get("content-type", ""), request.scope.get(WHOLE, b""))
            here, caller = await service_of(request), await caller_of(request)
            return await endpoint(asked=asked, here=here, caller=caller, request=request)

        return answer


class ShortCut:
    """Leads requests for direct routes of routers straight there, and all others through the application.

    Matching one route after the other and the application's own middleware take longer than the rest of a request
    outside of its search.
    """

    def __init__(self, app: FastAPI, routers: Iterable[APIRouter]) -> None:
        self._app = app
        direct = (route for router in routers for route in router.routes if isinstance(route, Direct))
        self._routes = {route.path: (route, route.get_route_handler()) for route in direct if "{" not in route.path}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        found = self._routes.get(scope["path"]) if scope["type"] == "http" else None
        if found is None or scope["method"] not in (found[0].methods or ()):
            await self._app(scope, receive, send)
            return
        scope["app"], scope["route"] = self._app, found[0]
        try:
            response = await found[1](Request(scope, receive))
        except TOLD as error:
            response = answer_to(scope, error)
        await response(scope, receive, send)


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
