"""A closed, bounded language that narrows what a search returns.

Fields are `namespace`, `source`, `tags` and `annotations.KEY`. A filter is written as text,

    namespace = payments and not tags in (beta, "old stuff") and exists annotations.readOnlyHint

or as JSON, `{"and": [{"eq": ["namespace", "payments"]}, {"not": {"in": ["tags", ["beta"]]}}]}`. A field with
several values (tags, a list of annotations) equals a value when one of them does.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast

from toolsearch.errors import InvalidFilter

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Value = str | int | float | bool | None

MAX_TEXT: Final = 10_000
MAX_DEPTH: Final = 16
MAX_NODES: Final = 200
MAX_VALUES: Final = 1_000
MAX_VALUE: Final = 1_000
"""Longest text a filter compares with, in characters; longer values of a tool match no comparison."""
FIELDS: Final = ("namespace", "source", "tags")
PREFIX: Final = "annotations."
HOW: Final = f"write FIELD = VALUE, such as namespace = payments; fields are {', '.join(FIELDS)} and {PREFIX}KEY"


@dataclass(frozen=True, slots=True)
class Eq:
    """The field has this value."""

    field: str
    value: Value


@dataclass(frozen=True, slots=True)
class In:
    """The field has one of these values."""

    field: str
    values: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Exists:
    """The field is present; namespace, source and tags are when they are not empty."""

    field: str


@dataclass(frozen=True, slots=True)
class And:
    """Every part holds."""

    parts: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class Or:
    """At least one part holds."""

    parts: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class Not:
    """The part does not hold."""

    part: Condition


Condition: TypeAlias = Eq | In | Exists | And | Or | Not


def parse(source: object) -> Condition:
    """The filter that a text, a JSON object or an already built condition stands for, checked.

    Raises:
        InvalidFilter: it is outside the language or one of its bounds.
    """
    if isinstance(source, str):
        if len(source) > MAX_TEXT:
            raise InvalidFilter(f"a filter of {len(source)} characters; the bound is {MAX_TEXT}")
        return checked(_from_json(_loaded(source), 0) if source.lstrip().startswith("{") else _Text(source).whole())
    if isinstance(source, Mapping):
        return checked(_from_json(cast("object", source), 0))
    return checked(source)


def checked(condition: object) -> Condition:
    """The condition, when its fields, values, depth and size are within the language.

    Raises:
        InvalidFilter: they are not.
    """
    if sum(1 for _ in _walk(condition, 0)) > MAX_NODES:
        raise InvalidFilter(f"a filter of more than {MAX_NODES} tests")
    return cast("Condition", condition)


def _walk(condition: object, depth: int) -> Iterator[object]:
    if depth > MAX_DEPTH:
        raise InvalidFilter(f"a filter nested deeper than {MAX_DEPTH}")
    yield condition
    if isinstance(condition, And | Or):
        for part in condition.parts:
            yield from _walk(part, depth + 1)
    elif isinstance(condition, Not):
        yield from _walk(condition.part, depth + 1)
    elif isinstance(condition, Eq | In | Exists):
        _check_test(condition)
    else:
        raise InvalidFilter(f"not a filter: {condition!r:.80}; use eq, in, exists, and, or, not")


def _check_test(test: Eq | In | Exists) -> None:
    field = cast("object", test.field)
    known = isinstance(field, str) and (field in FIELDS or (field.startswith(PREFIX) and len(field) > len(PREFIX)))
    if not known or len(test.field) > MAX_VALUE:
        raise InvalidFilter(f"unknown field {field!r:.80}; use namespace, source, tags or annotations.KEY")
    given = test.values if isinstance(test, In) else (test.value,) if isinstance(test, Eq) else ()
    values = cast("Sequence[object]", given)
    if len(values) > MAX_VALUES:
        raise InvalidFilter(f"{len(values)} values for {field!r:.80}; the bound is {MAX_VALUES}")
    for value in values:
        if not isinstance(value, str | int | float | None) or value in (math.inf, -math.inf) or value != value:
            raise InvalidFilter(
                f"{field!r:.80} is compared with {value!r:.80}; use text, a number, true, false or null"
            )
        if isinstance(value, str) and len(value) > MAX_VALUE:
            raise InvalidFilter(f"{field!r:.80} is compared with {len(value)} characters; the bound is {MAX_VALUE}")


def _loaded(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidFilter(f"not the JSON of a filter: {text[:80]!r} ({str(error)[:80]})") from None


def _from_json(body: object, depth: int) -> Condition:
    if depth > MAX_DEPTH:
        raise InvalidFilter(f"a filter nested deeper than {MAX_DEPTH}")
    pairs = list(cast("Mapping[object, Any]", body).items()) if isinstance(body, Mapping) else []
    match pairs:
        case [("eq", [str(field), value])]:
            return Eq(field, value)
        case [("in", [str(field), [*values]])]:
            return In(field, tuple(values))
        case [("exists", str(field))]:
            return Exists(field)
        case [("and", [*parts])]:
            return And(tuple(_from_json(part, depth + 1) for part in parts))
        case [("or", [*parts])]:
            return Or(tuple(_from_json(part, depth + 1) for part in parts))
        case [("not", part)]:
            return Not(_from_json(part, depth + 1))
        case _:
            raise InvalidFilter(
                f'not a filter: {body!r:.80}; write {{"eq": [FIELD, VALUE]}}, {{"in": [FIELD, [VALUE]]}}, '
                '{"exists": FIELD}, {"and": [...]}, {"or": [...]} or {"not": {...}}'
            )


_TOKEN: Final = re.compile(r"""\s*(?:("(?:[^"\\]|\\.)*")|('[^']*')|(!=|==|=|\(|\)|,)|([^\s"'()=!,]+))""")
_WORDS: Final = {"true": True, "false": False, "null": None}


