"""Stand-ins for real tools: an answer made from a tool's own definition, the same for the same call.

A simulator needs nothing but the spec. Its answer follows `output_schema`: what the call named comes
back (ids, sums, filters), everything else is drawn from examples, choices and bounds of the schema by
a seed of tool id and arguments. `metadata["simulate"]` says which numbers follow from others:

    {"total": {"sum": "lines", "of": ["quantity", "unitPrice"]}, "left": {"minus": ["budget", "spent"]}}

Nothing is kept between calls: two simulators do not know of each other.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import Any, Final, cast

from toolsearch.catalog.validation import check_arguments
from toolsearch.errors import ToolArgumentsError
from toolsearch.testing.samples import Sampler, fits
from toolsearch.tool import Json, ToolSpec, canonical

Simulator = Callable[..., Json]
PAGE_SIZES: Final = ("limit", "per_page", "max_results")
_FILTER = re.compile(r"(?i)(id|sku|key|number|status|state|severity|stage|level)$")


def simulator(spec: ToolSpec) -> Simulator:
    """An executor `run(arguments, context=None)` for one tool; without output schema it answers `{"ok": true}`.

    The executor raises ToolArgumentsError when the arguments do not fit the tool's parameters, and
    gives equal JSON for equal arguments, on every machine.
    """

    def run(arguments: Mapping[str, Any], context: object = None) -> Json:
        del context
        given = dict(arguments)
        if problems := check_arguments(spec, given):
            raise ToolArgumentsError(f"tool {spec.id[:80]!r}: {'; '.join(problems)[:400]}")
        call = canonical(given, what=f"arguments of tool {spec.id[:200]!r}")
        return _answer(spec, given, Sampler(f"{spec.id}\n{call}", day=_first_day(given)))

    return run


class Simulators:
    """Gives each tool its simulator; what `python:toolsearch.testing.simulators:run` as a tool's source names."""

    def for_tool(self, spec: ToolSpec) -> Simulator:
        """The executor of one tool."""
        return simulator(spec)


run: Final = Simulators()


def _answer(spec: ToolSpec, arguments: Json, sampler: Sampler) -> Json:
    schema = spec.output_schema
    if schema is None:
        return {"ok": True}
    known = {**_defaults(spec.parameters), **arguments}
    answer = _object(schema, known, sampler, top=True)
    for name, rule in cast("dict[str, Json]", spec.metadata.get("simulate", {})).items():
        answer[name] = _derived(rule, answer)
    return answer


def _defaults(parameters: Json) -> Json:
    properties = cast("dict[str, Any]", parameters.get("properties", {}))
    return {name: one["default"] for name, one in properties.items() if isinstance(one, dict) and "default" in one}


def _object(schema: Json, known: Json, sampler: Sampler, *, top: bool = False) -> Json:
    properties = cast("dict[str, Json]", schema.get("properties", {}))
    return {name: _field(name, one, known, sampler, top=top) for name, one in properties.items()}


def _field(name: str, schema: Json, known: Json, sampler: Sampler, *, top: bool) -> Any:
    """The value that the call named, if it fits; nested ones only where the name is that of a filter."""
    if name in known and (top or _FILTER.search(name)) and fits(known[name], schema):
        return known[name]
    if schema.get("type") == "object" and "properties" in schema:
        return _object(schema, known, sampler)
    if schema.get("type") == "array":
        return _list(cast(Json, schema.get("items", {})), known, sampler)
    return sampler.value(schema, name)


def _list(items: Json, known: Json, sampler: Sampler) -> list[Any]:
    limits = [known[name] for name in PAGE_SIZES if isinstance(known.get(name), int)]
    count = min(sampler.between(2, 4), *limits, 4)
    found = [_field("", items, known, sampler, top=False) for _ in range(count)]
    distinct = {canonical(one, what="an item"): one for one in found}
    return list(distinct.values())


def _derived(rule: Json, answer: Json) -> float | int:
    if "minus" in rule:
        first, second = (answer[name] for name in rule["minus"])
        return _money(first - second)
    rows = cast("list[Json]", answer[rule["sum"]])
    return _money(sum(math.prod(row.get(name, 0) for name in rule["of"]) for row in rows))


def _money(value: float) -> float | int:
    rounded = round(value, 2)
    return int(rounded) if rounded == int(rounded) else rounded


def _first_day(arguments: Json) -> str | None:
    """The first date that the call names, so that answers lie near it."""
    texts = [value for value in arguments.values() if isinstance(value, str)]
    return next((text[:10] for text in texts if re.match(r"\d{4}-\d\d-\d\d", text)), None)
