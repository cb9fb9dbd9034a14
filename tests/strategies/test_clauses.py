"""Where a request with several wishes is parted."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolsearch.strategies.clauses import clauses


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "Book a table for dinner, then send the invitation to Ana",
            ["Book a table for dinner", "send the invitation to Ana"],
        ),
        (
            "Cancel my hotel reservation. After that, refund the deposit payment; finally email the receipt pdf",
            ["Cancel my hotel reservation", "refund the deposit payment", "email the receipt pdf"],
        ),
        ("查询北京明天的天气，然后预订一张机票", ["查询北京明天的天气", "预订一张机票"]),
        ("Storniere das Hotel in Berlin und dann buche einen Zug nach Hamburg", None),
    ],
)
def test_strong_separators_part(text: str, expected: list[str] | None) -> None:
    """Ends of sentences, semicolons and words for "and then" part a request, in several languages."""
    found = clauses(text, 4, 3)
    assert found == expected if expected else len(found) == 2


@pytest.mark.parametrize(
    "text",
    [
        "refund the payment",
        "red, green and blue lamps in the kitchen",
        "Show e.g. v2.0 of www.example.com today",
        "",
        ".",
    ],
)
def test_weak_separators_do_not(text: str) -> None:
    """Commas, a plain "and" and dots inside words keep a request whole."""
    assert clauses(text, 4, 3) == []


def test_short_clauses_are_joined() -> None:
    """A clause of too few words goes with its neighbour."""
    text = "Hello there! Cancel the order of yesterday. Thanks. Refund the whole amount paid."
    assert clauses(text, 4, 3) == ["Hello there Cancel the order of yesterday Thanks", "Refund the whole amount paid"]


@settings(deadline=None, max_examples=100)
@given(st.text(alphabet="ab .;!?,\n然后", max_size=300), st.integers(0, 5))
def test_clauses_are_bounded(text: str, most: int) -> None:
    """There are never more clauses than asked for, and never just one."""
    found = clauses(text, most, 2)
    assert len(found) != 1
    assert len(found) <= max(most, 0)
