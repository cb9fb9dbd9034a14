"""An index large enough for approximate search: kept on disk, measured, explained, and right after changes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.index.catalogs import by_vectors, catalog, tool
from toolsearch.engines import approximate, dense, nearest
from toolsearch.index import derived, keeper, room, state
from toolsearch.index.layout import Layout
from toolsearch.index.tool_index import ToolIndex

DIMENSION = 32


class HashEncoder:
    """Vectors that follow from the text, spread evenly."""

    id = "hash-32"
    dimension = DIMENSION

    def encode(self, texts: list[str], role: str) -> np.ndarray:
        seeds = (sum(place * ord(letter) for place, letter in enumerate(text, 1)) for text in texts)
        found = np.array([np.random.default_rng(seed).standard_normal(DIMENSION) for seed in seeds])
        return (found / np.linalg.norm(found, axis=1, keepdims=True)).astype(np.float32)


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with an index of 400 tools that is searched approximately."""
    for module in (nearest, dense, approximate, keeper):
        monkeypatch.setattr(module, "EXACT", 100)
    ToolIndex.build(tmp_path / "i", catalog(400), encoder=HashEncoder()).close()
    return tmp_path / "i"


def opened(root: Path) -> ToolIndex:
    return ToolIndex.open(root, encoder=HashEncoder())


def test_verify_measures_recall_and_explain_names_the_way(root: Path) -> None:
    """The report holds what share of the exact ten best is found; an explanation says that search is approximate."""
    with opened(root) as index:
        report = index.verify()
        assert report.ok
        assert report.recall is not None
        assert report.recall >= nearest.LEAST
        assert any("approximate" in note for note in index.explain("invoice", "tool_0").notes)


def test_changes_show_at_once(root: Path) -> None:
    """A new tool is found by its vector, a removed one is not, and a building that changes nothing keeps it so."""
    with opened(root) as index:
        index.upsert([tool(900, "quartz lantern")])
        assert by_vectors(index, "tool 900: quartz lantern", 1)[0][0] == "tool_900"
        index.remove(["tool_900"])
        assert "tool_900" not in dict(by_vectors(index, "tool 900: quartz lantern", 50))


@pytest.mark.parametrize("damage", ["cut", "gone"])
def test_a_damaged_approximate_index_is_made_again(root: Path, damage: str) -> None:
    """A cut or missing file is named at opening and made anew from the truth."""
    folder = derived.newest(Layout(root))
    assert folder is not None
    path = folder / "nearest.npy"
    path.write_bytes(path.read_bytes()[:-100]) if damage == "cut" else path.unlink()
    with opened(root) as index:
        assert index.status.notes
        assert by_vectors(index, f"tool 7: {tool(7).description}", 1)[0][0] == "tool_7"
    with opened(root) as again:
        assert again.verify().ok


def test_a_compacted_base_is_read_from_its_files(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After compacting, the vectors that are searched lie in the files just written; what changed meanwhile is kept."""
    monkeypatch.setattr(state, "SMALL", 10)
    monkeypatch.setattr(room, "LARGE", 1)
    with opened(root) as index:
        for number in range(900, 940):
            index.upsert([tool(number, f"quartz lantern {number}")])
        index._writer.settled()
        newest = derived.newest(Layout(root))
        base = index._parts.keeper.current().base
        assert newest is not None
        assert base.segment.dense is not None
        mapped = base.segment.dense.vectors.base
        assert isinstance(mapped, np.memmap)
        assert Path(str(mapped.filename)).parent == newest
        with ToolIndex.from_tools(list(index.view()), encoder=HashEncoder()) as fresh:
            for request in ("tool 939: quartz lantern 939", "invoice"):
                assert by_vectors(index, request, 5) == by_vectors(fresh, request, 5)
    assert not [file for file in Layout(root).data.iterdir() if file.name.startswith("tmp")]


def test_a_full_disk_gives_room_in_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a folder has no room, or cannot be written, arrays are made in memory, empty."""
    monkeypatch.setattr(room, "LARGE", 1)
    give = room.room_in(tmp_path)
    assert isinstance(give(8).base, np.memmap)
    monkeypatch.setattr(room.os, "posix_fallocate", lambda *_: (_ for _ in ()).throw(OSError(28, "full")))
    assert give(8).tolist() == [0] * 8
    assert not isinstance(give(8).base, np.memmap)
