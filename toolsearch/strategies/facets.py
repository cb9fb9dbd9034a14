"""What a tool can be selected by, without ranking: its groups, and the fields of the filter language."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final, cast

import numpy as np

from toolsearch.errors import InvalidFilter
from toolsearch.language import language
from toolsearch.strategies.filters import MAX_VALUE, PREFIX, And, Eq, Exists, In, Not, Or
from toolsearch.text import encoder_text
from toolsearch.tool import SearchBehavior

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from toolsearch.protocols import Mask, Rows
    from toolsearch.tool import ToolSpec

    Find = Callable[[str], Rows]

EVERYBODY: Final = "everybody"
"""Facet of tools without groups."""
PINNED: Final = "pinned"
"""Facet of tools that are always visible."""
WRITTEN: Final = "written in"
"""Facet of tools in another language than English; no field of a filter."""


def facets(spec: ToolSpec) -> dict[str, float]:
    """The facets of a tool, each with weight 1."""
    own = [facet("group", group) for group in spec.groups] or [EVERYBODY]
    spoken = language(encoder_text(spec))
    own += [facet(WRITTEN, spoken)] if spoken != "en" else []
    own += [PINNED] if spec.search is SearchBehavior.ALWAYS_VISIBLE else []
    return dict.fromkeys([*own, *_fields(spec)], 1.0)


def facet(field: str, value: object) -> str:
    """The facet of one value of one field; 1 and 1.0 are one value, 1 and true are two."""
    plain = int(value) if isinstance(value, float) and value.is_integer() else value
    return json.dumps([field, plain], ensure_ascii=False)


def _fields(spec: ToolSpec) -> Iterator[str]:
    plain = {"namespace": [spec.namespace], "source": [spec.source], "tags": list(spec.tags)}
    for field, values in plain.items():
        present = [value for value in values if value]
        if present:
            yield _exists(field)
        yield from (facet(field, value) for value in present if len(value) <= MAX_VALUE)
    for key, value in spec.annotations.items():
        yield _exists(PREFIX + key)
        items = cast("list[object]", value) if isinstance(value, list) else [value]
        yield from (facet(PREFIX + key, item) for item in items if _comparable(item))


def _exists(field: str) -> str:
    return json.dumps(["exists", field], ensure_ascii=False)


def _comparable(value: object) -> bool:
    return (
        value is None or isinstance(value, bool | int | float) or (isinstance(value, str) and len(value) <= MAX_VALUE)
    )


def evaluated(condition: object, rows: int, find: Find) -> Mask:
    """The rows that a condition keeps, (rows,) bool; `find` gives the rows of a facet.

    Raises:
        InvalidFilter: the condition is not one of the filter language.
    """
    match condition:
        case Eq(field, value):
            return _marked(rows, [find(facet(field, value))])
        case In(field, values):
            return _marked(rows, [find(facet(field, value)) for value in values])
        case Exists(field):
            return _marked(rows, [find(_exists(field))])
        case Not(part):
            return np.logical_not(evaluated(part, rows, find))
        case And(parts):
            return np.logical_and.reduce([np.ones(rows, np.bool_), *(evaluated(p, rows, find) for p in parts)])
        case Or(parts):
            return np.logical_or.reduce([np.zeros(rows, np.bool_), *(evaluated(p, rows, find) for p in parts)])
        case _:
            raise InvalidFilter(f"not a filter: {condition!r:.80}; make one with filters.parse")


def _marked(rows: int, found: list[Rows]) -> Mask:
    mask = np.zeros(rows, np.bool_)
    for own in found:
        mask[own] = True
    return mask
