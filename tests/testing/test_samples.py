"""Values made from a schema fit the schema, and come from the seed alone."""

from __future__ import annotations

import jsonschema
from hypothesis import given, settings
from hypothesis import strategies as st

from toolsearch.testing.samples import Sampler, fits, sample_arguments
from toolsearch.tool import ToolSpec

SCHEMA = {
    "type": "object",
    "properties": {
        "id": {"type": "string", "pattern": "^pay_[0-9a-z]{8}$"},
        "amount": {"type": "integer", "minimum": 5, "maximum": 9},
        "share": {"type": "number", "minimum": 0, "maximum": 1},
        "below": {"type": "number", "maximum": -3},
        "kind": {"enum": ["a", "b"]},
        "fixed": {"const": 7},
        "tags": {"type": "array", "items": {"type": "string"}},
        "values": {"type": "object", "additionalProperties": {"type": "boolean"}},
        "day": {"type": "string", "format": "date"},
    },
    "required": ["id", "day"],
}
PAY = ToolSpec(name="pay", parameters=SCHEMA)


@settings(max_examples=80, deadline=None)
@given(st.text(max_size=12))
def test_samples_fit(seed: str) -> None:
    """For every seed the arguments are valid."""
    jsonschema.validate(sample_arguments(PAY, seed), SCHEMA)


def test_a_seed_always_gives_the_same() -> None:
    """Equal seeds, equal arguments; seeds differ, ids differ."""
    assert sample_arguments(PAY, "one") == sample_arguments(PAY, "one")
    assert sample_arguments(PAY, "one")["id"] != sample_arguments(PAY, "two")["id"]


def test_only_required_arguments_on_request() -> None:
    """Optional ones can be left out."""
    assert set(sample_arguments(PAY, optional=False)) == {"id", "day"}


def test_dates_never_go_back() -> None:
    """A later value is a later moment, so that ends follow beginnings."""
    sampler = Sampler("s", day="2026-05-30")
    moments = [sampler.value({"type": "string", "format": "date-time"}) for _ in range(5)]
    assert moments == sorted(moments)
    assert moments[0] > "2026-05-30"


def test_a_day_that_is_none_is_passed_over() -> None:
    """A first day that no calendar has does not stop anything."""
    assert Sampler("s", day="2026-13-45").value({"type": "string", "format": "date"}).startswith("2026-03")


def test_endless_schemas_end() -> None:
    """A schema nested deeper than the bound gives an empty value there."""
    schema: dict[str, object] = {"type": "string"}
    for _ in range(40):
        schema = {"type": "object", "properties": {"more": schema}}
    assert Sampler("s").value(schema)["more"]["more"]


def test_dates_are_checked_by_their_form() -> None:
    """A text that is no date does not fit the format of a date."""
    assert fits("2026-03-01", {"type": "string", "format": "date"})
    assert not fits("soon", {"type": "string", "format": "date"})
    assert not fits("2026-03-01", {"type": "string", "format": "date-time"})
