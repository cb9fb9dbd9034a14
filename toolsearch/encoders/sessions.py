"""How this room opens ONNX models: as all do, with an error of its own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from toolsearch.errors import EncoderFailed, InvalidSource
from toolsearch.onnx_files import opened_model


def open_session(path: Path, custom_operators: str | None = None) -> Any:
    """An onnxruntime session that several threads may run at once; see `opened_model`.

    Raises:
        EncoderFailed: the file is missing, damaged, or of a kind that the installed onnxruntime cannot run.
    """
    try:
        return opened_model(path, custom_operators)
    except InvalidSource as error:
        raise EncoderFailed(f"{error}; install its package again") from None
