"""Schemas that providers refuse or that tell a model too little."""

from __future__ import annotations

import json
from typing import Any, Final, cast

from toolsearch.catalog.findings import Rule, Said, Severity, listed
from toolsearch.catalog.schema import FORMS, Repaired, repair
from toolsearch.errors import InvalidInput
from toolsearch.tool import Json, ToolSpec

LARGE: Final = 8_000
"""Characters of a schema's JSON, about 2,000 tokens, that a tool should stay below."""

SCHEMA_RULES: Final = {
    "schema-unusable": Rule(Severity.ERROR, "a schema that cannot be sent to a provider at all"),
    "schema-faulty": Rule(Severity.WARNING, "a schema that breaks the rules of JSON Schema, or states them in vain"),
    "schema-reshaped": Rule(Severity.INFO, "a sound schema that a provider gets in another form"),
    "schema-large": Rule(Severity.WARNING, f"a schema of more than {LARGE} characters"),
    "parameters-unstated": Rule(Severity.WARNING, "a tool that takes anything and says nothing of it"),
    "parameters-undescribed": Rule(Severity.INFO, "parameters without a description"),
    "parameters-untyped": Rule(Severity.INFO, "parameters of any type"),
}
_PROVIDERS: Final[dict[str, list[str]]] = {
    first: [name for name, form in FORMS.items() if form == FORMS[first]]
    for first in (next(name for name in FORMS if FORMS[name] == form) for form in FORMS.values())
}
"""One provider of each form -> all that take that form."""
_TRIVIAL: Final = frozenset({"root type added", "properties added"})
_ORDINARY: Final = (
    "references resolved",
    "lists of types split",
    "boolean schemas written out",
    "empty property maps removed",
    "missing items added",
)
"""Changes that a provider asks for, and that say nothing against a schema."""
_TYPING: Final = frozenset(
    {"type", "enum", "const", "$ref", "anyOf", "oneOf", "allOf", "properties", "items", "not", "if"}
)


def schemas(spec: ToolSpec) -> Said:
    """What is wrong with a tool's input schema."""
    try:
        repaired = {provider: repair(spec.parameters, provider) for provider in _PROVIDERS}
    except (InvalidInput, TypeError, ValueError, AttributeError, RecursionError) as error:
        yield "schema-unusable", f"The schema cannot be sent to a provider ({str(error)[:160]}); put it right."
        return
    yield from _changes(repaired)
    size = len(json.dumps(spec.parameters, separators=(",", ":"), ensure_ascii=False))
    if size > LARGE:
        yield (
            "schema-large",
            f"The schema has {size} characters, about {size // 4} tokens each time it is shown; "
            "split the tool or leave out what is seldom used.",
        )
    yield from _parameters(spec.parameters, next(iter(repaired.values())).schema)


def _changes(repaired: dict[str, Repaired]) -> Said:
    faults = dict.fromkeys(change for one in repaired.values() for change in one.changes if _is_fault(change))
    told = dict.fromkeys(rule for one in repaired.values() for rule in one.rules)
    if faults:
        rules = f" ({' '.join(told)})"[:200] if told else ""
        yield "schema-faulty", f"The schema is mended before it is sent: {'; '.join(faults)}{rules}; correct it."
    ordinary = {change: _takers(change, repaired) for change in _ORDINARY}
    forms = [f"{change} for {takers}" for change, takers in ordinary.items() if takers]
    if forms:
        yield (
            "schema-reshaped",
            f"The schema is sent in another form: {'; '.join(forms)}; a plainer one is sent as it is.",
        )


def _takers(change: str, repaired: dict[str, Repaired]) -> str:
    takers = [name for first, one in repaired.items() if change in one.changes for name in _PROVIDERS[first]]
    return "every provider" if len(takers) == len(FORMS) else ", ".join(takers)


def _is_fault(change: str) -> bool:
    return change not in _TRIVIAL and change not in _ORDINARY


def _parameters(given: Json, sound: Json) -> Said:
    bodies = cast("dict[str, object]", sound["properties"])
    named = {name: cast(Json, body) for name, body in bodies.items() if isinstance(body, dict)}
    if not named and given.get("additionalProperties", False) is not False:
        yield (
            "parameters-unstated",
            "The tool takes any arguments and names none, so a model has to guess; list its parameters.",
        )
    bare = [name for name, body in named.items() if not _described(body)]
    if bare:
        yield "parameters-undescribed", f"No description for {listed(bare)}; say what to give, in which form or unit."
    loose = [name for name, body in named.items() if _TYPING.isdisjoint(body)]
    if loose:
        yield "parameters-untyped", f"No type for {listed(loose)}; state one."


def _described(body: Json) -> bool:
    text: Any = body.get("description") or body.get("title")
    return (isinstance(text, str) and bool(text.strip())) or "$ref" in body or "const" in body
