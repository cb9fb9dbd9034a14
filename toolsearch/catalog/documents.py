"""JSON documents of definitions: what vendor each one is of is seen from its shape."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, cast

from toolsearch.catalog.anthropic import from_anthropic
from toolsearch.catalog.gemini import from_gemini
from toolsearch.catalog.jsonl import spec_from_line
from toolsearch.catalog.loaded import Collector, Loaded, as_object, read_json
from toolsearch.catalog.mcp import from_mcp
from toolsearch.catalog.openai_chat import from_openai
from toolsearch.catalog.openai_responses import from_responses
from toolsearch.errors import InvalidInput, InvalidSource
from toolsearch.tool import Tool, ToolSpec, canonical


def load_json(path: Path, *, keep_going: bool = False) -> Loaded:
    """The tools of a JSON file: one definition, a list, `{"tools": [...]}` or Gemini's declarations.

    Raises:
        InvalidSource: it is not JSON, holds no tools, or one is broken (unless `keep_going`).
    """
    collector = Collector(keep_going=keep_going)
    for number, body in enumerate(_definitions(read_json(path), path.name)):
        where = f"{path.name} item {number}"
        try:
            spec = from_definition(body)
            spec.to_json()
            collector.add(Tool(spec), where)
        except InvalidSource:
            raise
        except InvalidInput as error:
            collector.fail(where, str(error))
    return collector.loaded()


def from_definition(body: Any) -> ToolSpec:
    """The tool of one definition of any vendor.

    Raises:
        InvalidInput: it is none that is known.
    """
    known = as_object(body, "definition")
    return _reader(known)(known)


def _reader(body: Mapping[str, Any]) -> Callable[[Mapping[str, Any]], ToolSpec]:
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
        listed = body.get("tools", body.get("functionDeclarations", body.get("function_declarations")))
        if listed is None and "name" not in body and "function" not in body:
            raise InvalidSource(f"{where} holds no tools: it has the keys {', '.join(list(body)[:8])[:120]}")
        document = [body] if listed is None else listed
    if not isinstance(document, list):
        raise InvalidSource(f"{where}: expected a list of tools, not {document!r:.60}")
    for item in cast("list[Any]", document):
        known = cast("dict[str, Any]", item) if isinstance(item, dict) else {}
        nested = known.get("functionDeclarations", known.get("function_declarations"))
        yield from cast("list[Any]", nested) if isinstance(nested, list) else [item]
