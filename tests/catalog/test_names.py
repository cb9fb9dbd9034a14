"""Exposed names are legal, stable, distinct and do not depend on other tools."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolsearch.catalog.names import RULES, exposed_name, exposed_names, rule_of
from toolsearch.errors import DuplicateTool, InvalidInput


@pytest.mark.parametrize(
    ("tool_id", "name"), [("refund", "refund"), ("payments/refund", "payments__refund"), ("a-b_c", "a-b_c")]
)
def test_legal_ids_stay_readable(tool_id: str, name: str) -> None:
    """A legal id is its own name, a namespace is joined by two underscores."""
    assert exposed_name(tool_id) == name


@settings(max_examples=200, deadline=None)
@given(st.text(min_size=1, max_size=120), st.sampled_from(sorted(RULES)))
def test_names_are_legal(tool_id: str, provider: str) -> None:
    """Any id gives a legal name, the same every time."""
    name = exposed_name(tool_id, provider)
    assert rule_of(provider).takes(name)
    assert exposed_name(tool_id, provider) == name


@settings(max_examples=300, deadline=None)
@given(st.lists(st.text(alphabet="ab/_.1é", min_size=1, max_size=8), unique=True, max_size=30))
def test_names_are_distinct(ids: list[str]) -> None:
    """Ids that look alike still have different names, and the table leads back."""
    table = exposed_names(ids)
    assert sorted(table.values()) == sorted(ids)


def test_a_name_cannot_pose_as_a_hashed_one() -> None:
    """An id that equals another id's altered name is altered itself."""
    altered = exposed_name("a.b")
    assert exposed_name(altered) != altered


def test_long_names_are_cut_and_stay_apart() -> None:
    """Two names that differ at their end only keep different hashes."""
    first, second = (exposed_name("server" * 10 + "/" + "tool" * 10 + end) for end in ("one", "two"))
    assert first != second
    assert len(first) <= 64


def test_unknown_provider() -> None:
    """The known ones are listed."""
    with pytest.raises(InvalidInput, match="portable"):
        exposed_name("x", "fax")


def test_duplicate_ids_share_a_name_without_complaint() -> None:
    """The same id twice is one tool; the error is for two."""
    assert exposed_names(["a", "a"]) == {"a": "a"}
    assert issubclass(DuplicateTool, InvalidInput)


def test_underscores_beside_a_slash_stay_apart() -> None:
    """Where the joint could be read in two ways, the id is altered."""
    assert len(exposed_names(["_/", "/_", "a/_b", "a_/b", "a__b", "a/b"])) == 6
