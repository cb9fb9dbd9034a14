"""Models of sentence-transformers, on a tiny one made here."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from toolsearch.encoders import open_encoder
from toolsearch.encoders.prompts import known_prompts
from toolsearch.encoders.transformer import TransformerEncoder, cached_commit
from toolsearch.errors import EncoderFailed, InvalidInput, MissingExtra

MARKS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
PLAIN = ("find", ":", "refund", "a", "payment", "get", "the", "weather", "query", "passage", "to", "customer")
WORDS = {word: number for number, word in enumerate((*MARKS, *PLAIN))}
TEXTS = [
    "refund a payment",
    "get the weather",
    "refund to the customer : a payment to the customer get a payment",
    "find",
]

pytestmark = pytest.mark.filterwarnings("ignore")


def _make(folder: Path, prompts: dict[str, str]) -> Path:
    """A BERT of two small layers with random weights."""
    parts = pytest.importorskip("sentence_transformers")
    import torch
    import transformers

    torch.manual_seed(1)
    base = folder / "base"
    base.mkdir(parents=True)
    transformers.BertTokenizerFast(vocab=WORDS).save_pretrained(base)
    config = transformers.BertConfig(
        vocab_size=len(WORDS), hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=32
    )
    transformers.BertModel(config).save_pretrained(base)
    model = parts.SentenceTransformer(str(base), prompts=prompts, device="cpu")
    model.save(str(folder / "model"), create_model_card=False)
    return folder / "model"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return _make(tmp_path_factory.mktemp("tiny"), {"query": "query : ", "document": "passage : "})


@pytest.fixture(scope="module")
def encoder(folder: Path) -> TransformerEncoder:
    return TransformerEncoder(str(folder))


def test_vectors_are_unit_rows_and_blank_texts_zero(encoder: TransformerEncoder) -> None:
    """One row for each text, in order; nothing to say is the zero vector."""
    vectors = encoder.encode([TEXTS[0], " ", TEXTS[1]], "tool")
    assert vectors.shape == (3, encoder.dimension) == (3, 16)
    assert vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors[[0, 2]], axis=1), 1, atol=1e-6)
    assert not vectors[1].any()
    assert encoder.encode([], "tool").shape == (0, 16)
    assert encoder.encode([""], "query").shape == (1, 16)


def test_a_text_has_one_vector_whatever_is_beside_it(encoder: TransformerEncoder) -> None:
    """Alone and in a list of texts of other lengths: the same bits."""
    together = encoder.encode(TEXTS * 3, "tool")
    for row, text in enumerate(TEXTS):
        assert np.array_equal(together[row], encoder.encode([text], "tool")[0])


def test_declared_prompts_are_used_by_role(folder: Path, encoder: TransformerEncoder) -> None:
    """The model's own prompts tell requests from tools; written out by hand they give the same."""
    bare = open_encoder(f"st:{folder}?query=&tool=")
    for role, prompt in (("query", "query : "), ("tool", "passage : ")):
        assert np.array_equal(encoder.encode(TEXTS, role), bare.encode([prompt + text for text in TEXTS], role))
    assert encoder.id != bare.id


def test_the_id_changes_with_the_weights(folder: Path, encoder: TransformerEncoder, tmp_path: Path) -> None:
    """A folder's content is its revision: trained again at the same place, it is another model."""
    again = _make(tmp_path, {"query": "query : ", "document": "passage : "})
    assert TransformerEncoder(str(again)).id == encoder.id
    changed = again / "model.safetensors"
    data = bytearray(changed.read_bytes())
    data[-1] ^= 1
    changed.write_bytes(data)
    assert TransformerEncoder(str(again)).id != encoder.id


def test_the_revision_of_a_hub_model_is_its_commit(tmp_path: Path) -> None:
    """A branch moves, a commit does not: the id holds what lies in the cache, and nothing is asked of the network."""
    if find_spec("huggingface_hub") is None:
        pytest.skip("huggingface-hub is not installed")
    commit = "0123456789abcdef0123456789abcdef01234567"
    cached = tmp_path / "models--sentence-transformers--tiny"
    (cached / "refs").mkdir(parents=True)
    (cached / "refs" / "main").write_text(commit, "utf-8")
    (cached / "snapshots" / commit).mkdir(parents=True)
    (cached / "snapshots" / commit / "config.json").write_text("{}", "utf-8")
    assert cached_commit("tiny", "main", tmp_path) == commit
    assert cached_commit("sentence-transformers/tiny", commit, tmp_path) == commit
    assert cached_commit("other", "main", tmp_path) is None


def test_a_folder_without_a_model_is_reported(tmp_path: Path) -> None:
    """The error names the folder's name; nothing is looked for on the network."""
    pytest.importorskip("sentence_transformers")
    with pytest.raises(EncoderFailed, match="cannot open the model"):
        TransformerEncoder(str(tmp_path)).encode(["pay"], "query")


@pytest.mark.parametrize("name", ["", "./no/such/folder", "/no/such/folder", "x?colour=red"])
def test_a_malformed_name_is_refused(name: str) -> None:
    """A path without a folder is not taken for a name on the hub."""
    with pytest.raises(InvalidInput):
        open_encoder(f"st:{name}")


def test_without_the_package_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error holds the line that installs it."""
    monkeypatch.setattr("toolsearch.encoders.transformer.find_spec", lambda _name: None)
    with pytest.raises(MissingExtra, match=r"toolsearch\[st\]"):
        open_encoder("st:intfloat/multilingual-e5-small")


def test_opening_loads_no_torch() -> None:
    """The package is loaded with the first text."""
    if find_spec("sentence_transformers") is None:
        pytest.skip("sentence-transformers is not installed")
    code = (
        "import sys; from toolsearch.encoders import open_encoder; open_encoder('st:x/y')\n"
        "print('torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip() == "False"


@pytest.mark.parametrize(
    ("model", "query", "tool"),
    [
        ("intfloat/multilingual-e5-small", "query: ", "passage: "),
        ("intfloat/e5-base-v2", "query: ", "passage: "),
        (
            "intfloat/multilingual-e5-large-instruct",
            "Instruct: Given a request, find the tool that serves it\nQuery: ",
            "",
        ),
        ("Qwen/Qwen3-Embedding-0.6B", "Instruct: Given a request, find the tool that serves it\nQuery: ", ""),
        ("BAAI/bge-small-en-v1.5", "Represent this sentence for searching relevant passages: ", ""),
        ("BAAI/bge-m3", "", ""),
        ("nomic-ai/nomic-embed-text-v1.5", "search_query: ", "search_document: "),
        ("text-embedding-3-small", "", ""),
    ],
)
def test_known_models_have_their_authors_prompts(model: str, query: str, tool: str) -> None:
    """Prompts by name, for endpoints and for models that declare none."""
    prompts = known_prompts(model)
    assert (prompts.of("query"), prompts.of("tool")) == (query, tool)
