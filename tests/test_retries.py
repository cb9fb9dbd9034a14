"""When a server is asked again."""

from __future__ import annotations

import pytest

from toolsearch.retries import asked_wait, may_heal


@pytest.mark.parametrize(
    ("status", "again"),
    [(408, True), (429, True), (500, True), (503, True), (529, True), (400, False), (404, False), (501, False)],
)
def test_which_statuses_may_heal(status: int, again: bool) -> None:
    """Too busy and broken may heal; wrong requests do not."""
    assert may_heal(status) is again


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "2.5"}, 2.5),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after": "-3"}, 0.0),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0.0),
    ],
)
def test_what_a_server_asks_to_wait_for(headers: dict[str, str], seconds: float | None) -> None:
    """Milliseconds come first, dates are read, nonsense asks for nothing."""
    assert asked_wait(headers) == seconds
