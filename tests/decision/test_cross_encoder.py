"""Cross-encoders with real, tiny models that are made here: an ONNX classifier, and one of sentence-transformers."""

from __future__ import annotations

import asyncio
import json
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from toolsearch import ToolSpec, open_judge
from toolsearch.decision.cross_encoder import CrossEncoderModel, from_folder, from_sentence_transformers
from toolsearch.errors import DecisionFailed, InvalidDecision, InvalidInput, InvalidSource
from toolsearch.questions import Choice, ChoiceAnswer, Scale, YesNo
from toolsearch.strategies.deciding import judge

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "rain", "weather", "mail", "letter"]


def tokenizer(path: Path) -> None:
    """Words of one small vocabulary; a pair is [CLS] a [SEP] b [SEP]."""
    library = import_module("tokenizers")
    made = library.Tokenizer(library.models.WordLevel({word: i for i, word in enumerate(WORDS)}, unk_token="[UNK]"))
    made.pre_tokenizer = library.pre_tokenizers.Whitespace()
    made.normalizer = library.normalizers.Lowercase()
    made.post_processor = library.processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
    )
    made.save(str(path))


def network(path: Path, outputs: int = 1, extra: str = "") -> None:
    """A classifier that counts: each "weather" or "rain" of a pair adds 2 to its logit, the rest takes 1 off once."""
    onnx = pytest.importorskip("onnx")
    helper, of = onnx.helper, onnx.numpy_helper.from_array
    table = np.zeros((len(WORDS), outputs), np.float32)
    table[[WORDS.index("rain"), WORDS.index("weather")], outputs - 1] = 2.0
    bias = np.zeros(outputs, np.float32)
    bias[outputs - 1] = -1.0
    nodes = [
        helper.make_node("Gather", ["table", "input_ids"], ["rows"]),
        helper.make_node("Cast", ["attention_mask"], ["mask"], to=1),
        helper.make_node("Unsqueeze", ["mask", "last"], ["wide"]),
        helper.make_node("Mul", ["rows", "wide"], ["kept"]),
        helper.make_node("ReduceSum", ["kept", "one"], ["sums"], keepdims=0),
        helper.make_node("Add", ["sums", "bias"], ["logits"]),
    ]
    constants = [of(table, "table"), of(bias, "bias"), of(np.array([-1]), "last"), of(np.array([1]), "one")]
    names = ["input_ids", "attention_mask", *([extra] if extra else [])]
    given = [helper.make_tensor_value_info(name, onnx.TensorProto.INT64, ["n", "tokens"]) for name in names]
    gives = [helper.make_tensor_value_info("logits", onnx.TensorProto.FLOAT, ["n", outputs])]
    graph = helper.make_graph(nodes, "pairs", given, gives, constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    path.write_bytes(model.SerializeToString())


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    tokenizer(tmp_path / "tokenizer.json")
    network(tmp_path / "model.onnx")
    return tmp_path


def chances(model: Any, state: Any = "rain tomorrow", *texts: str) -> list[float]:
    questions = {f"q{i}": YesNo(text) for i, text in enumerate(texts or ("weather", "mail"))}
    decision = asyncio.run(model.decide(state, questions))
    return [decision.probability(name) for name in questions]


def sigmoid(value: float) -> float:
    return 1 / (1 + float(np.exp(-value)))


def test_a_folder_answers_yes_and_no_and_choices(folder: Path) -> None:
    """Pairs are read together; the option that fits best is chosen; a scale is refused."""
    model = from_folder(str(folder))
    assert chances(model) == pytest.approx([sigmoid(3), sigmoid(1)], abs=1e-6)
    choice = Choice("which?", {"weather": None, "mail": "letter"})
    decision = asyncio.run(model.decide({"request": "rain"}, {"tool": choice}))
    answer = decision.answers["tool"]
    assert isinstance(answer, ChoiceAnswer)
    assert answer.value == "weather"
    assert answer.probabilities == pytest.approx({"weather": sigmoid(2), "mail": 1 - sigmoid(2)}, abs=1e-6)
    assert decision.model == folder.name
    with pytest.raises(InvalidInput, match="scale"):
        asyncio.run(model.decide("rain", {"risk": Scale("how?", ("low", "high"))}))


def test_pairs_of_all_lengths_keep_their_places(folder: Path) -> None:
    """More pairs than a batch, and texts longer than what is read, are answered each on its own."""
    texts = [f"{'mail ' * (i % 7)}weather" if i % 2 else "letter " * (i % 5 + 1) for i in range(45)]
    expected = [sigmoid(3) if i % 2 else sigmoid(1) for i in range(45)]
    assert chances(from_folder(str(folder)), "rain", *texts) == pytest.approx(expected, abs=1e-6)
    assert chances(from_folder(str(folder)), "rain " + "mail " * 5_000, "weather") == pytest.approx([sigmoid(3)])
    assert chances(from_folder(str(folder)), "mail " * 5_000, "weather " * 5_000)[0] > 0.99


def test_two_logits_a_pair_are_no_and_yes(folder: Path) -> None:
    """A classifier of two classes counts by how much more likely the second is."""
    network(folder / "model.onnx", outputs=2)
    assert chances(from_folder(str(folder))) == pytest.approx([sigmoid(3), sigmoid(1)], abs=1e-6)
    network(folder / "model.onnx", outputs=3)
    with pytest.raises(InvalidDecision, match=r"one or two logits"):
        chances(from_folder(str(folder)))


def test_settings_put_logits_right(folder: Path) -> None:
    """Scale and bias of judge.json are applied."""
    (folder / "judge.json").write_text('{"scale": 2, "bias": -5.5, "max_length": 64}')
    assert chances(from_folder(str(folder))) == pytest.approx([sigmoid(0.5), sigmoid(-3.5)], abs=1e-6)


@pytest.mark.parametrize(
    "text", ["[]", "{", '{"scal": 1}', '{"scale": "1"}', '{"bias": NaN}', '{"max_length": 2}', '{"scale": true}']
)
def test_broken_settings_are_named(folder: Path, text: str) -> None:
    """The error names the file."""
    (folder / "judge.json").write_text(text)
    with pytest.raises(InvalidSource, match=r"judge\.json"):
        from_folder(str(folder))


def test_broken_folders_are_named(folder: Path) -> None:
    """What is missing, damaged or of another kind is told with its name."""
    (folder / "model.onnx").write_bytes(b"no model")
    with pytest.raises(InvalidSource, match=r"model\.onnx"):
        from_folder(str(folder))
    network(folder / "model.onnx", extra="pixel_values")
    with pytest.raises(InvalidSource, match="pixel_values"):
        from_folder(str(folder))
    network(folder / "model.onnx")
    for text in ("{}", "not json"):
        (folder / "tokenizer.json").write_text(text)
        with pytest.raises(InvalidSource, match=r"tokenizer\.json"):
            from_folder(str(folder))
    (folder / "tokenizer.json").unlink()
    with pytest.raises(InvalidSource, match=r"holds no tokenizer\.json"):
        from_folder(str(folder))


def test_what_a_model_cannot_run_is_a_failed_decision(folder: Path) -> None:
    """A token that the model does not know, as where tokenizer and model do not belong together, is no crash."""
    body = json.loads((folder / "tokenizer.json").read_text())
    body["model"]["vocab"]["strange"] = 500
    (folder / "tokenizer.json").write_text(json.dumps(body))
    with pytest.raises(DecisionFailed, match="could not be run"):
        chances(from_folder(str(folder)), "strange")


@pytest.mark.parametrize("scores", [[float("nan")] * 2, [1.0]])
def test_scores_that_are_none(scores: list[float]) -> None:
    """NaN, or too few, is no probability."""
    with pytest.raises(InvalidDecision, match="2 pairs"):
        chances(CrossEncoderModel(lambda _: scores, "own"))


def test_a_folder_judges_tools(folder: Path) -> None:
    """By name, like any judge, with the question about each tool."""
    tools = [ToolSpec(name="letters", description="Send mail"), ToolSpec(name="forecast", description="weather, rain")]
    judged, usage = asyncio.run(judge(open_judge(f"onnx:{folder}"), "will it rain", tools))
    assert [one.probability for one in judged] == pytest.approx([sigmoid(1), sigmoid(5)], abs=1e-6)
    assert usage.requests == 1


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A sentence-transformers cross-encoder with random weights, saved in a folder."""
    if find_spec("sentence_transformers") is None or find_spec("torch") is None:
        pytest.skip("needs sentence-transformers")
    place = tmp_path_factory.mktemp("st")
    library, torch = import_module("transformers"), import_module("torch")
    torch.manual_seed(0)
    config = library.BertConfig(
        vocab_size=len(WORDS), hidden_size=8, num_hidden_layers=1, num_attention_heads=2, intermediate_size=8,
        num_labels=1, initializer_range=2.0,
    )  # fmt: skip
    library.BertForSequenceClassification(config).save_pretrained(place)
    tokenizer(place / "tokenizer.json")
    library.PreTrainedTokenizerFast(
        tokenizer_file=str(place / "tokenizer.json"), pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]",
        sep_token="[SEP]",
    ).save_pretrained(place)  # fmt: skip
    return place


def test_a_cross_encoder_of_sentence_transformers(own: Path) -> None:
    """Logits are taken raw, whatever the model would make of them, and are what the model itself gives."""
    torch, library = import_module("torch"), import_module("sentence_transformers")
    model = from_sentence_transformers(str(own))
    given = library.CrossEncoder(str(own), device="cpu")
    raw = given.predict([("rain", "weather"), ("rain", "mail")], activation_fn=torch.nn.Identity())
    assert chances(model, "rain") == pytest.approx([sigmoid(float(one)) for one in raw], abs=1e-5)
    assert len({round(one, 4) for one in chances(model, "rain")}) == 2


def test_a_cross_encoder_that_is_not_there(tmp_path: Path) -> None:
    """A folder without a model is named."""
    pytest.importorskip("sentence_transformers")
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(InvalidSource, match="cross-encoder"):
        from_sentence_transformers(str(tmp_path))
