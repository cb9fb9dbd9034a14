"""Weights of fields: an engine of other weights is what a new analysis would make, and no part chooses its own."""

from __future__ import annotations

import numpy as np

from benchmarks.weights import CHOSEN, Weighed, held_out, points
from toolsearch import ToolSpec
from toolsearch.engines.lexical import LexicalEngine
from toolsearch.fields import WEIGHTS
from toolsearch.protocols import RowSet
from toolsearch.strategies.segment import Segment

PARAMETERS = {"type": "object", "properties": {"lockId": {"type": "string", "description": "Which lock to open"}}}
TOOLS = [
    ToolSpec(name="openLock", description="Fill the lock and open its gate", parameters=PARAMETERS),
    ToolSpec(name="closeLock", description="Empty it"),
    ToolSpec(name="ring", description="Ring the bell of the gate"),
]
ALL = RowSet("all", None)


def scores(engine: LexicalEngine, query: dict[str, float]) -> list[float]:
    return engine.score_many([query], ALL)[0].at(np.arange(len(TOOLS), dtype=np.int32)).tolist()


def test_the_present_weights_make_the_present_engine() -> None:
    """Scores are those of an index, to the last digit."""
    own = LexicalEngine([Segment.of(TOOLS).lexical])
    for query in ({"lock": 1.0, "gate": 1.0}, {"open": 1.0}, {"openlock": 2.0}, {"nothing": 1.0}):
        assert scores(Weighed(TOOLS).engine(WEIGHTS), query) == scores(own, query)


def test_a_field_of_more_weight_says_more() -> None:
    """Doubling what descriptions weigh brings up the tool that has the word there only."""
    words = Weighed(TOOLS)
    more = words.engine({**WEIGHTS, "description": 4.0})
    assert scores(more, {"bell": 1.0})[2] > scores(words.engine(WEIGHTS), {"bell": 1.0})[2]


def test_the_first_point_is_the_present_one() -> None:
    """Then come one field at a time and the draws, the same ones each time."""
    assert points(3)[0] == CHOSEN == tuple(WEIGHTS[name] for name in ("name", "description", *list(WEIGHTS)[4:6]))
    assert points(3) == points(3)
    assert len(points(3)) == 1 + 2 * len(CHOSEN) + 3


def test_no_part_chooses_for_itself() -> None:
    """What is best on one part alone gains there only where others choose it too."""
    other = points(0)[1]
    values = {
        CHOSEN: {"a": np.full(4, 50.0), "b": np.full(4, 50.0), "c": np.full(4, 50.0)},
        other: {"a": np.full(4, 90.0), "b": np.full(4, 45.0), "c": np.full(4, 45.0)},
    }
    rows = {row[0]: row[-1].split()[0] for row in held_out(values)}
    assert rows == {"a": "0.00", "b": "-5.00", "c": "-5.00", "mean": "-3.33"}