class _Text:
    """Reads the text form by recursive descent, with a bounded depth."""

    def __init__(self, text: str) -> None:
        self._text, self._place = text, 0
        self._tokens = self._split()

    def whole(self) -> Condition:
        found = self._either(0)
        if self._place < len(self._tokens):
            raise self._wrong("the end")
        return found

    def _split(self) -> list[str]:
        found: list[str] = []
        place, text = 0, self._text.rstrip()
        while place < len(text):
            token = _TOKEN.match(text, place)
            if token is None:
                raise InvalidFilter(f"cannot read the filter at {text[place : place + 40]!r}")
            found.append(token.group().strip())
            place = token.end()
        return found

    def _next(self, *words: str) -> bool:
        if self._place < len(self._tokens) and self._tokens[self._place].lower() in words:
            self._place += 1
            return True
        return False

    def _wrong(self, wanted: str) -> InvalidFilter:
        left = self._tokens[self._place] if self._place < len(self._tokens) else ""
        found = f"has {left[:80]!r}" if left else "ends"
        return InvalidFilter(f"the filter {self._text[:120]!r} {found} where {wanted} should be; {HOW}")

    def _either(self, depth: int) -> Condition:
        parts = [self._both(depth)]
        while self._next("or"):
            parts.append(self._both(depth))
        return parts[0] if len(parts) == 1 else Or(tuple(parts))

    def _both(self, depth: int) -> Condition:
        parts = [self._one(depth)]
        while self._next("and"):
            parts.append(self._one(depth))
        return parts[0] if len(parts) == 1 else And(tuple(parts))

    def _one(self, depth: int) -> Condition:
        if depth > MAX_DEPTH:
            raise InvalidFilter(f"a filter nested deeper than {MAX_DEPTH}")
        if self._next("not"):
            return Not(self._one(depth + 1))
        if self._next("("):
            found = self._either(depth + 1)
            self._expect(")")
            return found
        if self._next("exists"):
            return Exists(self._field())
        return self._test(self._field())

    def _test(self, field: str) -> Condition:
        if self._next("=", "=="):
            return Eq(field, self._value())
        if self._next("!="):
            return Not(Eq(field, self._value()))
        negative = self._next("not")
        if not self._next("in"):
            raise self._wrong("=, != or in")
        self._expect("(")
        values = [self._value()]
        while self._next(","):
            values.append(self._value())
        self._expect(")")
        return Not(In(field, tuple(values))) if negative else In(field, tuple(values))

    def _expect(self, token: str) -> None:
        if not self._next(token):
            raise self._wrong(token)

    def _field(self) -> str:
        if self._place >= len(self._tokens) or self._tokens[self._place] in ("(", ")", "=", "==", "!=", ","):
            raise self._wrong("a field")
        self._place += 1
        return self._tokens[self._place - 1]

    def _value(self) -> Value:
        token = self._field()
        if token.startswith("'"):
            return token[1:-1]
        if token.startswith('"'):
            return cast("str", _loaded(token))
        if token.lower() in _WORDS:
            return _WORDS[token.lower()]
        if re.fullmatch(r"-?\d{1,18}", token):
            return int(token)
        return float(token) if re.fullmatch(r"-?\d{1,18}\.\d{1,18}", token) else token
