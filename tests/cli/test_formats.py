"""What commands print, as pure functions."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from toolsearch.cli import formats
from toolsearch.protocols import Hit, Reason, SearchResult
from toolsearch.tool import ToolSpec


def test_a_hit_in_three_lines() -> None:
    """Rank, id and score; the start of the description; the reasons."""
    hit = Hit(tool=ToolSpec(name="a", description="Does it"), score=1.5, reasons=(Reason("words", 1.5, "it"),))
    assert formats.format_hit(1, hit) == " 1. a  1.50\n    Does it\n    why: words +1.50 (it)"


def test_reasons_that_say_nothing_are_left_out() -> None:
    """A part that adds nothing and names nothing, as words when none matches, is not shown."""
    reasons = (Reason("words", 0.001), Reason("similarity", 0.8, "cosine 0.80"), Reason("clause", 0.0, "it"))
    shown = formats.format_hit(1, Hit(tool=ToolSpec(name="a"), score=0.8, reasons=reasons))
    assert shown.endswith("why: similarity +0.80 (cosine 0.80), clause +0.00 (it)")


def test_notes_stand_below() -> None:
    """Notes of a result follow its hits."""
    assert formats.format_result(SearchResult(notes=("cut",))) == "nothing fits\nnote: cut"


def test_parameters_of_a_tool() -> None:
    """Required ones bare, others with a mark; choices instead of a type."""
    parameters = {
        "type": "object",
        "required": ["id"],
        "properties": {"id": {"type": "string"}, "size": {"enum": ["s", "m"], "description": "How large"}, "any": True},
    }
    shown = formats.format_tool(ToolSpec(name="a", parameters=parameters)).splitlines()
    assert shown == ["a", "  id: string", "  size?: s|m - How large", "  any?: any"]


def test_columns_line_up() -> None:
    """Cells are padded to the longest of their column."""
    assert formats.format_rows([("a", "b"), ("long", 1)]) == "a     b\nlong  1"


@given(st.text(), st.integers(1, 50))
def test_shown_is_one_printable_line(text: str, width: int) -> None:
    """Whatever the text, what is shown is one line of printable characters within the width."""
    line = formats.shown(text, width)
    assert len(line) <= width
    assert line.isprintable()


JSON = st.recursive(st.none() | st.booleans() | st.integers() | st.text(max_size=5), lambda x: st.lists(x, max_size=3))


@given(
    st.dictionaries(
        st.sampled_from(["required", "properties", "enum", "type"]),
        JSON | st.dictionaries(st.text(max_size=3), JSON, max_size=3),
    )
)
def test_any_schema_can_be_shown(parameters: dict[str, object]) -> None:
    """A schema may hold anything anywhere."""
    assert formats.format_tool(ToolSpec(name="a", parameters=parameters)).startswith("a")
