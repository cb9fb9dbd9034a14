"""Confidence: bands, the curve, and answers that are emptied."""

from __future__ import annotations

import pytest

from tests.strategies.words_encoder import WordsEncoder
from toolsearch.errors import InvalidInput
from toolsearch.strategies.confidence import Fit, MinConfidence, band
from toolsearch.strategies.corpus import MemoryCorpus, view
from toolsearch.strategies.retrievers import open_retriever
from toolsearch.tool import ToolSpec

GATES = [
    ToolSpec(name="gate_open", description="Open a sluice gate"),
    ToolSpec(name="gate_list", description="List sluice gates"),
    ToolSpec(name="ramp_lower", description="Lower a ramp"),
    ToolSpec(name="ramp_raise", description="Raise a ramp"),
]


@pytest.mark.parametrize(
    ("confidence", "name"), [(None, "none"), (0.0, "none"), (0.2, "low"), (0.5, "medium"), (0.9, "high"), (1.0, "high")]
)
def test_bands(confidence: float | None, name: str) -> None:
    """A confidence is shown as a band."""
    assert band(confidence) == name


def test_the_curve_rises_with_each_feature() -> None:
    """More similarity or more words met never lowers the estimate; it stays between 0 and 1."""
    fit = Fit()
    assert fit.chance(0.2, 0.5, 4) < fit.chance(0.6, 0.5, 4) < fit.chance(0.6, 1.0, 4)
    assert fit.chance(None, 0.1, 4) < fit.chance(None, 0.9, 4)
    assert 0 < fit.chance(-1.0, 0.0, 0) < fit.chance(1.0, 1.0, 1000) < 1


@pytest.mark.parametrize("vectors", [True, False])
def test_one_shared_word_is_no_fit(vectors: bool) -> None:
    """A long request that shares one verb with the catalog is marked; a short one with all its words is not."""
    corpus = MemoryCorpus.build(GATES, WordsEncoder(256) if vectors else None)
    retriever = open_retriever()
    far = retriever.search(["open bash terminal compile binary program"], view(corpus), 5)
    near = retriever.search(["open gate"], view(corpus), 5)
    assert far.band in ("none", "low")
    assert near.ids[0] == "gate_open"
    assert (near.confidence or 0) > (far.confidence or 0)
    assert near.band in ("medium", "high")


def test_a_single_common_word_keeps_its_hits() -> None:
    """A request of stop words finds the tool that has them in its name."""
    result = open_retriever().search(["list"], view(MemoryCorpus.build(GATES, WordsEncoder(256))), 5)
    assert "gate_list" in result.ids


def test_an_exact_name_is_certain() -> None:
    """What is asked for by name is of high confidence."""
    assert open_retriever().search(["gate open"], view(MemoryCorpus.build(GATES)), 1).band == "high"


def test_a_minimum_empties_the_answer() -> None:
    """Below the minimum nothing is returned, and a note says so; above it nothing changes."""
    corpus = MemoryCorpus.build(GATES, WordsEncoder(256))
    inner = open_retriever()
    strict = MinConfidence(inner, 0.4)
    refused = strict.search(["open bash terminal compile binary program"], view(corpus), 5)
    assert refused.ids == []
    assert refused.shortfall == 5
    assert "nothing fits" in refused.notes[-1]
    assert strict.search(["open the gate"], view(corpus), 5) == inner.search(["open the gate"], view(corpus), 5)


@pytest.mark.parametrize("least", [-0.1, 1.1, float("nan")])
def test_a_minimum_is_a_share(least: float) -> None:
    """A minimum outside 0 to 1 is refused."""
    with pytest.raises(InvalidInput, match="between 0 and 1"):
        MinConfidence(open_retriever(), least)
