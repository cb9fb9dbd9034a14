"""Sessions: search where what was found before takes no place."""

from __future__ import annotations

import datetime
from typing import TYPE_CHECKING, Annotated

from fastapi import APIRouter, Body, Path, Request, Response

from toolsearch.server import bodies
from toolsearch.server.routes.searching import Answer, found, noted
from toolsearch.server.service import Anyone, Here

if TYPE_CHECKING:
    from toolsearch.server.callers import Caller
    from toolsearch.server.service import Service
    from toolsearch.server.sessions import Session

router = APIRouter(prefix="/v1/sessions", tags=["sessions"])
Id = Annotated[str, Path(max_length=64)]


@router.post("", status_code=201)
async def open_session(
    here: Here, caller: Anyone, wanted: Annotated[bodies.NewSession | None, Body()] = None
) -> bodies.SessionBody:
    """Open a session in an index."""
    served = here.indexes.named(wanted.index if wanted else None)
    made = await here.change(lambda: here.sessions.open(caller, served.name))
    return _body(made, list(made.found))


@router.get("/{session}")
async def get_session(session: Id, here: Here, caller: Anyone) -> bodies.SessionBody:
    """Show what was found, as far as the caller may still see it."""

    def work() -> bodies.SessionBody:
        known = here.sessions.get(session, caller)
        return _body(known, _seen(here, caller, known))

    return await here.run(work)


@router.post("/{session}/search", response_model=bodies.SearchAnswer)
async def search(session: Id, asked: bodies.Search, here: Here, caller: Anyone, request: Request) -> Response:
    """Find tools, and note them; what was found before is told as available."""

    def work() -> Answer:
        known = here.sessions.get(session, caller)
        served = here.indexes.named(known.index)
        visible = [*known.found, *asked.visible]
        answer = found(served, caller, asked.model_copy(update={"visible": visible}), request.state.request_id)
        here.sessions.add(known, [hit["id"] for hit in answer["hits"]])
        return noted(here, caller, request, asked, answer)

    return await here.answer(work)


@router.post("/{session}/reset")
async def reset(session: Id, here: Here, caller: Anyone) -> bodies.SessionBody:
    """Forget what was found."""

    def work() -> bodies.SessionBody:
        known = here.sessions.get(session, caller)
        here.sessions.reset(known)
        return _body(known, [])

    return await here.change(work)


@router.delete("/{session}", status_code=204)
async def close(session: Id, here: Here, caller: Anyone) -> None:
    """Forget a session."""
    await here.change(lambda: here.sessions.close(here.sessions.get(session, caller)))


def _seen(here: Service, caller: Caller, session: Session) -> list[str]:
    view = here.indexes.named(session.index).see(caller).view
    return [tool for tool in session.found if view.get(tool) is not None]


def _body(session: Session, found: list[str]) -> bodies.SessionBody:
    expires = datetime.datetime.fromtimestamp(session.expires, datetime.UTC).isoformat(timespec="seconds")
    return bodies.SessionBody(id=session.id, index=session.index, found=found, expires_at=expires)
