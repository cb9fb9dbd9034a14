"""What is trained on, and what never is."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from toolsearch.errors import InvalidSource
from toolsearch.training.data import TEXT, home, joined, measured, own_text, sources
from toolsearch.training.recipe import Part


def lines(path: Path, rows: Sequence[object]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """One source of 20 requests on two tools; the first five are kept for measuring."""
    lines(tmp_path / "harbour" / "tools.jsonl", [{"name": "moor"}, {"name": "load"}])
    asked = [
        {"id": f"q{n}", "query": f"request {n}", "relevant": [("moor", "load")[n % 2]], "split": "ab"[n // 10]}
        for n in range(20)
    ]
    asked.append({"id": "twin", "query": "request 3", "relevant": ["load"]})
    lines(tmp_path / "harbour" / "queries.jsonl", asked)
    kept = {"harbour_five": {"set": "harbour", "queries": [f"q{n}" for n in range(5)]}}
    (tmp_path / "parts.json").write_text(json.dumps(kept), "utf-8")
    return tmp_path


def test_what_is_measured_is_never_trained_on(data: Path) -> None:
    """Requests that are kept for measuring, and others of the same text, are left out; measuring has exactly them."""
    (taught,) = sources(data, [Part(name="harbour")], 0)
    (kept,) = measured(data)
    assert {one.id for one in taught.queries} == {f"q{n}" for n in range(5, 20)}
    assert {one.id for one in kept.queries} == {f"q{n}" for n in range(5)}
    assert kept.name == "harbour/harbour_five"


def test_a_part_takes_what_it_names(data: Path) -> None:
    """Bounds on all requests, on those of a tool, and a split; the same ones for the same seed."""

    def chosen(part: Part, seed: int = 0) -> list[str]:
        return [one.id for source in sources(data, [part], seed) for one in source.queries]

    assert len(chosen(Part(name="harbour", most=4))) == 4
    assert len(chosen(Part(name="harbour", a_tool=3))) == 6
    assert set(chosen(Part(name="harbour", split="b"))) == {f"q{n}" for n in range(10, 20)}
    assert chosen(Part(name="harbour", most=4)) == chosen(Part(name="harbour", most=4))
    assert chosen(Part(name="harbour", most=4)) != chosen(Part(name="harbour", most=4), 1)


def test_a_missing_source_is_named(data: Path) -> None:
    """A recipe that names a folder that is not there says which."""
    with pytest.raises(InvalidSource, match="'nowhere'"):
        list(sources(data, [Part(name="nowhere")], 0))


@pytest.mark.parametrize(
    ("row", "named"),
    [
        ({"kind": "request", "id": "r", "text": "moor it", "relevant": ["sail"]}, "'sail'"),
        ({"kind": "request", "id": "r", "relevant": []}, "needs a text"),
        ({"kind": "tool", "id": "t"}, "a tool needs 'name'"),
        (["no", "object"], "expected an object"),
    ],
)
def test_broken_text_of_our_own_is_named(tmp_path: Path, row: object, named: str) -> None:
    """File and line, or the request and the tool that is not there."""
    lines(tmp_path / "x.jsonl", [row])
    with pytest.raises(InvalidSource, match=named):
        own_text(tmp_path / "x.jsonl")


def test_all_text_of_our_own_can_be_read() -> None:
    """Every file is a catalog whose requests name its tools, ids are its own, and some requests have no tool."""
    found = [own_text(path) for path in sorted(TEXT.glob("*.jsonl"))]
    queries = [query for source in found for query in source.queries]
    assert all(len({one.id for one in source.queries}) == len(source.queries) for source in found)
    assert any(not one.relevant for one in queries)
    assert len({one.lang for one in queries}) >= 15


def test_joined_catalogs_keep_what_belongs_together() -> None:
    """Our own sources become fewer and larger, no id meets another, and each tells where it comes from."""
    found = [own_text(path) for path in sorted(TEXT.glob("en_*.jsonl"))[:5]]
    large = joined(found, 2)
    assert [one.name for one in large] == ["own/joined0", "own/joined1"]
    assert sum(len(one.tools) for one in large) == sum(len(one.tools) for one in found)
    for one in large:
        ids = {tool.id for tool in one.tools}
        assert len(ids) == len(one.tools)
        assert all(home(tool) == home(query.id) for query in one.queries for tool in query.relevant if tool in ids)
        assert all(set(query.relevant) <= ids for query in one.queries)
