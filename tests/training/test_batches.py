"""Which tools a request is shown with."""

from __future__ import annotations

import random

import pytest

from toolsearch.decision.lines import Line
from toolsearch.errors import InvalidInput
from toolsearch.training.batches import BOASTS, UNIVERSAL, Drawing, Example, boasting

EXAMPLES = [Example(request=n, right=(n, n + 10), wrong=tuple(range(20, 40))) for n in range(10)]


def drawing(boasts: int = 5) -> Drawing:
    return Drawing(examples=EXAMPLES, tools=50, boasts=boasts, candidates=8)


def test_a_batch_depends_on_its_chance_alone() -> None:
    """The same chance draws the same pairs."""
    assert drawing().batch(8, random.Random(3)) == drawing().batch(8, random.Random(3))


def test_right_tools_are_never_called_wrong() -> None:
    """Also a tool drawn from anywhere is not one of the right ones."""
    for pair in (pair for seed in range(50) for pair in drawing().batch(8, random.Random(seed))):
        assert pair.right == (pair.tool in (pair.request, pair.request + 10))


def test_lists_are_as_long_as_asked_and_sometimes_hold_no_right_tool() -> None:
    """At most so many tools a request, none twice; lists without a right tool and boasting tools occur."""
    pairs = [drawing().batch(1, random.Random(seed)) for seed in range(200)]
    assert all(len(one) == len({pair.tool for pair in one}) <= 8 for one in pairs)
    assert any(not any(pair.right for pair in one) for one in pairs)
    assert any(pair.tool >= 50 for one in pairs for pair in one)


def test_boasting_tools_boast() -> None:
    """Each of them holds a boast, some under a name that says nothing."""
    found = boasting([Line("move", "Moves a ship"), Line("load", "Loads a crate")], 60, random.Random(0))
    assert len(found) == 60
    assert all(any(boast in line.text for boast in BOASTS) for line in found)
    assert {line.name for line in found} == {"move", "load", UNIVERSAL}


def test_nothing_to_learn_from_is_refused() -> None:
    """Without an example there is no batch."""
    with pytest.raises(InvalidInput, match="no example"):
        Drawing(examples=[], tools=0, boasts=0, candidates=8)
