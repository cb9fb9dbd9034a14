"""One tool a line: both layouts are read, broken lines are named, others are kept when asked."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolsearch.catalog.jsonl import load_jsonl, spec_from_line, write_jsonl
from toolsearch.catalog.sources import load
from toolsearch.errors import InvalidSource, LimitExceeded
from toolsearch.tool import ToolSpec


def test_public_layout() -> None:
    """Given ids are kept, the server is the namespace, the category a tag."""
    body = {"id": "x/1", "name": "n", "description": "d", "parameters": {"type": "object"}, "source": "s",
            "server": "srv", "category": "c"}  # fmt: skip
    spec = spec_from_line(json.dumps(body))
    assert (spec.id, spec.namespace, spec.tags, spec.source) == ("x/1", "srv", ("c",), "s")


@settings(max_examples=30, deadline=None)
@given(st.text(min_size=1).filter(lambda t: t.strip()), st.text(), st.lists(st.text(), max_size=2))
def test_own_lines_round_trip(name: str, description: str, tags: list[str]) -> None:
    """What is written is read back equal."""
    spec = ToolSpec(name=name, description=description, tags=tuple(tags))
    assert spec_from_line(spec.to_json()) == spec


def test_files_round_trip(tmp_path: Path) -> None:
    """A written catalog is read in its order."""
    specs = [ToolSpec(name="b"), ToolSpec(name="a", namespace="n")]
    write_jsonl(specs, tmp_path / "t.jsonl")
    assert [tool.spec for tool in load(tmp_path / "t.jsonl").tools] == specs


GOOD = '{"name": "good"}\n'


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{broken", "not JSON"),
        ('["list"]', "expected a JSON object"),
        ('{"description": "no name"}', "needs a name"),
        ('{"name": 42}', "must be text"),
        ('{"name": "x", "parameters": [1]}', "JSON object"),
        ('{"name": "x", "metadata": {"a": NaN}}', "NaN"),
        ('{"name": "good"}', "is taken by t.jsonl:1"),
        ('{"name": "x", "name": "y"}', "stands twice"),
        ("[" * 100_000, "not JSON|nested too deep"),
    ],
)
def test_broken_lines(tmp_path: Path, line: str, said: str) -> None:
    """The error names the line; with keep_going the others are there and the problem is told."""
    path = tmp_path / "t.jsonl"
    path.write_text(GOOD + line + '\n{"name": "last"}\n', "utf-8")
    with pytest.raises(InvalidSource, match=f"t.jsonl:2.*({said})"):
        load_jsonl(path)
    found = load_jsonl(path, keep_going=True)
    assert [tool.spec.name for tool in found.tools] == ["good", "last"]
    assert [problem.where for problem in found.problems] == ["t.jsonl:2"]


def test_deep_and_large_tools_are_bounded(tmp_path: Path) -> None:
    """A schema nested too deep and a description of many megabytes are refused, with a clear reason."""
    schema = '{"a":' * 500 + "{}" + "}" * 500
    with pytest.raises(LimitExceeded, match="nested deeper"):
        spec_from_line(f'{{"name": "x", "parameters": {schema}}}')
    with pytest.raises(LimitExceeded, match="characters"):
        spec_from_line(json.dumps({"name": "x", "description": "y" * 5_000_000}))
    path = tmp_path / "t.jsonl"
    path.write_text(GOOD + json.dumps({"name": "x", "description": "y" * 2_000_000}) + "\n")
    assert len(load_jsonl(path, keep_going=True).tools) == 1


def test_folders_are_read_in_order(tmp_path: Path) -> None:
    """Files of a folder in order of names; equal ids of two files name both."""
    (tmp_path / "b.jsonl").write_text('{"name": "b"}\n')
    (tmp_path / "a.jsonl").write_text('{"name": "a"}\n')
    assert [tool.spec.name for tool in load(tmp_path).tools] == ["a", "b"]
    (tmp_path / "c.jsonl").write_text('{"name": "a"}\n')
    with pytest.raises(InvalidSource, match=r"c\.jsonl.*taken by a\.jsonl"):
        load(tmp_path)


def test_sources_that_cannot_be(tmp_path: Path) -> None:
    """Missing, unknown and wrong kinds of source each say so."""
    with pytest.raises(InvalidSource, match="no file or folder"):
        load(tmp_path / "nowhere.jsonl")
    (tmp_path / "x.bin").write_bytes(b"\0")
    with pytest.raises(InvalidSource, match="ends in none of"):
        load(tmp_path / "x.bin")
    (tmp_path / "latin.jsonl").write_bytes(b'{"name": "\xff"}\n')
    with pytest.raises(InvalidSource, match="UTF-8"):
        load(tmp_path / "latin.jsonl")
    (tmp_path / "d.jsonl").mkdir()
    with pytest.raises(InvalidSource, match="no file in"):
        load(tmp_path / "d.jsonl")


def test_misspelt_keys_are_told(tmp_path: Path) -> None:
    """The tool is taken, and each key that looks like a known one is named with that; other programs' keys are not."""
    path = tmp_path / "t.jsonl"
    path.write_text(
        '{"name": "a", "descripton": "x", "paramters": {}, "tag": ["x"], "cost": 3, "owner": "me"}\n{"name": "b"}\n'
    )
    loaded = load(path)
    assert [tool.spec.name for tool in loaded.tools] == ["a", "b"]
    assert loaded.problems == ()
    assert [str(one) for one in loaded.doubts] == [
        "t.jsonl:1: the key 'descripton' is not read; did you mean 'description'?",
        "t.jsonl:1: the key 'paramters' is not read; did you mean 'parameters'?",
        "t.jsonl:1: the key 'tag' is not read; did you mean 'tags'?",
    ]


def test_both_spellings_are_no_slip(tmp_path: Path) -> None:
    """Beside the right key a similar one is somebody's own."""
    path = tmp_path / "t.jsonl"
    path.write_text('{"name": "a", "descriptions": 1, "description": "x"}\n')
    assert load(path).doubts == ()
