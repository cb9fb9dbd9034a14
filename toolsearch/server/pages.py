"""The files of the web page, read from the package by name: a path never reaches the file system."""

from __future__ import annotations

import mimetypes
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Final

from fastapi import APIRouter, Request, Response

from toolsearch.server.problems import Problem

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

router = APIRouter(include_in_schema=False)
KINDS: Final = frozenset({".html", ".css", ".js", ".mjs", ".svg", ".png", ".ico", ".woff2", ".json", ".webmanifest"})
MAX_FILES: Final = 500
POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types"
)
"""Nothing from elsewhere, nothing inline, and no text of a catalog ever read as HTML."""


@cache
def web_files() -> dict[str, tuple[bytes, str]]:
    """Bytes and media type of every file of the page, by path; nothing when there is no page."""
    root = files("toolsearch").joinpath("web")
    return dict(sorted(_walk(root, ""))) if root.is_dir() else {}


@router.get("/")
@router.get("/{path:path}")
async def page(request: Request, path: str = "") -> Response:
    """A file of the page."""
    found = web_files().get(path or "index.html")
    if found is None:
        raise Problem(404, "there is nothing here; the interface is described at /docs")
    headers = {"Content-Security-Policy": POLICY, "X-Content-Type-Options": "nosniff", "Cache-Control": "no-cache"}
    headers["Referrer-Policy"] = "no-referrer"
    return Response(found[0], media_type=found[1], headers=headers)


def _walk(folder: Traversable, above: str) -> list[tuple[str, tuple[bytes, str]]]:
    found: list[tuple[str, tuple[bytes, str]]] = []
    for one in folder.iterdir():
        if len(found) >= MAX_FILES or one.name.startswith((".", "_")):
            continue
        if one.is_dir():
            found += _walk(one, f"{above}{one.name}/")
        elif any(one.name.endswith(kind) for kind in KINDS):
            kind = mimetypes.guess_type(one.name)[0] or "application/octet-stream"
            found.append((above + one.name, (one.read_bytes(), kind)))
    return found
