"""The operations that may be called for a namespace: those of the one OpenAPI document that describes it.

A tool of an index says of itself what it is. Whoever calls it for the index asks here what its document says.
"""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Final, cast

from toolsearch.catalog.documents import parsed
from toolsearch.catalog.loaded import Collector
from toolsearch.catalog.openapi import collect_openapi
from toolsearch.catalog.running import Running, files_in
from toolsearch.errors import InvalidInput, InvalidSource
from toolsearch.tool import Json, ToolSpec

_log: Final = logging.getLogger("toolsearch.catalog")


def operations_of(running: Running, namespace: str) -> dict[str, ToolSpec]:
    """The tools by id, as the definition's document describes them now. Documents that cannot be read are logged.

    Raises:
        InvalidSource: no document has the namespace, or several have and the definition does not say which one counts.
    """
    service = running.services.get(namespace)
    named = service.document if service else ""
    paths = dict.fromkeys(path.resolve() for path in files_in(running.sources()))
    if named:
        paths = [path for path in paths if path == (running.folder / named).resolve()]
    found = {path: specs for path in paths if (specs := _described(path, namespace))}
    if len(found) > 1:
        first, second = (path.name[:200] for path in list(found)[:2])
        raise InvalidSource(
            f"{first} and {second} both describe the namespace {namespace[:80]!r}; "
            f"name the one that is meant: document = ... under [http.{namespace[:80]}]"
        )
    if not found:
        place = f"the document {named[:200]!r}" if named else "no OpenAPI document"
        raise InvalidSource(
            f"{place} among the sources{' does not describe' if named else ' describes'} {namespace!r:.80}"
        )
    return next(iter(found.values()))


def _described(path: Path, namespace: str) -> dict[str, ToolSpec]:
    collector = Collector(keep_going=True)
    try:
        document = parsed(path)
        if not isinstance(document, dict) or "openapi" not in cast(Json, document):
            return {}
        collect_openapi(cast(Json, document), path.name, collector)
    except InvalidInput as error:
        _log.warning("no operations can be read from %s: %s", path.name[:200], str(error)[:300])
    specs = (tool.spec for tool in collector.loaded().tools)
    return {spec.id: spec for spec in specs if spec.namespace == namespace}
