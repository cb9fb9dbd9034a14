"""Opening ONNX files."""

from __future__ import annotations

from pathlib import Path

import pytest

from toolsearch.encoders.sessions import open_session
from toolsearch.errors import EncoderFailed


def test_a_missing_model_is_named(tmp_path: Path) -> None:
    """The error says which file, and what to do."""
    with pytest.raises(EncoderFailed, match=r"missing\.onnx.*install"):
        open_session(tmp_path / "missing.onnx")


def test_a_damaged_model_is_named(tmp_path: Path) -> None:
    """A file that is no model is refused with its name."""
    (tmp_path / "broken.onnx").write_bytes(b"this is no model" * 100)
    with pytest.raises(EncoderFailed, match=r"broken\.onnx"):
        open_session(tmp_path / "broken.onnx")
