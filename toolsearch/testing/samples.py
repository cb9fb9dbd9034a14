"""Plausible values for a JSON Schema, drawn from a seed: the same seed, the same values."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from datetime import date, datetime, time, timedelta
from typing import Any, Final, cast

from jsonschema import Draft202012Validator

from toolsearch.tool import Json, ToolSpec

FIRST_DAY: Final = "2026-03-02"
MAX_NESTING: Final = 8
_PREFIX = re.compile(r"\^([\w-]+)\[0-9a-z\]\{8\}\$")
_LETTERS: Final = "0123456789abcdefghjkmnpqrstvwxyz"
_PEOPLE: Final = ("ana.ruiz", "tom.berg", "mei.lin", "omar.haddad", "lea.novak", "jin.park")
_FORMS: Final = {"date": re.compile(r"\d{4}-\d\d-\d\d"), "date-time": re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d.*")}


def sample_arguments(spec: ToolSpec, seed: str = "", *, optional: bool = True) -> Json:
    """Arguments that fit the tool's parameters; without `optional` only the required ones."""
    sampler = Sampler(f"{spec.id}\n{seed}")
    properties = cast("dict[str, Json]", spec.parameters.get("properties", {}))
    required = cast("list[str]", spec.parameters.get("required", []))
    return {name: sampler.value(one, name) for name, one in properties.items() if optional or name in required}


def fits(value: Any, schema: Json) -> bool:
    """Whether a value is valid for a schema, dates included."""
    form = _FORMS.get(cast(str, schema.get("format", "")))
    if form is not None and not (isinstance(value, str) and form.fullmatch(value)):
        return False
    return Draft202012Validator(schema).is_valid(value)  # pyright: ignore[reportUnknownMemberType]


class Sampler:
    """A stream of values from one seed. Dates never go back: each lies after the one before.

    It knows types, const, enum, examples, bounds, formats, `additionalProperties`, and patterns of a
    prefix with eight letters or digits (`^pay_[0-9a-z]{8}$`); other patterns need examples.
    """

    def __init__(self, seed: str, *, day: str | None = None) -> None:
        self._seed = seed
        self._drawn = 0
        self._now = datetime.combine(_day(day), time(9))

    def between(self, low: int, high: int) -> int:
        """A whole number, both ends included."""
        self._drawn += 1
        digest = hashlib.sha256(f"{self._seed}\n{self._drawn}".encode("utf-8", "replace")).digest()
        return low + int.from_bytes(digest[:8], "big") % (high - low + 1)

    def value(self, schema: Json, name: str = "", depth: int = 0) -> Any:
        """A value for a schema; `name` is what it is called where the schema says nothing else."""
        if "const" in schema:
            return schema["const"]
        for choices in ("enum", "examples"):
            if schema.get(choices):
                return self._one_of(cast("list[Any]", schema[choices]))
        kind = schema.get("type", "string")
        if kind in ("object", "array"):
            return self._nested(schema, name, depth) if depth < MAX_NESTING else ([] if kind == "array" else {})
        if kind == "boolean":
            return self.between(0, 1) == 1
        return self._number(schema) if kind in ("integer", "number") else self._text(schema, name)

    def _one_of(self, values: Sequence[Any]) -> Any:
        return values[self.between(0, len(values) - 1)]

    def _nested(self, schema: Json, name: str, depth: int) -> Any:
        if schema.get("type") == "array":
            items = cast(Json, schema.get("items", {}))
            return [self.value(items, name, depth + 1) for _ in range(self.between(1, 2))]
        properties = cast("dict[str, Json]", schema.get("properties", {}))
        found = {key: self.value(one, key, depth + 1) for key, one in properties.items()}
        more = schema.get("additionalProperties")
        return {**found, "note": self.value(cast(Json, more), "note", depth + 1)} if isinstance(more, dict) else found

    def _number(self, schema: Json) -> float | int:
        low, high = schema.get("minimum"), schema.get("maximum")
        low = low if low is not None else min(0, high if high is not None else 0)
        high = high if high is not None else low + 100
        if schema.get("type") == "integer":
            return self.between(int(low), int(high))
        return round(self.between(round(low * 100), round(high * 100)) / 100, 2)

    def _text(self, schema: Json, name: str) -> str:
        prefix = _PREFIX.fullmatch(cast(str, schema.get("pattern", "")))
        if prefix:
            return prefix[1] + self._letters(8)
        match schema.get("format"):
            case "date":
                return self._later(timedelta(days=self.between(1, 3))).date().isoformat()
            case "date-time":
                return self._later(timedelta(minutes=15 * self.between(1, 16))).isoformat() + "Z"
            case "email":
                return f"{self._one_of(_PEOPLE)}@example.com"
            case "uri":
                return f"https://example.com/{name or 'page'}/{self._letters(8)}"
            case _:
                return f"{name or 'text'} {self.between(1, 99)}"

    def _later(self, step: timedelta) -> datetime:
        self._now += step
        return self._now

    def _letters(self, count: int) -> str:
        return "".join(_LETTERS[self.between(0, len(_LETTERS) - 1)] for _ in range(count))


def _day(text: str | None) -> date:
    try:
        day = date.fromisoformat(text or FIRST_DAY)
    except ValueError:
        return date.fromisoformat(FIRST_DAY)
    return day if day.year < date.max.year else date.fromisoformat(FIRST_DAY)
