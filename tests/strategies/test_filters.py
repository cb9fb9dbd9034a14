"""The closed filter language: what it reads, and what it refuses."""

from __future__ import annotations

import contextlib
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolsearch.errors import InvalidFilter
from toolsearch.strategies.filters import And, Condition, Eq, Exists, In, Not, Or, parse


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("namespace = payments", Eq("namespace", "payments")),
        ("namespace == 'two words'", Eq("namespace", "two words")),
        ('source != "a \\"b\\""', Not(Eq("source", 'a "b"'))),
        ("tags in (a, b)", In("tags", ("a", "b"))),
        ("tags not in (a)", Not(In("tags", ("a",)))),
        ("exists annotations.readOnlyHint", Exists("annotations.readOnlyHint")),
        ("annotations.x = true", Eq("annotations.x", True)),
        ("annotations.x = null", Eq("annotations.x", None)),
        ("annotations.x = 12", Eq("annotations.x", 12)),
        ("annotations.x = -1.5", Eq("annotations.x", -1.5)),
        ("annotations.x = nan", Eq("annotations.x", "nan")),
        ("tags = a or tags = b and not tags = c", Or((Eq("tags", "a"), And((Eq("tags", "b"), Not(Eq("tags", "c"))))))),
        (
            "(tags = a OR tags = b) AND namespace = 支付",
            And((Or((Eq("tags", "a"), Eq("tags", "b"))), Eq("namespace", "支付"))),
        ),
    ],
)
def test_text_form(text: str, expected: Condition) -> None:
    """The text form reads as written, with the usual precedence."""
    assert parse(text) == expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({"eq": ["namespace", "x"]}, Eq("namespace", "x")),
        ({"in": ["tags", ["a", "b"]]}, In("tags", ("a", "b"))),
        ({"exists": "source"}, Exists("source")),
        ({"and": [{"exists": "tags"}, {"not": {"eq": ["tags", "a"]}}]}, And((Exists("tags"), Not(Eq("tags", "a"))))),
        ({"or": []}, Or(())),
    ],
)
def test_json_form(body: dict[str, Any], expected: Condition) -> None:
    """The JSON form reads the same from an object and from its text."""
    assert parse(body) == parse(json.dumps(body)) == expected


@pytest.mark.parametrize(
    "source",
    [
        "",
        "namespace",
        "namespace =",
        "namespace = a b",
        "colour = red",
        "annotations. = 1",
        "tags in ()",
        "tags in (a",
        "tags in a",
        "(tags = a",
        "tags = 'open",
        "{broken",
        {"eq": ["namespace"]},
        {"eq": ["namespace", {"deep": 1}]},
        {"eq": ["namespace", "a"], "in": ["tags", ["a"]]},
        {"eq": ["annotations.x", float("nan")]},
        {"regex": ["name", ".*"]},
        ["eq"],
        5,
        None,
        Eq("tags", "x" * 1001),
        In("tags", ("a",) * 1001),
        "tags = a and " * 300 + "tags = a",
        "not " * 50 + "tags = a",
        "(" * 5000 + "tags = a",
        "x" * 10_001,
        '{"not":' * 4000 + "1" + "}" * 4000,
    ],
    ids=lambda source: repr(source)[:30],
)
def test_outside_the_language_is_refused(source: object) -> None:
    """Anything else is one clear error, whatever its size or depth, and never longer than a screen."""
    with pytest.raises(InvalidFilter) as caught:
        parse(source)
    assert len(str(caught.value)) < 500


@settings(deadline=None, max_examples=100)
@given(st.text(max_size=60))
def test_any_text_reads_or_is_refused(text: str) -> None:
    """No text crashes the reader."""
    with contextlib.suppress(InvalidFilter):
        parse(text)
