"""What the benchmarks of size, change and survival are made of."""

from __future__ import annotations

import random
import sys
import tempfile
from pathlib import Path

import pytest

from benchmarks.scale import churn, memory, survival
from benchmarks.scale.catalog import Recipes
from benchmarks.scale.command import table
from benchmarks.scale.writer import Hashed, tool
from toolsearch import ToolIndex, ToolSpec

REAL = [ToolSpec(name=f"read_gauge_{n}", description=f"Reads gauge {n}. Then tells it.") for n in range(5)]


def test_made_up_tools_follow_from_the_seed() -> None:
    """The same seed gives the same tools, all with ids of their own; another one gives others."""
    one, same, other = (list(Recipes(REAL, 200, seed).tools(0, 200)) for seed in (1, 1, 2))
    assert one == same
    assert one != other
    assert len({spec.id for spec in one}) == 200


def test_a_table_shows_every_figure_of_every_size() -> None:
    """Figures that a size lacks are empty; large ones have no decimals."""
    shown = table([{"tools": 10, "open": 1234.5}, {"tools": 1000, "open": 2.345, "ratio": "1.2x"}])
    assert shown.splitlines() == [
        "| | 10 | 1,000 |",
        "|---|---:|---:|",
        "| open | 1,234 | 2.35 |",
        "| ratio |  | 1.2x |",
    ]


def test_half_a_change_is_seen_by_the_churn(tmp_path: Path) -> None:
    """A reader names a pair of which one side is missing, or of two versions, and a tool that is away."""
    with ToolIndex.build(tmp_path / "i", list(churn._standing(5)), encoder=Hashed()) as index:
        assert churn._outcome(index, 1, 2) == "right"
        index.upsert(churn.pair(1, 1))
        assert churn._outcome(index, 1, 2) == "right"
        index.upsert(churn.pair(1, 2)[:1])
        assert churn._outcome(index, 1, 2) == "two versions"
        index.remove(["left_1"])
        assert churn._outcome(index, 1, 2) == "half a pair"
        assert churn._outcome(index, 7, 99) == "one that stays is away"
    assert churn._outcome(index, 1, 2).startswith("failed")


def test_survival_tells_what_is_lost(tmp_path: Path) -> None:
    """One change under way may be there or not; what differs beyond that is lost."""
    root = survival._made(tmp_path / "i")
    truth = {number: f"number {number}" for number in range(survival.TOOLS)}
    with ToolIndex.open(root, encoder=Hashed()) as index:
        index.upsert([tool(3, "another")])
    assert survival._compared(root, truth) == "nothing lost"
    with ToolIndex.open(root, encoder=Hashed()) as index:
        index.remove(["tool_1", "tool_2"])
    assert survival._compared(root, truth) == "lost"


def test_memory_is_bounded_by_the_group_that_counts_it() -> None:
    """The group of the first version lies where its memory controller is; without one there is none."""
    named = "9:cpu:/a\n4:memory:/b/c\n1:pids:/"
    assert list(memory._own(named)) == [memory.GROUPS / "memory" / "b/c"]
    assert list(memory._own("1:pids:/x")) == []


def test_what_was_read_can_be_read_again(tmp_path: Path) -> None:
    """Forgetting what was read of a folder changes nothing in it."""
    (tmp_path / "file").write_text("whole")
    memory.cold(tmp_path)
    assert (tmp_path / "file").read_text() == "whole"


@pytest.mark.skipif(sys.platform != "linux", reason="other users, signals and disks are made as on Linux")
@pytest.mark.parametrize(
    ("fault", "outcome"),
    [
        ("folder that may only be read", "searched"),
        ("clock jumps", "of no effect"),
        ("two writers", "both kept all"),
        ("copied and restored while written to", "each copy is whole"),
        ("later and earlier format", "named at opening or by verify"),
    ],
)
def test_what_survives_whole(fault: str, outcome: str) -> None:
    """Each fault of the table that is tried once ends as the table says."""
    with tempfile.TemporaryDirectory() as folder:  # not a test's own folder: another user must get there
        assert survival.OTHERS[fault](Path(folder) / "tried" / "i") == outcome


def test_cut_and_flipped_files_lose_nothing(tmp_path: Path) -> None:
    """Of each kind of file one is cut and a bit of one is flipped: made anew, mended or named, and never lost."""
    for _, found in survival._hurt(tmp_path, 1, random.Random(3)):
        assert not [outcome for outcome in found if outcome.startswith(("lost", "broken"))]
