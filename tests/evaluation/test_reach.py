"""Which tools judged requests reach."""

from __future__ import annotations

from toolsearch.evaluation.judged import JudgedQuery
from toolsearch.evaluation.reach import unreached
from toolsearch.evaluation.runs import Answer

QUERIES = [
    JudgedQuery(id="1", query="money back", relevant={"refund": 1}),
    JudgedQuery(id="2", query="undo it", relevant={"void": 1, "refund": 1}),
    JudgedQuery(id="3", query="a joke"),
]
ANSWERS = [
    Answer(id="1", hits=(("refund", 2.0), ("pay", 1.0))),
    Answer(id="2", hits=(("refund", 1.0),)),
    Answer(id="3"),
]


def test_missed_and_unreached_tools() -> None:
    """A tool that is right but never found is worse than one that nobody asks for; a tool shown anywhere is reached."""
    found = list(unreached(["refund", "void", "pay", "lend"], QUERIES, ANSWERS))
    assert [(one.tool, one.rule, one.severity) for one in found] == [
        ("void", "search-missed", "warning"),
        ("lend", "search-unreached", "info"),
    ]
    assert found[0].message == (
        "It is right for 1 judged request, such as 'undo it', and found for none while 'refund' comes first; "
        "say in its description or examples what they ask for."
    )


def test_a_tool_found_for_one_of_its_requests_is_reached() -> None:
    """It is enough that one of the requests it is right for holds it."""
    answers = [Answer(id="1"), Answer(id="2", hits=(("refund", 1.0),))]
    assert [one.tool for one in unreached(["refund"], QUERIES, answers)] == []


def test_no_answers_at_all() -> None:
    """Nothing comes first when nothing was found."""
    [found] = unreached(["void"], QUERIES, [])
    assert "while" not in found.message
