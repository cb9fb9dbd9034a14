"""One tool a line: our own JSON, or `{id, name, description, parameters, source[, server, category, ...]}`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import Any, Final

from toolsearch.catalog.loaded import MAX_FILE, Collector, Loaded, as_object, parse_json
from toolsearch.errors import InvalidInput, InvalidSource, LimitExceeded
from toolsearch.tool import MAX_BYTES, Tool, ToolSpec

READER: Final = "jsonl-1"
"""Changes whenever a line gives another tool than before, or lines are refused that were not, or the other way."""
_FIELDS: Final = {
    "id", "name", "description", "title", "annotations", "namespace", "aliases", "examples", "groups", "search",
    "returns", "source", "metadata",
}  # fmt: skip
_PARAMETERS: Final = ("parameters", "inputSchema", "input_schema")
_OUTPUT: Final = ("output_schema", "outputSchema")
_KNOWN: Final = sorted({*_FIELDS, *_PARAMETERS, *_OUTPUT, "tags", "category", "server"})
_LIKE: Final = 0.8
"""How alike a key must be to a known one to be taken for a slip of the pen."""


def load_jsonl(path: Path, *, keep_going: bool = False) -> Loaded:
    """The tools of a file.

    Raises:
        InvalidSource: a line is not a tool (unless `keep_going`), or the file cannot be read.
        LimitExceeded: the file is larger than MAX_FILE.
    """
    collector = Collector(keep_going=keep_going)
    for number, line in numbered_lines(path):
        where = f"{path.name}:{number}"
        try:
            collector.add(Tool(spec_from_line(line, where, partial(collector.doubt, where))), where)
        except LimitExceeded as error:
            collector.fail(where, str(error))
        except InvalidInput as error:
            collector.fail(where, str(error).removeprefix(f"{where}: "))
    return collector.loaded()


def write_jsonl(tools: Iterable[ToolSpec], path: Path) -> None:
    """Write tools, one canonical JSON a line."""
    path.write_text("".join(tool.to_json() + "\n" for tool in tools), "utf-8")


def spec_from_line(line: str, where: str = "line", doubt: Callable[[str], object] = str) -> ToolSpec:
    """The tool of one line; `doubt` is told what looks wrong with it.

    Raises:
        InvalidSource: the line is not a JSON object.
        InvalidTool: it is not a tool.
        LimitExceeded: it is longer than a tool may be.
    """
    if len(line) > 4 * MAX_BYTES:
        raise LimitExceeded(f"a line of {len(line)} characters; a tool may have {MAX_BYTES}")
    body = as_object(parse_json(line, where), where)
    spec = ToolSpec.from_json(line) if body.get("v") == 1 else _spec(body)
    spec.to_json()
    for key, meant in misspelt(body).items():
        doubt(f"the key {key[:80]!r} is not read; did you mean {meant!r}?")
    return spec


def misspelt(body: Mapping[str, Any]) -> dict[str, str]:
    """Keys that are not read and look like ones that are, and those."""
    strange = [key for key in body if key not in _KNOWN and key != "v" and len(key) < 40][:20]
    near = {key: get_close_matches(key, _KNOWN, 1, _LIKE) for key in strange}
    return {key: found[0] for key, found in near.items() if found and found[0] not in body}


def _spec(body: Mapping[str, Any]) -> ToolSpec:
    """A tool of the public layout; `server` is its namespace, and keys that are not known are not read."""
    fields = {key: body[key] for key in _FIELDS if body.get(key) is not None}
    fields["parameters"] = _first(body, *_PARAMETERS) or {
        "type": "object",
        "properties": {},
    }
    if (output := _first(body, *_OUTPUT)) is not None:
        fields["output_schema"] = output
    if isinstance(body.get("server"), str):
        fields.setdefault("namespace", body["server"])
    fields["tags"] = body.get("tags") or ([body["category"]] if isinstance(body.get("category"), str) else [])
    fields.setdefault("name", "")
    return ToolSpec(**fields)


def _first(body: Mapping[str, Any], *keys: str) -> Any:
    return next((body[key] for key in keys if body.get(key) is not None), None)


def numbered_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Numbered lines that are not blank, read one by one.

    Raises:
        InvalidSource: the file cannot be read.
        LimitExceeded: it is larger than MAX_FILE.
    """
    try:
        if path.is_dir():
            raise InvalidSource(f"{str(path)!r} is a folder, not a file")
        if path.stat().st_size > MAX_FILE:
            raise LimitExceeded(f"{path.name} has {path.stat().st_size} bytes; the bound is {MAX_FILE}")
        with path.open(encoding="utf-8-sig") as file:
            for number, line in enumerate(file, 1):
                if line.strip():
                    yield number, line
    except OSError as error:
        raise InvalidSource(f"{str(path)!r} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise InvalidSource(f"{path.name} is not UTF-8 text ({error.reason})") from None
