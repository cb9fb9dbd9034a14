"""OpenAPI 3.0 and 3.1: one tool for each operation.

The arguments are the parameters in path, query and header together with the properties of a JSON body, or one
argument `body` when the body is no object. Where two would have one name, the body's keeps it and a parameter is
called `{name}__{in}`. The tool's metadata tells where each argument goes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final, cast

from toolsearch.catalog.loaded import Collector, as_object
from toolsearch.catalog.openapi_arguments import arguments_of
from toolsearch.catalog.openapi_names import Place, identifier, operation_names
from toolsearch.catalog.openapi_schemas import followed
from toolsearch.errors import InvalidInput, InvalidSource, InvalidTool
from toolsearch.tool import MAX_BYTES, Json, Tool, ToolSpec, canonical

METHODS: Final = ("get", "put", "post", "delete", "options", "head", "patch", "trace", "query")
MAX_NAMESPACE: Final = 40
EMPTY_WORDS: Final = frozenset(
    {"", "api", "apis", "openapi", "rest", "spec", "specification", "official", "the", "service", "v1", "v2", "v3"}
)
"""Words of a document's title that say nothing in a namespace."""


def collect_openapi(document: object, where: str, collector: Collector) -> None:
    """Gather the tools of a document.

    Raises:
        InvalidSource: it is no OpenAPI 3 document, or an operation is broken and problems are not collected.
    """
    body = cast(Json, as_object(document, where))
    version = str(body.get("openapi", body.get("swagger")))
    if not version.startswith("3."):
        raise InvalidSource(f"{where} is of OpenAPI {version[:20]}; 3.0 and later are read: convert it first")
    if not isinstance(body.get("paths"), dict):
        raise InvalidSource(f"{where} has no paths, so no operations")
    namespace = _namespace(body, where)
    items = list(_operations(body, where, collector))
    names = operation_names(place for place, _, _ in items)
    for place, operation, shared in items:
        try:
            spec = _spec(body, (place, operation, shared), names[place], namespace)
        except InvalidInput as error:
            collector.fail(f"{where} {place!s:.200}", str(error))
        else:
            collector.add(Tool(spec), f"{where} {place!s:.200}")


def tools_from_openapi(document: object, *, keep_going: bool = False) -> tuple[ToolSpec, ...]:
    """The tools of a document's operations, in its order.

    Raises:
        InvalidSource: it is no OpenAPI 3 document, or an operation is broken (unless `keep_going`).
    """
    collector = Collector(keep_going=keep_going)
    collect_openapi(document, "openapi", collector)
    return tuple(tool.spec for tool in collector.loaded().tools)


def _operations(body: Json, where: str, collector: Collector) -> Iterator[tuple[Place, Json, list[Any]]]:
    """Place, operation and the path's own parameters."""
    for path, item in cast(Json, body["paths"]).items():
        if path.startswith("x-"):
            continue
        try:
            known = followed(body, item, f"path {path[:120]!r}")
            shared = _list(known, "parameters")
        except InvalidInput as error:
            collector.fail(f"{where} {path[:200]}", str(error))
            continue
        for method, operation in known.items():
            if method not in METHODS:
                continue
            if not isinstance(operation, dict):
                collector.fail(
                    f"{where} {method} {path[:200]}", f"an operation must be an object, not {operation!r:.60}"
                )
                continue
            given = cast(Json, operation).get("operationId")
            place = Place(method=method, path=path, operation_id=given if isinstance(given, str) else "")
            yield place, cast(Json, operation), shared


def _spec(document: Json, entry: tuple[Place, Json, list[Any]], name: str, namespace: str) -> ToolSpec:
    place, operation, shared = entry
    arguments = arguments_of(document, operation, [*shared, *_list(operation, "parameters")])
    tags = [one for one in _list(operation, "tags") if isinstance(one, str)]
    if operation.get("deprecated") is True:
        tags.append("deprecated")
    texts = [operation.get(key) for key in ("summary", "description")]
    said = list(dict.fromkeys(text.strip() for text in texts if isinstance(text, str) and text.strip()))
    spec = ToolSpec(
        name=name,
        description="\n".join(said) or str(place),
        parameters=arguments.schema,
        namespace=namespace,
        tags=tuple(dict.fromkeys(tags)),
        annotations=_annotations(place.method),
        source=f"openapi:{namespace}",
        metadata={"openapi": {"method": place.method, "path": place.path, **arguments.placement}},
    )
    return _small_enough(spec, place)


def _annotations(method: str) -> Json:
    """What HTTP says of a method (RFC 9110, section 9.2): which only read, and that DELETE destroys."""
    reads: Json = {"readOnlyHint": method in ("get", "head", "options", "query")}
    return {**reads, "destructiveHint": True, "idempotentHint": True} if method == "delete" else reads


def _small_enough(spec: ToolSpec, place: Place) -> ToolSpec:
    if len(canonical(spec.parameters, what=str(place))) > MAX_BYTES // 2:
        raise InvalidTool(f"the parameters need more than {MAX_BYTES // 2} characters of schema")
    spec.to_json()
    return spec


def _namespace(body: Json, where: str) -> str:
    info: object = body.get("info")
    title = cast(Json, info).get("title") if isinstance(info, dict) else None
    words = re.sub(r"['’]s\b", "", title if isinstance(title, str) else "")
    telling = [word for word in identifier(words).lower().split("_") if word not in EMPTY_WORDS]
    name = "_".join(telling) or identifier(where.partition(".")[0]).lower()
    return name[:MAX_NAMESPACE].rstrip("_-")


def _list(body: Json, key: str) -> list[Any]:
    value: object = body.get(key)
    if value is None:
        return []
    if not isinstance(value, list):
        raise InvalidTool(f"{key} must be a list, not {value!r:.60}")
    return cast("list[Any]", value)
