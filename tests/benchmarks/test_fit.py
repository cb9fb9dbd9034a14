"""The fit of the hybrid's numbers: the chosen point is what an index does, and shares of the table are kept apart."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from benchmarks.fit import CHOSEN, Reweighed, fit, points
from benchmarks.runner import build, run_one
from benchmarks.tasks import development_parts
from toolsearch import ToolIndex
from toolsearch.encoders.export import TABLE_DIMENSION, TABLE_SHARE
from toolsearch.evaluation.measures import measure


def test_the_chosen_point_is_the_present_hybrid(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its line holds what the hybrid of an index gives on each part; then come points that differ in one number."""
    monkeypatch.setattr("benchmarks.runner.RUNS", tmp_path / "runs")
    tasks = list(development_parts(data))
    said = fit(tasks).splitlines()
    line = next(line for line in said if "4.3" in line and "0.1" in line)
    for task in tasks:
        answers = run_one(task, build(task, "builtin"), "hybrid")
        mean = 100 * np.mean(list(measure(task.queries, answers, ["nDCG@10"])["nDCG@10"].values()))
        assert f"{mean:.2f}" in line


def test_other_points_differ_in_one_number() -> None:
    """The chosen one comes first; a curve is two numbers."""
    differ = [sum(a != b for a, b in zip(point, CHOSEN, strict=True)) for point in points()]
    assert differ[0] == 0
    assert set(differ[1:]) <= {1, 2}


def test_requests_are_weighed_anew(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the table its part of a request's vector is nothing, and what was ready for a share is not kept."""
    monkeypatch.setattr("benchmarks.runner.RUNS", tmp_path / "runs")
    task = next(development_parts(data))
    with ToolIndex.open(build(task, "builtin").folder, read_only=True) as index:
        encoder = index.view().corpus.encoder
        assert encoder is not None
        plain, without, same = (
            one.encode(["money back"], "query")[0]
            for one in (encoder, Reweighed(encoder, 0.0), Reweighed(encoder, TABLE_SHARE))
        )
    assert not without[-TABLE_DIMENSION:].any()
    assert plain[-TABLE_DIMENSION:].any()
    assert np.allclose(same, plain)
    assert not Reweighed(encoder, 0.0).keeps
