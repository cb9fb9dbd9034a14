"""The built-in encoder: its files, its vectors, its independence of what is encoded beside a text."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from toolsearch.encoders import builtin
from toolsearch.encoders.builtin import BLOCK, FOLDER, MAX_CHARACTERS, BuiltinEncoder

TEXTS = [
    "Refund a payment to a customer",
    "give the customer their money back",
    "Create a pull request in a repository",
    "What is the weather like in Paris tomorrow?",
    "Get the current weather for a city",
    "Delete a user account permanently",
]


@pytest.fixture(scope="module")
def encoder() -> BuiltinEncoder:
    return BuiltinEncoder(threads=2)


def test_vectors_are_unit_rows_in_the_order_given(encoder: BuiltinEncoder) -> None:
    """One float32 row of length 1 for each text, in order."""
    vectors = encoder.encode(TEXTS, "tool")
    assert vectors.shape == (len(TEXTS), encoder.dimension)
    assert vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    assert np.array_equal(vectors[4], encoder.encode([TEXTS[4]], "tool")[0])


def test_a_text_has_one_vector_whatever_is_beside_it(encoder: BuiltinEncoder) -> None:
    """Alone, in a small list and in a long list over threads: the same bits."""
    long_one = "a tool that " + "lists and filters records " * 60
    beside = [f"{TEXTS[n % len(TEXTS)]} number {n}" for n in range(2 * BLOCK)]
    alone = {text: encoder.encode([text], "tool")[0] for text in (*TEXTS, long_one)}
    for texts in ([long_one, *TEXTS], [*beside, *TEXTS, long_one]):
        together = encoder.encode(texts, "tool")
        for text, vector in alone.items():
            assert np.array_equal(together[texts.index(text)], vector)


def test_both_roles_give_the_same_vector(encoder: BuiltinEncoder) -> None:
    """The model knows no prompts."""
    assert np.array_equal(encoder.encode(TEXTS, "tool"), encoder.encode(TEXTS, "query"))


def test_similarities_agree_with_the_weights_before_rounding(encoder: BuiltinEncoder) -> None:
    """Cosines of the model's part lie within 0.03 of those that the float model gives for the same pairs."""
    vectors = encoder.encode(TEXTS, "tool")[:, :384]
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    expected = {(0, 1): 0.682, (3, 4): 0.435, (0, 2): -0.005, (1, 5): 0.092}
    for (one, other), cosine in expected.items():
        assert float(vectors[one] @ vectors[other]) == pytest.approx(cosine, abs=0.03)


def test_a_vector_holds_both_readings_by_their_shares(encoder: BuiltinEncoder) -> None:
    """The token table's part has its share of the length, and does not know the order of words."""
    one, other = encoder.encode(["create an invoice", "invoice an create"], "tool")
    share = json.loads((FOLDER / "model.json").read_text("utf-8"))["table_share"]
    assert float(one[384:] @ one[384:]) == pytest.approx(share, abs=1e-5)
    assert np.allclose(one[384:], other[384:], atol=1e-6)
    assert not np.allclose(one[:384], other[:384], atol=1e-2)


@pytest.mark.parametrize("text", ["", " ", "\n\t  ", "\u200b"], ids=["empty", "space", "lines", "zero width"])
def test_a_text_without_tokens_has_the_zero_vector(encoder: BuiltinEncoder, text: str) -> None:
    """Nothing to say is the zero vector, alone and beside others."""
    assert not encoder.encode([text], "query").any()
    vectors = encoder.encode([TEXTS[0], text], "query")
    assert vectors[0].any()
    assert not vectors[1].any()


def test_no_texts_give_no_rows(encoder: BuiltinEncoder) -> None:
    """An empty list is answered with an empty array of the right width."""
    assert encoder.encode([], "tool").shape == (0, encoder.dimension)


def test_only_the_beginning_of_a_huge_text_is_read(encoder: BuiltinEncoder) -> None:
    """What lies behind the bound changes nothing and costs nothing."""
    head = ("find " * MAX_CHARACTERS)[:MAX_CHARACTERS]
    assert np.array_equal(encoder.encode([head], "tool"), encoder.encode([head + "x" * 5_000_000], "tool"))


def test_text_that_is_not_unicode_is_encoded(encoder: BuiltinEncoder) -> None:
    """A lone surrogate does not end a build."""
    assert np.isfinite(encoder.encode(["broken \ud800 text"], "tool")).all()


def test_threads_share_one_model(encoder: BuiltinEncoder) -> None:
    """Many threads and many encoders load the model once and get the same bits."""
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda text: BuiltinEncoder().encode([text], "query")[0], TEXTS * 4))
        models = set(pool.map(lambda _: id(builtin._model(FOLDER)), TEXTS))
    assert np.array_equal(np.stack(found), np.concatenate([encoder.encode(TEXTS, "query")] * 4))
    assert len(models) == 1


def test_the_id_names_the_files_that_are_there(encoder: BuiltinEncoder) -> None:
    """Model, revision and dimension stand in the id; the record's digests are those of the files."""
    record = json.loads((FOLDER / "model.json").read_text("utf-8"))
    digests = {"model.onnx": "sha256", "tokenizer.json": "tokenizer_sha256", "words.npz": "table_sha256"}
    for name, key in digests.items():
        assert hashlib.sha256((FOLDER / name).read_bytes()).hexdigest() == record[key]
    assert encoder.id == BuiltinEncoder().id
    assert record["sha256"][:12] in encoder.id
    assert "dim=448" in encoder.id


def test_nothing_heavy_is_loaded_before_the_first_text() -> None:
    """Making an encoder and asking its id and dimension opens no model."""
    code = (
        "import sys\nfrom toolsearch.encoders.builtin import BuiltinEncoder\nBuiltinEncoder().id\n"
        "print([name for name in ('onnxruntime', 'tokenizers', 'numpy') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip() == "[]"


def test_it_says_what_it_can_read(encoder: BuiltinEncoder) -> None:
    """Rankings ask which languages it was made for, and whether a word is one of its own."""
    assert encoder.languages == ("en",)
    assert encoder.knows("Payment")
    assert not encoder.knows("pamyent")
