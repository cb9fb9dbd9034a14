"""Building with several batches encoded at a time."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from toolsearch import ToolIndex, ToolSpec
from toolsearch.errors import EncoderFailed, InvalidTool
from toolsearch.index import pieces
from toolsearch.index.analysis import segments

if TYPE_CHECKING:
    from toolsearch.protocols import Floats, Role

TOOLS = [ToolSpec(name=f"gauge_{number:03d}", description="read " * (number % 7)) for number in range(400)]


class Lengths:
    """A vector for each text, from the sum of its characters; fails after some batches if told to."""

    id, dimension = "lengths", 2

    def __init__(self, batches: int = 1_000) -> None:
        self.left = batches

    def encode(self, texts: Sequence[str], role: Role) -> Floats:
        self.left -= role == "tool"
        if self.left < 0:
            raise EncoderFailed("enough")
        angles = np.array([sum(map(ord, text)) % 1_000 for text in texts], np.float32)
        return np.stack([np.cos(angles), np.sin(angles)], axis=1)


@pytest.mark.parametrize("jobs", [2, 3])
def test_the_same_index_with_several_jobs(jobs: int, tmp_path: Path) -> None:
    """How many batches are encoded at a time changes no answer."""
    answers: list[list[tuple[str, float]]] = []
    for number in (1, jobs):
        with ToolIndex.build(tmp_path / str(number), TOOLS, encoder=Lengths(), jobs=number) as index:
            found = index.search("read gauge_123", k=20, strategy="vector")
            answers.append([(hit.id, hit.score) for hit in found])
    assert answers[0] == answers[1]


def test_a_failure_among_several_jobs(tmp_path: Path) -> None:
    """The error is the encoder's, and the next build goes on from what was done."""
    with pytest.raises(EncoderFailed, match="enough"):
        ToolIndex.build(tmp_path / "i", TOOLS, encoder=Lengths(2), jobs=2)
    again = Lengths()
    with ToolIndex.build(tmp_path / "i", TOOLS, encoder=again, jobs=2) as index:
        assert len(index) == len(TOOLS)
    assert again.left >= 1_000 - 3


def test_blocks_analysed_by_helpers(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Several processes analyse blocks of tools, and the index is the one that a single process makes."""
    monkeypatch.setattr(pieces, "BLOCK", 64)
    answers: list[list[tuple[str, float]]] = []
    for jobs in (1, 2):
        with ToolIndex.build(tmp_path / str(jobs), TOOLS, encoder="", jobs=jobs) as index:
            assert index.verify().ok
            found = index.search("read gauge 123", k=20, strategy="lexical")
            answers.append([(hit.id, hit.score) for hit in found])
    assert answers[0] == answers[1]


def test_a_helper_that_ends_is_stood_in_for() -> None:
    """When helpers fail, blocks are analysed by the process that asked, and a broken one is its error."""
    good, broken = [TOOLS[0].to_json()], ['{"v":1}']
    with pytest.raises(InvalidTool, match="missing"):
        list(segments([good, broken, good], 2))
    assert [len(one) for one in segments([good, good, good], 2)] == [1, 1, 1]
