"""Questions prefer tools that only read; what is no question, or has no hints, is left as it was."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.strategies.words_encoder import WordsEncoder
from toolsearch import ToolIndex, ToolSpec
from toolsearch.strategies.asking import CHANGES, READS, is_question
from toolsearch.strategies.corpus import MemoryCorpus, marked
from toolsearch.strategies.segment import Segment

SHOW = ToolSpec(name="pump_north", description="A pump of the harbour", annotations={"readOnlyHint": True})
STOP = ToolSpec(name="pump_south", description="A pump of the harbour", annotations={"readOnlyHint": False})
BARE = ToolSpec(name="pump_east", description="A pump of the harbour")


QUESTIONS = """
Which pumps run? | what's on the quay | "Who signed it?" | how many pumps are there | is the lock open | have they paid
| do we own a pump | where is the barge | did it rain
"""
OTHERS = """
stop the pump | how do I stop the pump | how to stop a pump | where can I pay | have the bill sent | do a backup
| can you stop the pump | issue a refund | whichever pump | welche Pumpen laufen
"""


@pytest.mark.parametrize("text", QUESTIONS.split("|"))
def test_a_question(text: str) -> None:
    """It asks what there is."""
    assert is_question(text)


@pytest.mark.parametrize("text", ["", *OTHERS.split("|")])
def test_no_question(text: str) -> None:
    """It asks for something to be done, or it is in another language."""
    assert not is_question(text)


def order(tools: list[ToolSpec], request: str, strategy: str = "hybrid") -> list[str]:
    return list(ToolIndex.from_tools(tools, encoder=WordsEncoder(997)).search(request, strategy=strategy).ids)


def test_a_question_prefers_what_only_reads() -> None:
    """Of equal tools the one that reads comes first, one without a hint second; else the catalog's order stays."""
    tools = [STOP, BARE, SHOW]
    assert order(tools, "which pump of the harbour") == ["pump_north", "pump_east", "pump_south"]
    assert order(tools, "pump of the harbour") == ["pump_south", "pump_east", "pump_north"]


@pytest.mark.parametrize("strategy", ["lexical", "vector", "simple"])
def test_words_and_similarity_alone_know_nothing_of_it(strategy: str) -> None:
    """Hints count in the hybrid only."""
    bare = [replace(tool, annotations={}) for tool in (STOP, BARE, SHOW)]
    request = "which pump of the harbour"
    assert order([STOP, BARE, SHOW], request, strategy) == order(bare, request, strategy)


def test_the_points_are_told() -> None:
    """Found or not, the reasons name it and add up."""
    index = ToolIndex.from_tools([STOP, BARE, SHOW], encoder=WordsEncoder(997))
    hits = {hit.id: hit for hit in index.search("which pump of the harbour")}
    told = {name: [one.points for one in hit.reasons if one.kind == "question"] for name, hit in hits.items()}
    assert told == {"pump_north": [0.5], "pump_east": [], "pump_south": [-0.5]}
    explained = index.explain("which pump of the harbour", "pump_south", k=1)
    assert explained.score == pytest.approx(hits["pump_south"].score)
    assert any(one.kind == "question" and one.detail == "it changes something" for one in explained.reasons)


def test_a_question_among_several_wishes_leans_on_nothing() -> None:
    """Where a request has clauses, one of them may ask for a change."""
    index = ToolIndex.from_tools([STOP, BARE, SHOW], encoder=WordsEncoder(997))
    found = index.search("Which pump of the harbour leaks oil? Stop the other pump of the harbour.")
    assert found.hits
    assert not any(one.kind == "question" for hit in found for one in hit.reasons)


def test_marks_are_found_over_segments() -> None:
    """Rows count on from one segment to the next; a mark that nobody has marks nothing."""
    corpus = MemoryCorpus([Segment.of([BARE, SHOW]), Segment.of([STOP]), Segment.of([SHOW])], [BARE, SHOW, STOP, SHOW])
    rows = np.array([0, 1, 2, 3], np.int32)
    assert marked(corpus, READS, rows).tolist() == [False, True, False, True]
    assert marked(corpus, CHANGES, rows[1:]).tolist() == [False, True, False]
    assert not marked(corpus, "none has it", rows).any()
