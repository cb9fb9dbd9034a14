"""Opens ONNX models: one thread for each run, no spinning, quiet, errors of our own."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from toolsearch.errors import InvalidSource

ERRORS_ONLY: Final = 3


def opened_model(path: Path, custom_operators: str | None = None) -> Any:
    """An onnxruntime session that several threads may run at once, each on its own thread.

    `custom_operators` is a library of operators that the model needs.

    Raises:
        InvalidSource: the file is missing, damaged, or of a kind that the installed onnxruntime cannot run.
    """
    ort = import_module("onnxruntime")
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = ERRORS_ONLY
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    try:
        if custom_operators is not None:
            options.register_custom_ops_library(custom_operators)
        return ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except refusals() as error:
        reason = re.sub(r"\s+", " ", str(error))[:200]
        raise InvalidSource(f"cannot open the model {path.name!r}: {reason}") from None


def refusals() -> tuple[type[Exception], ...]:
    """The errors of onnxruntime, which share no parent but Exception."""
    state = import_module("onnxruntime.capi.onnxruntime_pybind11_state")
    names = ("Fail", "InvalidArgument", "InvalidGraph", "InvalidProtobuf", "NoSuchFile", "NotImplemented")
    return (*(getattr(state, name) for name in names), state.RuntimeException)
