"""Large JSON arrays are read item by item; documents that are read whole have a bound that says the way out."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from toolsearch.catalog import arrays, documents, streaming
from toolsearch.catalog.loaded import Problem
from toolsearch.catalog.sources import load
from toolsearch.errors import InvalidSource, LimitExceeded
from toolsearch.index.feeds import SourceTools

TOOLS = [
    {"name": "one", "description": 'a \\ " ] , [ é'},
    {"type": "function", "function": {"name": "two", "parameters": {"type": "object", "properties": {}}}},
    {"name": "three", "inputSchema": {"type": "object", "properties": {"x": {"type": "integer"}}}},
    {"functionDeclarations": [{"name": "four"}, {"name": "five"}]},
]


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every array is large, and little is read at a time."""
    monkeypatch.setattr(streaming, "WHOLE", 0)
    monkeypatch.setattr(arrays, "PART", 7)


def written(path: Path, text: str) -> Path:
    path.write_text(text, "utf-8")
    return path


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("start", ["", "\ufeff", " \n"])
def test_items_are_what_the_whole_holds(tmp_path: Path, indent: int | None, start: str) -> None:
    """An array gives the tools that reading it whole gives, in order, whatever stands between them."""
    file = written(tmp_path / "t.json", start + json.dumps(TOOLS, indent=indent) + "\n")
    found = [entry.read() for entry in streaming.entries(file) if not isinstance(entry, Problem)]
    assert found == [tool.spec for tool in load(file).tools]
    assert [spec.name for spec in found] == ["one", "two", "three", "four", "five"]


def test_a_broken_item_is_named(tmp_path: Path) -> None:
    """A definition that is none ends the reading with its place, or is told and left out."""
    file = written(tmp_path / "t.json", json.dumps([{"name": "one"}, {"name": 3}, {"name": "two"}]))
    with pytest.raises(InvalidSource, match=r"t\.json item 1: "):
        list(SourceTools([file]))
    told: list[Problem] = []
    assert [spec.name for spec in SourceTools([file], keep_going=True, problem=told.append)] == ["one", "two"]
    assert [one.where for one in told] == ["t.json item 1"]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('[{"name": "one"}', "']' expected, not ''"),
        ('[{"name": "one"', "item 0: not JSON: Expecting"),
        ('[{"name": "one"}, ]', "item 1: not JSON: Expecting value"),
        ('[{"name": "one"}] 7', "item 1: not JSON: '7' after the end"),
        ('[{"name": "one"} {"name": "two"}]', "']' expected, not '{'"),
        ('[{"name": NaN}]', "NaN is not JSON"),
        ('[{"name": "one", "name": "two"}]', "the key 'name' stands twice"),
        ("[" * 100_000, "not JSON|nested too deep"),
    ],
)
def test_what_is_no_array_is_refused(tmp_path: Path, text: str, reason: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Broken arrays end with one error that names file and item."""
    monkeypatch.setattr(arrays, "PART", 1 << 16)
    file = written(tmp_path / "t.json", text)
    with pytest.raises(InvalidSource, match=r"t\.json.*(" + reason + ")"):
        list(arrays.array_items(file))


def test_empty_arrays_and_numbers(tmp_path: Path) -> None:
    """An array may be empty; a number that is cut by the end of a part is read whole."""
    assert list(arrays.array_items(written(tmp_path / "e.json", " [ ] "))) == []
    assert list(arrays.array_items(written(tmp_path / "n.json", "[12345678901, 2]"))) == [12345678901, 2]


def test_an_endless_item_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An item that is longer than a tool may be is not read to its end."""
    monkeypatch.setattr(arrays, "MAX_ITEM", 100)
    with pytest.raises(LimitExceeded, match="longer than 100"):
        list(arrays.array_items(written(tmp_path / "t.json", '["' + "x" * 10_000)))


@pytest.mark.parametrize("name", ["t.yaml", "t.toml", "t.json"])
def test_a_large_document_says_the_way_out(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What must be read whole has a bound; the error says how the same tools can be given."""
    monkeypatch.setattr(documents, "MAX_YAML", 10)
    monkeypatch.setattr(documents, "MAX_DOCUMENT", 10)
    with pytest.raises(LimitExceeded, match=r"one a line \(\.jsonl\)"):
        list(SourceTools([written(tmp_path / name, '{"tools": [{"name": "one"}]}')]))
