"""From the arguments that a model wrote to checked values."""

from __future__ import annotations

import json
import re
from copy import deepcopy
from typing import Any, Final, cast

from toolsearch.catalog.loaded import no_constant
from toolsearch.catalog.validation import check_arguments
from toolsearch.errors import ToolArgumentsError
from toolsearch.tool import Json, ToolSpec

MAX_SCHEMA: Final = 3_000
"""Longest schema that an error repeats, in characters."""
MAX_PROBLEMS: Final = 5
_TRAILING: Final = re.compile(r",(\s*[}\]])")


def parsed(text: str, limit: int) -> Json:
    """The arguments of a call as an object. Blank text is an empty one; small slips of models are mended.

    Raises:
        ToolArgumentsError: it is no JSON object, or longer than `limit` characters.
    """
    if len(text) > limit:
        raise ToolArgumentsError(f"the arguments have {len(text)} characters; the bound is {limit}")
    if not text.strip():
        return {}
    for candidate in (text, _unquoted(text)):
        try:
            value: object = json.loads(candidate, parse_constant=no_constant)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict):
            return cast("Json", value)
        if value is None:
            return {}
    raise ToolArgumentsError(f"the arguments are not a JSON object: {text[:200]!r}")


def _unquoted(text: str) -> str:
    """Without quotes around the whole, escaped quotes inside, and commas at the end of a list or object."""
    bare = text.strip()
    bare = bare.removeprefix('"').removesuffix('"').replace('\\"', '"')
    return _TRAILING.sub(r"\1", bare)


def with_schema(text: str, spec: ToolSpec) -> str:
    """An error's text followed by the schema that the arguments must have."""
    schema = json.dumps(spec.parameters, ensure_ascii=False, separators=(",", ":"))
    return f"{text}\nThe parameters are: {schema[:MAX_SCHEMA]}{' ...' if len(schema) > MAX_SCHEMA else ''}"


def check(spec: ToolSpec, arguments: Json) -> Json:
    """The arguments with defaults of the schema filled in.

    Raises:
        ToolArgumentsError: they do not fit; the text names what is missing, unknown or wrong.
    """
    properties: dict[str, Any] = spec.parameters.get("properties") or {}
    declared = {name: cast("Json", one) for name, one in properties.items() if isinstance(one, dict)}
    defaults = {name: one["default"] for name, one in declared.items() if "default" in one and name not in arguments}
    filled: Json = {**arguments, **deepcopy(defaults)}
    faults = check_arguments(spec, filled)
    if faults:
        told = "; ".join(faults[:MAX_PROBLEMS])
        raise ToolArgumentsError(f"the arguments of tool {spec.name[:80]!r} do not fit: {told}")
    return filled
