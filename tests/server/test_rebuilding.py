"""What a rebuild in the background does to an index: the same as the command, but for what others wrote."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.index.catalogs import ids
from tests.server.test_operating import defined
from toolsearch import ToolIndex, ToolSpec
from toolsearch.errors import InvalidInput
from toolsearch.server.ledger import Ledger
from toolsearch.server.rebuilding import _kept, rebuilt
from toolsearch.server.state import StateFile


def nothing(*_: object) -> None:
    """Nobody follows."""


def test_two_sources_with_one_id_are_refused(tmp_path: Path) -> None:
    """As with the command both places are named, and nothing changes."""
    index = defined(tmp_path / "shop", pay="ours")
    ToolIndex.build(index).close()
    (index / "more.jsonl").write_text('{"name": "fresh"}\n{"name": "pay", "description": "theirs"}\n', "utf-8")
    (index / "index.toml").write_text('sources = ["tools.jsonl", "more.jsonl"]\nencoder = ""\n', "utf-8")
    with pytest.raises(InvalidInput, match=r"more\.jsonl:2: the id 'pay' is taken by tools\.jsonl:1"):
        rebuilt(index, lambda *_: False, nothing)
    with ToolIndex.open(index) as there:
        assert [(spec.id, spec.description) for spec in there.view()] == [("pay", "ours")]


def test_what_others_wrote_stays(tmp_path: Path) -> None:
    """Tools of which it is told, and those that came while the sources were read, stay; what left a source leaves."""
    index = defined(tmp_path / "shop", pay="Pays an invoice", old="An old thing")
    with ToolIndex.build(index) as there:
        there.upsert([ToolSpec(name="written"), ToolSpec(name="held", source="mcp:shop")])
    defined(index, pay="Pays an invoice", fresh="A fresh thing")

    def meanwhile(stage: str, done: int, _: int) -> None:
        if stage == "read" and done:
            with ToolIndex.open(index) as other:
                other.upsert([ToolSpec(name="late")])

    rebuilt(index, lambda tool, origin: tool == "written" or origin == "mcp:shop", meanwhile)
    with ToolIndex.open(index) as there:
        assert ids(there) == ["pay", "fresh", "written", "held", "late"]
        assert there.verify().ok


def test_what_is_written_while_a_rebuild_starts_is_known(tmp_path: Path) -> None:
    """Which tools came by requests is asked when it is decided what leaves, not before the sources are read."""
    file = StateFile(tmp_path / "state.db")
    kept = _kept(file, "shop")
    Ledger(file).add("shop", ["written"])
    assert kept("written", "")
    assert not kept("other", "")
    file.close()


def test_without_sources_the_tools_stay(tmp_path: Path) -> None:
    """An index that was filled by requests has the same tools after a rebuild, also those that came meanwhile."""
    index = tmp_path / "shop"
    ToolIndex.build(index, [ToolSpec(name="pay")], encoder="").close()
    (index / "index.toml").write_text('encoder = ""\n', "utf-8")

    def meanwhile(stage: str, done: int, _: int) -> None:
        if stage == "read" and done:
            with ToolIndex.open(index) as other:
                other.upsert([ToolSpec(name="late")])

    rebuilt(index, lambda *_: False, meanwhile)
    with ToolIndex.open(index) as there:
        assert ids(there) == ["pay", "late"]
