"""The description of the interface: as OpenAPI, and as a page that needs nothing from anywhere else."""

from __future__ import annotations

import json
from html import escape
from typing import TYPE_CHECKING, Any, Final, cast

from fastapi import APIRouter, FastAPI, Request, Response

from toolsearch.server.service import Here

if TYPE_CHECKING:
    from collections.abc import Iterator

    from toolsearch.tool import Json

router = APIRouter(include_in_schema=False)
POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'"
STYLE: Final = """
:root{color-scheme:light dark}body{font:16px/1.5 system-ui;max-width:60rem;margin:2rem auto;padding:0 1rem}
details{border-top:1px solid #8884;padding:.5rem 0}summary{cursor:pointer}code{font-family:ui-monospace,monospace}
pre{overflow:auto;background:#8881;padding:.75rem;border-radius:.4rem}.method{display:inline-block;width:5rem}
"""


@router.get("/openapi.json")
async def openapi(here: Here, request: Request) -> Response:
    """Give the description for machines."""
    app = cast("FastAPI", request.app)
    body = await here.run(lambda: json.dumps(app.openapi()))
    return Response(body, media_type="application/json")


@router.get("/docs")
async def docs(here: Here, request: Request) -> Response:
    """Give the description for people."""
    app = cast("FastAPI", request.app)
    body = await here.run(lambda: "".join(_page(app.openapi())))
    return Response(body, media_type="text/html", headers={"Content-Security-Policy": POLICY})


def _page(told: Json) -> Iterator[str]:
    title = escape(f"{told['info']['title']} {told['info']['version']}")
    yield f"<!doctype html><html lang=en><meta charset=utf-8><title>{title}</title>"
    yield f"<meta name=viewport content='width=device-width'><style>{STYLE}</style><h1>{title}</h1>"
    yield f"<p>{escape(told['info']['description'])} Machines read <a href=openapi.json>openapi.json</a>.</p>"
    yield "<p>Keys go into <code>Authorization: Bearer KEY</code> or <code>X-API-Key: KEY</code>. "
    yield "Errors are <code>application/problem+json</code> (RFC 9457).</p>"
    for path, methods in told["paths"].items():
        for method, operation in methods.items():
            yield from _operation(told, path, method, operation)


def _operation(told: Json, path: str, method: str, operation: Json) -> Iterator[str]:
    summary = escape(operation.get("description") or operation["summary"])
    yield f"<details><summary><code class=method>{method.upper()}</code><code>{escape(path)}</code> "
    yield f"{summary.splitlines()[0]}</summary><p>{summary}</p>"
    for one in operation.get("parameters", []):
        need = "" if one.get("required") else " (may be left out)"
        yield f"<p><code>{escape(one['name'])}</code> in {escape(one['in'])}{need}</p>"
    body: Any = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
    if body is not None:
        yield f"<h4>Body</h4>{_schema(told, body)}"
    for status, answer in operation["responses"].items():
        schema: Any = answer.get("content", {}).get("application/json", {}).get("schema")
        if schema and status.startswith("2"):
            yield f"<h4>{escape(status)}</h4>{_schema(told, schema)}"
    yield "</details>"


def _schema(told: Json, schema: Json) -> str:
    """A schema as JSON, with what it refers to one step down."""
    name = str(schema.get("$ref", "")).rpartition("/")[2]
    shown: Any = told["components"]["schemas"].get(name, schema) if name else schema
    return f"<pre>{escape(json.dumps(shown, indent=1))}</pre>"
