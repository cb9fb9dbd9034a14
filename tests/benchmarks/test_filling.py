"""A real catalog is filled up with made-up tools; what was judged stays true, and all get the same vectors."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from benchmarks.peers import harness
from benchmarks.peers.filling import Filling, fill, text_of
from benchmarks.peers.run import encoder
from benchmarks.runner import build, run_one
from benchmarks.tasks import development_parts


@pytest.fixture
def filling(data: Path, tmp_path: Path) -> Filling:
    second = list(development_parts(data))[1]
    return fill(second, 40, tmp_path)


def test_real_tools_stay_and_made_up_ones_follow(filling: Filling, data: Path) -> None:
    """So many in all, each id once, and none is made of a tool that a request needs."""
    tools = filling.task.tools()
    real = list(development_parts(data))[1].tools()
    assert tools[: len(real)] == real
    assert len(tools) == len({tool.id for tool in tools}) == 40
    assert filling.task.name.endswith("_40")
    assert not any("Cancel a flight" in tool.description for tool in tools[len(real) :])


def test_vectors_are_the_same_for_us_and_over_loopback(filling: Filling, tmp_path: Path) -> None:
    """Unit vectors of made-up tools come from the file, however a peer writes the tool; real ones are encoded."""
    real, made = filling.task.tools()[0], filling.task.tools()[-1]
    ours = filling.encoder.encode([text_of(real), text_of(made)], "tool")
    with encoder(tmp_path, filling.file) as url:
        embed = harness.Embed(url, expected=2, limit=1e6)
        theirs = np.array(embed([text_of(real), f"tool_name: {made.name.replace('_', ' ')}\ntool: {made.description}"]))
    assert np.allclose(ours, theirs, atol=1e-6)
    assert np.allclose(np.linalg.norm(ours, axis=1), 1, atol=1e-5)


def test_our_index_of_it_answers(filling: Filling, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The judged tools are found among the made-up ones."""
    monkeypatch.setattr("benchmarks.runner.RUNS", tmp_path / "runs")
    built = build(filling.task, filling.encoder)
    [answer] = run_one(filling.task, built, "hybrid")
    assert {"cancel_flight", "send_email"} <= {tool for tool, _ in answer.hits}
