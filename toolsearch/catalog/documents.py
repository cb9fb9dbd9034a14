"""JSON, YAML and TOML documents: what each holds is seen from its shape."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, Final, cast

from toolsearch.catalog.anthropic import from_anthropic
from toolsearch.catalog.arrays import array_items
from toolsearch.catalog.gemini import from_gemini
from toolsearch.catalog.jsonc import plain_json
from toolsearch.catalog.jsonl import spec_from_line
from toolsearch.catalog.loaded import MAX_DOCUMENT, MAX_YAML, Collector, Loaded, as_object, parse_json, read_text
from toolsearch.catalog.mcp import from_mcp
from toolsearch.catalog.openai_chat import from_openai
from toolsearch.catalog.openai_responses import from_responses
from toolsearch.catalog.yaml_text import parse_yaml
from toolsearch.errors import InvalidInput, InvalidSource, LimitExceeded
from toolsearch.tool import Tool, ToolSpec, canonical

SHAPES: Final = {
    "openapi": "toolsearch.catalog.openapi:collect_openapi",
    "swagger": "toolsearch.catalog.openapi:collect_openapi",
    "mcpServers": "toolsearch.catalog.mcp_live:collect_servers",
    "servers": "toolsearch.catalog.mcp_live:collect_servers",
}
"""Key at the top of a document -> what reads such a document: `reader(document, where, collector)`."""


def load_document(path: Path, *, keep_going: bool = False) -> Loaded:
    """The tools of a file: definitions of any vendor, a listing, an OpenAPI document, or a file of MCP servers.

    Raises:
        InvalidSource: it cannot be read, holds no tools, or one is broken (unless `keep_going`).
        LimitExceeded: it is too large.
    """
    document = parsed(path)
    collector = Collector(keep_going=keep_going)
    _reader_of(document)(document, path.name, collector)
    return collector.loaded()


def parsed(path: Path) -> object:
    """The value of a JSON, YAML or TOML file; JSON may have comments.

    Raises:
        InvalidSource: it cannot be read.
        LimitExceeded: it is too large.
    """
    text = read_text(path, _bound(path))
    if path.suffix in (".yaml", ".yml"):
        return parse_yaml(text, path.name)
    if path.suffix == ".toml":
        return _toml(text, path.name)
    try:
        return parse_json(text, path.name)
    except InvalidSource:
        bare = plain_json(text)
        if bare == text:
            raise
        return parse_json(bare, path.name)


def _bound(path: Path) -> int:
    """How many bytes may be read whole.

    Raises:
        LimitExceeded: the file is larger.
    """
    most = MAX_DOCUMENT if path.suffix in (".json", ".jsonc") else MAX_YAML
    if path.is_file() and path.stat().st_size > most:
        raise LimitExceeded(
            f"{path.name} has {path.stat().st_size} bytes, and {most} may be read whole; write its tools one a line "
            "(.jsonl) or as one JSON array (.json), which are read one by one, or part it into several files"
        )
    return most


def definitions(path: Path) -> Iterator[tuple[str, ToolSpec | InvalidInput]]:
    """The tools of a JSON array of definitions of any vendor, one by one, each with its place; or what is wrong.

    Raises:
        InvalidSource, LimitExceeded: as `array_items`.
    """
    for number, body in enumerate(unnested(array_items(path))):
        place = f"{path.name} item {number}"
        try:
            yield place, checked_definition(body)
        except InvalidInput as error:
            yield place, error


def checked_definition(body: Any) -> ToolSpec:
    """The tool of a definition, which can be written.

    Raises:
        InvalidInput: it cannot, or is none that is known.
    """
    spec = from_definition(body)
    spec.to_json()
    return spec


def from_definition(body: Any) -> ToolSpec:
    """The tool of one definition of any vendor.

    Raises:
        InvalidInput: it is none that is known.
    """
    known = as_object(body, "definition")
    return _vendor(known)(known)


def _collect_definitions(document: object, where: str, collector: Collector) -> None:
    for number, body in enumerate(_definitions(document, where)):
        place = f"{where} item {number}"
        try:
            spec = checked_definition(body)
        except InvalidInput as error:
            collector.fail(place, str(error))
        else:
            collector.add(Tool(spec), place)


def _reader_of(document: object) -> Callable[[Any, str, Collector], None]:
    known = cast("dict[str, Any]", document) if isinstance(document, dict) else {}
    for key, place in SHAPES.items():
        if key in known and (key != "servers" or isinstance(known[key], dict)):
            module, _, name = place.partition(":")
            return getattr(import_module(module), name)
    return _collect_definitions


def _vendor(body: Mapping[str, Any]) -> Callable[[Mapping[str, Any]], ToolSpec]:
    if "function" in body:
        return from_openai
    if "input_schema" in body:
        return from_anthropic
    if "inputSchema" in body:
        return from_mcp
    if "parametersJsonSchema" in body or "parameters_json_schema" in body:
        return from_gemini
    if body.get("type") == "function":
        return from_responses
    return _plain


def _plain(body: Mapping[str, Any]) -> ToolSpec:
    return spec_from_line(canonical(body, what="definition"))


def _definitions(document: object, where: str) -> Iterator[Any]:
    if isinstance(document, dict):
        body = cast("dict[str, Any]", document)
        if isinstance(body.get("result"), dict):
            body = cast("dict[str, Any]", body["result"])
        listed = body.get("tools", body.get("functionDeclarations", body.get("function_declarations")))
        if listed is None and "name" not in body and "function" not in body:
            raise InvalidSource(f"{where} holds no tools: it has the keys {', '.join(list(body)[:8])[:120]}")
        document = [body] if listed is None else listed
    if not isinstance(document, list):
        raise InvalidSource(f"{where}: expected a list of tools, not {document!r:.60}")
    yield from unnested(cast("list[Any]", document))


def unnested(items: Iterable[Any]) -> Iterator[Any]:
    """Definitions; where an item holds a list of them, those."""
    for item in items:
        known = cast("dict[str, Any]", item) if isinstance(item, dict) else {}
        nested = known.get("functionDeclarations", known.get("function_declarations"))
        yield from cast("list[Any]", nested) if isinstance(nested, list) else [item]


def _toml(text: str, where: str) -> object:
    try:
        return json.loads(json.dumps(tomllib.loads(text), default=str, allow_nan=False))
    except RecursionError:
        raise InvalidSource(f"{where}: TOML nested too deep") from None
    except ValueError as error:
        raise InvalidSource(f"{where}: not TOML: {str(error)[:160]}") from None
