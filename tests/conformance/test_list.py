"""The reference's list of behaviour has a test for each of its items; their numbers stand in the names of the tests."""

from __future__ import annotations

import re
from pathlib import Path

ITEMS = set(range(1, 79))
LIVE = {51}
"""Asks a vendor's live model."""
NAMED = re.compile(r"^\s*(?:async )?def test((?:_(?:and_|to_)?\d{2})+)_[a-z]", re.MULTILINE)
FOLDERS = ("agent", "conformance", "strategies")


def numbers(name: str) -> set[int]:
    """The items that a name such as `_19_to_23` or `_36_37_38` stands for."""
    found: set[int] = set()
    last = 0
    for to, number in re.findall(r"_(to_)?(?:and_)?(\d{2})", name):
        found |= set(range(last, int(number) + 1)) if to else {int(number)}
        last = int(number)
    return found


def test_names_are_read() -> None:
    """Single numbers, several, and ranges."""
    assert numbers("_05") == {5}
    assert numbers("_31_and_32") == {31, 32}
    assert numbers("_19_to_23") == {19, 20, 21, 22, 23}


def test_every_item_has_a_test() -> None:
    """All but the one that needs a vendor's model."""
    tests = Path(__file__).parent.parent
    found: set[int] = set()
    for folder in FOLDERS:
        for path in (tests / folder).glob("test_*.py"):
            for name in NAMED.findall(path.read_text("utf-8")):
                found |= numbers(name)
    assert ITEMS - LIVE - found == set()
